package io.flowlag.exporter.config;

/**
 * What is metered: one packet in so many, the first of them or each by chance, of one conversation in so many. Immutable.
 */
public record Sampling(int packets, boolean isRandom, int conversations) {
    /** Everything. */
    public static final Sampling NONE = new Sampling(1, false, 1);

    /** {@return whether some packets are left out} The JVM would make code of equals at each start. */
    public boolean isOn() {
        return packets > 1 || conversations > 1;
    }
}
