package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;

/**
 * Chooses what a sender sends of an interval. In mode auto it is the sums of flows while all of them fit the bandwidth. After an
 * interval with too many flows it is sketches, until {@value #PATIENCE} intervals in a row had at most four fifths of what fits.
 * One thread; allocates nothing.
 */
public final class ModeChoice {
    /** Intervals in a row that must fit before flows are used again. */
    public static final int PATIENCE = 3;
    private static final double MARGIN = 0.8;

    private final Mode mode;
    private final int mostFlows;
    private boolean isFlows;
    private int fittingIntervals;
    private long changes;

    /** A choice that begins with flows, unless the mode is cells. */
    public ModeChoice(final ExchangeSettings settings) {
        mode = settings.mode();
        mostFlows = settings.content().mostFlows();
        isFlows = mode != Mode.CELLS;
    }

    /** Chooses for the next interval, given its flows and whether they are complete: their sums, or sketches. */
    public boolean isFlows(final int flows, final boolean isWhole) {
        if (mode == Mode.AUTO) {
            final boolean fits = isWhole && flows <= mostFlows;
            fittingIntervals = fits && flows <= MARGIN * mostFlows ? fittingIntervals + 1 : 0;
            final boolean before = isFlows;
            isFlows = isFlows ? fits : fittingIntervals >= PATIENCE;
            changes += before == isFlows ? 0 : 1;
        }
        return isFlows;
    }

    public long changes() {
        return changes;
    }
}
