package io.flowlag.exporter.config;

/** What is metered: one packet in so many, the first of them or each by chance. Immutable. */
public record Sampling(int packets, boolean isRandom) {
    /** Everything. */
    public static final Sampling NONE = new Sampling(1, false);
}
