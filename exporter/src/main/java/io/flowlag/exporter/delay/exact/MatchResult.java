package io.flowlag.exporter.delay.exact;

/** What {@link ExactMatcher} could do with a packet at once. */
public enum MatchResult {
    /** It met its other end; {@link ExactMatcher#delayNs()} is its delay. */
    MATCHED,
    /** It waits for its other end; the {@link MatchHandler} will be told what became of it. */
    WAITING,
    /** It has no digest, or was cut too short for one. */
    WITHOUT_DIGEST,
    /** Its flow is not matched. */
    NOT_SAMPLED,
    /** There is no room for it. */
    OVERFLOW
}
