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
    /** Of how many packets {@link #expect} remembers the cells. */
    public static final int EXPECTED_LIMIT = 64;

    private final CellMap cellMap;
    private final long[] expectedFlowHashes = new long[EXPECTED_LIMIT];
    private final long[] expectedDigests = new long[EXPECTED_LIMIT];
    private final int[] expectedColumns;
    private int expectedCount;
    private int nextExpected;

    /**
     * An empty sketch.
     *
     * @param seed that both measurement points share.
     */
    public LossyDifferenceSketch(final SketchGeometry geometry, final long seed) {
        super(SketchFamily.LDS, geometry, seed);
        cellMap = new CellMap(geometry, seed);
        expectedColumns = new int[EXPECTED_LIMIT * geometry.rows()];
    }

    /**
     * Finds the cells of a packet that will be added soon, and remembers them: of the first {@link #EXPECTED_LIMIT} packets since
     * {@link #expectOthers}, which are best added in the same order. Changes nothing in the sketch.
     */
    public void expect(final long flowHash, final long packetDigest) {
        if (expectedCount == EXPECTED_LIMIT) {
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
     * Reads the cells of the expected packets, one after the other and nothing between, so that the processor waits for many at
     * once and has them in its cache when the packets are added. Changes nothing. Returns what was read, for the caller to keep,
     * or the compiler would leave the reading out.
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

    /** Forgets which packets were expected: others will come. */
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
            if (CellMap.NOT_SAMPLED != column) {
                addToCell(row, column, timestampNs, packetDigest, bytes, weight);
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
     * Adds packets of a flow at once; the sketch is the same then as after {@link #update} of each. Only where {@link #isByFlow}.
     *
     * @param flowHash       of the flow, which is best {@link #expect}ed before, with digest 0.
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
            addToCell(row, column, packets, timestampSumNs, digestSum, bytes, weight);
        }
    }

    /** Where the cells of a packet are remembered; below 0 if they are not. */
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
