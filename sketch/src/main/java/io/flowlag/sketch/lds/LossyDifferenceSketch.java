package io.flowlag.sketch.lds;

import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * Lossy Difference Sketch (LDS paper, section 2.3.4; weights: 4.1; one sampling rate per row: 4.2; byte counts: 4.3), one
 * measurement point's side of it. {@code FlowEstimator} compares the two sides.
 *
 * <p>One thread at a time may use it: it fills an interval, then hands the sketch on. It owns {@link
 * SketchGeometry#memoryBytes} octets off the heap. An update touches one cell of each row that samples the packet, that is at
 * most R cache lines and the preamble's. Allocates at construction; never on update.
 */
public final class LossyDifferenceSketch extends Sketch {
    /** Number of packets of which {@link #expect} remembers the cells. */
    public static final int EXPECTED_LIMIT = 64;

    private final CellMap cellMap;
    private final long[] expectedFlowHashes;
    private final long[] expectedDigests;
    private final int[] expectedColumns;
    private int expectedCount;
    private int nextExpected;

    /** An empty sketch; both measurement points share the seed. */
    public LossyDifferenceSketch(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDS, geometry, seed);
        cellMap = new CellMap(geometry, seed);
        final int expectedLimit = geometry.rows() * geometry.columns() > 1 ? EXPECTED_LIMIT : 0;
        expectedFlowHashes = new long[expectedLimit];
        expectedDigests = new long[expectedLimit];
        expectedColumns = new int[expectedLimit * geometry.rows()];
    }

    /** Changes the seed of an empty sketch; forgets the expected packets. */
    public void reseed(final long seed) {
        cellMap.reseed(seed);
        writeSeed(seed);
        expectOthers();
    }

    /**
     * Finds and remembers the cells of a packet that will be added soon. Holds the first {@link #EXPECTED_LIMIT} packets since
     * {@link #expectOthers}, none if there is one cell; add them in the same order for speed. Changes nothing in the sketch.
     */
    public void expect(final long flowHash, final long packetDigest) {
        if (expectedCount == expectedDigests.length) {
            return;
        }
        expectedFlowHashes[expectedCount] = flowHash;
        expectedDigests[expectedCount] = packetDigest;
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            expectedColumns[row * EXPECTED_LIMIT + expectedCount] = cellMap.column(row, flowHash, packetDigest);
        }
        expectedCount++;
    }

    /**
     * Reads the cells of the expected packets in direct succession, so that the processor overlaps the cache misses and has the
     * cells in its cache at the update. Changes nothing. Returns what was read; the caller must use it, or the compiler would
     * drop the reads.
     */
    public long touchExpected() {
        final int count = expectedCount;
        long octets = 0;
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            for (int i = row * EXPECTED_LIMIT; i < row * EXPECTED_LIMIT + count; i++) {
                octets += touchCell(row, Math.max(0, expectedColumns[i]));
            }
        }
        return octets;
    }

    /** Forgets the expected packets. */
    public void expectOthers() {
        expectedCount = 0;
        nextExpected = 0;
    }

    /**
     * Adds a packet.
     *
     * @param timestampNs relative to the interval's start; it may lie outside the interval.
     * @param weight      of the flow, at least 1; not checked here.
     */
    public void update(
        final long flowHash, final long packetDigest, final long timestampNs, final int bytes, final int weight) {
        addOffered(1, bytes);
        final int expected = expected(flowHash, packetDigest);
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = expected < 0 ? cellMap.column(row, flowHash, packetDigest) :
                expectedColumns[row * EXPECTED_LIMIT + expected];
            if (column != CellMap.NOT_SAMPLED) {
                addToCell(row, column, weight * timestampNs, weight, packetDigest, (long)weight * bytes);
            }
        }
    }

    /**
     * Whether all packets of a flow go to the same cells, so that {@link #updateFlow} can add them at once: with k = 1, and every
     * row at full rate.
     */
    public boolean isByFlow() {
        return cellMap.isByFlow();
    }

    /**
     * Adds several packets of a flow at once, with the same result as {@link #update} of each. Only if {@link #isByFlow}.
     *
     * @param flowHash       of the flow; call {@link #expect} with digest 0 before for speed.
     * @param packets        how many.
     * @param timestampSumNs of all of them, relative to the interval's start.
     * @param digestSum      of all of them, modulo 2^64.
     * @param weight         of the flow, at least 1; not checked here.
     */
    public void updateFlow(
        final long flowHash, final long packets, final long timestampSumNs, final long digestSum, final long bytes,
        final int weight) {
        addOffered(packets, bytes);
        final int expected = expected(flowHash, 0);
        for (int row = 0, rows = cellMap.rows(); row < rows; row++) {
            final int column = expected < 0 ? cellMap.baseColumn(row, flowHash) :
                expectedColumns[row * EXPECTED_LIMIT + expected];
            addToCell(row, column, weight * timestampSumNs, weight * packets, digestSum, weight * bytes);
        }
    }

    /** Index of a packet's remembered cells; negative if there are none. */
    private int expected(final long flowHash, final long packetDigest) {
        for (int i = nextExpected; i < expectedCount; i++) {
            if (expectedFlowHashes[i] == flowHash && expectedDigests[i] == packetDigest) {
                nextExpected = i + 1;
                return i;
            }
        }
        return -1;
    }
}
