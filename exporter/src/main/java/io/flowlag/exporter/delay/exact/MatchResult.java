package io.flowlag.exporter.delay.exact;

/** The immediate result of a packet in {@link ExactMatcher}. */
public enum MatchResult {
    /** It matched; {@link ExactMatcher#delayNs()} is its delay. */
    MATCHED,
    /** It waits for its counterpart; the {@link MatchHandler} receives the result. */
    WAITING,
    /** It has no digest, or was cut too short for one. */
    WITHOUT_DIGEST,
    /** Its flow is not matched. */
    NOT_SAMPLED,
    /** There is no room for it. */
    OVERFLOW
}
