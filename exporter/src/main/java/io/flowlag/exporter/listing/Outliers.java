package io.flowlag.exporter.listing;

/** When a delay stands out of others. Stateless. */
public final class Outliers {
    /** Tukey's distance of what is far out, from the end of the middle half of the others. */
    public static final double SPREADS = 3;
    /** Of others, for less have no quartiles. */
    public static final int LEAST = 4;

    private Outliers() {
    }

    /** {@return above which value one stands out: so many spreads above the usual, and twice that at least} */
    public static double above(final double usual, final double spread) {
        return usual + Math.max(Math.abs(usual), SPREADS * spread);
    }
}
