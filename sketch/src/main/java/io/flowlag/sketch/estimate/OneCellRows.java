package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

/**
 * Estimates a flow of known packets where each row has them all in one cell ({@link CellMap#isByFlow}). It applies the rule of α
 * as {@link FlowEstimator} does, in two short loops, since a cell's count is an upper bound without noise. One thread. Allocates
 * at construction only.
 */
final class OneCellRows {
    private final CellMap cellMap;
    private final ComparedCells compared;
    private final int rows;
    private final int[] places;
    private final double alpha;
    private final double boundFactor;
    private final SketchOverview overview;
    private final DelaySums sums;

    OneCellRows(
        final SketchGeometry geometry, final CellMap cellMap, final ComparedCells compared, final SketchOverview overview,
        final DelaySums sums, final double alpha, final double boundFactor) {
        this.cellMap = cellMap;
        this.compared = compared;
        this.overview = overview;
        this.sums = sums;
        this.alpha = alpha;
        this.boundFactor = boundFactor;
        rows = geometry.rows();
        places = new int[rows];
    }

    /** Fills a result that was reset; sizes are still sums of weights, not packets. */
    void estimate(
        final long flowHash, final int weight, final long receivedPackets, final boolean isDamaged, final FlowEstimate result) {
        long sent = Long.MAX_VALUE;
        long received = Long.MAX_VALUE;
        long bytes = Long.MAX_VALUE;
        long emptiest = Long.MAX_VALUE;
        long lost = Long.MAX_VALUE;
        long lacking = Long.MAX_VALUE;
        long occupied = 0;
        int usableCells = 0;
        for (int row = 0; row < rows; row++) {
            final int place = compared.place(row, cellMap.baseColumn(row, flowHash));
            final long count = compared.receivedCount(place);
            final long sentCount = compared.sentCount(place);
            places[row] = place;
            sent = Math.min(sent, sentCount);
            received = Math.min(received, count);
            bytes = Math.min(bytes, compared.bytes(place));
            occupied |= count | sentCount;
            lacking = Math.min(lacking, sentCount - count);
            if (compared.agrees(place)) {
                lost = Math.min(lost, 0);
                if (count > 0) {
                    usableCells++;
                    emptiest = Math.min(emptiest, count);
                }
            } else if (sentCount > count) {
                lost = Math.min(lost, sentCount - count);
            }
        }
        result.sentPackets = sent;
        result.receivedPackets = received;
        result.receivedBytes = bytes;
        if (compared.hasSender() && !isDamaged) {
            measureLoss(weight, lost, lacking, result);
        }
        result.usableCells = usableCells;
        if (usableCells > 0) {
            addCells(emptiest, (double)weight * receivedPackets);
            sums.finish(weight, boundFactor, overview, result);
        } else {
            result.status = occupied != 0 ? EstimateStatus.NO_USABLE_CELL : EstimateStatus.NO_PACKETS;
        }
    }

    /** {@return where the cells of the last flow lie, by row} */
    int[] places() {
        return places;
    }

    private void measureLoss(final int weight, final long lost, final long lacking, final FlowEstimate result) {
        final double unexpectedCount = overview.unexpectedCount();
        if (lost == 0 || lost < Long.MAX_VALUE && unexpectedCount == 0) {
            result.lostPackets = (double)lost / weight;
            result.lossKind = lost == 0 ? LossKind.EXACT : LossKind.UPPER_BOUND;
        } else if (unexpectedCount > 0) {
            result.lostPackets = (Math.max(0, lacking) + unexpectedCount) / weight;
            result.lossKind = LossKind.UPPER_BOUND;
        }
    }

    /** A cell that is not chosen adds 0. The choice is nearly random, so a branch would be mispredicted. */
    private void addCells(final long emptiest, final double receivedCount) {
        final double limit = (1 + alpha) * Math.max(emptiest, receivedCount);
        double delaySumNs = 0;
        double count = 0;
        double bytes = 0;
        double otherCount = 0;
        long largest = 0;
        int cells = 0;
        for (int row = 0; row < rows; row++) {
            final int place = places[row];
            final long cellCount = compared.receivedCount(place);
            final int chosen = compared.isUsable(place) & cellCount <= limit ? 1 : 0;
            final long mask = -chosen;
            final long chosenCount = cellCount & mask;
            delaySumNs += compared.delaySumNs(place) & mask;
            count += chosenCount;
            bytes += compared.bytes(place) & mask;
            otherCount += Math.max(0, chosenCount - receivedCount);
            largest = Math.max(largest, chosenCount);
            cells += chosen;
        }
        sums.all(delaySumNs, count, bytes, otherCount, cells, largest);
    }
}
