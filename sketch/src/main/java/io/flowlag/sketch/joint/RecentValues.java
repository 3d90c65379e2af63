package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * The newest values for each size of flows, of this interval and, where it has few, of earlier ones. One thread. Allocates at
 * construction.
 */
final class RecentValues {
    private final int kept;
    private final double[] values;
    /** Values written since the first interval, of which the last {@link #kept} are kept; and the number before this interval. */
    private final long[] written = new long[CellSystem.SIZE_BINS];
    private final long[] writtenBefore = new long[CellSystem.SIZE_BINS];

    /** No values; of each size so many are kept at most. */
    RecentValues(final int kept) {
        this.kept = kept;
        values = new double[CellSystem.SIZE_BINS * kept];
    }

    /** A new interval begins. */
    void begin() {
        System.arraycopy(written, 0, writtenBefore, 0, written.length);
    }

    void add(final int sizeBin, final double value) {
        values[sizeBin * kept + (int)(written[sizeBin]++ % kept)] = value;
    }

    void forget(final int sizeBin) {
        written[sizeBin] = 0;
    }

    void forget() {
        Arrays.fill(written, 0);
    }

    /**
     * Copies all kept values of this interval, and earlier ones until the wanted number is reached.
     *
     * @param least wanted number.
     * @param from  index of the first there.
     * @return index behind the last.
     */
    int take(final int sizeBin, final int least, final double[] target, final int from) {
        final long wanted = Math.max(least, written[sizeBin] - writtenBefore[sizeBin]);
        final long taken = Math.min(Math.min(wanted, kept), written[sizeBin]);
        int end = from;
        for (long index = written[sizeBin] - taken; index < written[sizeBin]; index++) {
            target[end++] = values[sizeBin * kept + (int)(index % kept)];
        }
        return end;
    }
}
