package io.flowlag.exporter.listing;

/**
 * How many packets those of a row stand for, where they were sampled. With n packets of one in N the estimate is n N, and its
 * variance N² n (1 - 1/N), that of a choice by chance; both add up. Immutable.
 */
public record RowSample(double packets, double variance) {
    private static final double CONFIDENCE_95 = 1.96;

    /** {@return what so many packets stand for, of one in so many; 1 for all of them} */
    public static RowSample of(final long packets, final double oneIn) {
        return new RowSample(packets * oneIn, oneIn * oneIn * packets * (1 - 1 / oneIn));
    }

    RowSample plus(final RowSample other) {
        return new RowSample(packets + other.packets, variance + other.variance);
    }

    /** {@return half the width of the 95 % interval, packets} */
    long error() {
        return (long)Math.ceil(CONFIDENCE_95 * Math.sqrt(variance));
    }
}
