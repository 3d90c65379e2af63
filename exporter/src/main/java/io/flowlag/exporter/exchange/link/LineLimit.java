package io.flowlag.exporter.exchange.link;

/** A limit of log lines that other hosts can cause; counts those left out. One thread. */
final class LineLimit {
    private static final long WINDOW_NS = 5_000_000_000L;

    private final int mostLines;
    private int lines;
    private long windowNs;
    private long untold;

    /** A limit of so many lines in five seconds. */
    LineLimit(final int mostLines) {
        this.mostLines = mostLines;
    }

    /** Whether there may be a line now; if not, it counts as left out. */
    boolean mayTell(final long nowNs) {
        if (lines == 0 || nowNs - windowNs >= WINDOW_NS) {
            lines = 0;
            windowNs = nowNs;
        }
        if (lines == mostLines) {
            untold++;
            return false;
        }
        lines++;
        return true;
    }

    /** The end of a line: how many were left out since the last one; empty if none was. */
    String takeUntold() {
        final String text = untold == 0 ? "" : "; " + untold + " more since the last such line";
        untold = 0;
        return text;
    }
}
