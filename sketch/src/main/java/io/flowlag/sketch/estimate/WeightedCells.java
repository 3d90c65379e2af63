package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

/**
 * The mean of a flow of known packets, from all its cells that agree, each weighted by its information ({@code docs/sketch.md},
 * "Mean of a flow"). A cell's count beyond the flow's expected share belongs to others. Cells of a row are disjoint samples and
 * are added. Rows are independent samples; they are averaged by inverse variance, together with the prior over flows. One thread;
 * allocates at construction only.
 */
final class WeightedCells {
    /** Factor by which the prior is wider than observed, so that an unusual flow is not pulled to the others. */
    private static final double PRIOR_WIDTH = 2;
    /** Makes the approximated expectation of a normal variable's positive part exact at 0: (2·0.798)². */
    private static final double POSITIVE_PART = 8 / Math.PI;
    private static final double MOSTLY_OWN = 0.5;
    private static final double WHOLE = 1 - 1e-9;
    /** The part of the variance of flows' means that lasts, where flows differ for good; the rest is of the interval. */
    private static final double LASTING = 0.9;

    private final SketchGeometry geometry;
    private final CellMap cellMap;
    private final ComparedCells compared;
    private final DelayVariance variance;
    private final double[] otherCounts;

    private double meanNs;
    private double packetVarianceNs2;
    private double precision;
    private double offsetSum;
    private double offsetSquares;
    private int rowsUsed;
    private double bestSamples;
    private int ownCells;
    private double exactMeanNs;
    private boolean exact;

    WeightedCells(final SketchGeometry geometry, final CellMap cellMap, final ComparedCells compared) {
        this.geometry = geometry;
        this.cellMap = cellMap;
        this.compared = compared;
        variance = new DelayVariance(geometry.rows());
        otherCounts = new double[geometry.vldaLength()];
    }

    /** Takes the comparison of a pair of sketches. */
    void measure(final SketchOverview overview, final int fullestRow) {
        meanNs = overview.meanNs();
        variance.measure(compared, overview, fullestRow);
        packetVarianceNs2 = variance.packetVarianceNs2();
    }

    /** Whether there are enough cells to weight by. */
    boolean isMeasured() {
        return packetVarianceNs2 > 0;
    }

    /** Replaces mean, bound, samples and chosen cells of a result that has a mean. */
    void estimate(
        final long flowHash, final int weight, final double packets, final double boundFactor, final FlowEstimate result) {
        begin();
        for (int row = 0; row < geometry.rows() && !exact; row++) {
            countOthers(row, flowHash, weight, packets);
            addRow(row, flowHash, weight, packets);
        }
        finish(packets, boundFactor, result);
    }

    /**
     * As {@link #estimate}, where each row has all packets of a flow in one cell ({@link CellMap#isByFlow}): the cell's count
     * beyond the flow belongs to others, without noise.
     *
     * @param places of the flow's cells, by row.
     */
    void estimateOneCellRows(
        final int[] places, final int weight, final double packets, final double boundFactor, final FlowEstimate result) {
        begin();
        final double flowCount = weight * packets;
        for (int row = 0; row < places.length && !exact; row++) {
            final int place = places[row];
            if (compared.agrees(place)) {
                final double count = compared.receivedCount(place);
                final double delaySumNs = compared.delaySumNs(place);
                final double otherCount = Math.max(0, count - flowCount);
                final double ownPackets = (count - otherCount) / weight;
                final double own = own(row, ownPackets, otherCount, weight);
                ownCells += own >= MOSTLY_OWN ? 1 : 0;
                final double offsetNs = delaySumNs - count * meanNs - variance.sumOffsetNs(row, otherCount);
                endRow(own * ownPackets, own * offsetNs / weight, delaySumNs, weight, packets);
            }
        }
        finish(packets, boundFactor, result);
    }

    private void begin() {
        precision = 0;
        offsetSum = 0;
        offsetSquares = 0;
        rowsUsed = 0;
        bestSamples = 0;
        ownCells = 0;
        exact = false;
    }

    private void finish(final double packets, final double boundFactor, final FlowEstimate result) {
        final double packetsNs2 = packetVarianceNs2 / packets;
        final double flowsNs2 = variance.flowVarianceNs2();
        if (exact) {
            result.meanNs = exactMeanNs;
            result.cellsMeanNs = exactMeanNs;
            result.cellsVarianceNs2 = 0;
            result.boundNs = 0;
        } else if (precision > 0) {
            final double priorNs2 = PRIOR_WIDTH * (packetsNs2 + flowsNs2);
            final double posteriorNs2 = 1 / (precision + 1 / priorNs2);
            result.meanNs = meanNs + offsetSum * posteriorNs2;
            result.cellsMeanNs = meanNs + offsetSum / precision;
            result.cellsVarianceNs2 = disagreement() / precision;
            result.boundNs = boundFactor * Math.sqrt(posteriorNs2 * disagreement());
        }
        result.levelNs = meanNs;
        result.changeVarianceNs2 = packetsNs2 + (1 - LASTING) * flowsNs2;
        result.lastingVarianceNs2 = PRIOR_WIDTH * Math.max(packetVarianceNs2, LASTING * flowsNs2);
        result.samples = Math.max(1, Math.round(bestSamples));
        result.chosenCells = ownCells;
    }

    /**
     * Estimates the others' share of each of the flow's cells in a row: the excess over the flow's expected part, approximated by
     * the expectation of a normal variable's positive part. In a row that takes every packet the sum is known.
     */
    private void countOthers(final int row, final long flowHash, final int weight, final double packets) {
        final int base = cellMap.baseColumn(row, flowHash);
        final double share = share(row);
        final double ownCount = weight * packets * share;
        final double noise2 = POSITIVE_PART * weight * ownCount * (1 - share);
        double sum = 0;
        double total = 0;
        for (int offset = 0; offset < otherCounts.length; offset++) {
            final double count = compared.receivedCount(compared.place(row, cellMap.wrap(base + offset)));
            final double excess = count - ownCount;
            otherCounts[offset] = Math.min(count, Math.max(0, (excess + Math.sqrt(excess * excess + noise2)) / 2));
            sum += otherCounts[offset];
            total += count;
        }
        if (geometry.rate(row) == SketchGeometry.FULL_RATE_PPM && sum > 0) {
            final double scale = Math.max(0, total - weight * packets) / sum;
            for (int offset = 0; offset < otherCounts.length; offset++) {
                final double count = compared.receivedCount(compared.place(row, cellMap.wrap(base + offset)));
                otherCounts[offset] = Math.min(count, otherCounts[offset] * scale);
            }
        }
    }

    private void addRow(final int row, final long flowHash, final int weight, final double packets) {
        final int base = cellMap.baseColumn(row, flowHash);
        final boolean whole = geometry.rate(row) == SketchGeometry.FULL_RATE_PPM;
        final double expectedPackets = packets * share(row);
        double samples = 0;
        double offsetSumNs = 0;
        double delaySumNs = 0;
        for (int offset = 0; offset < otherCounts.length; offset++) {
            final int place = compared.place(row, cellMap.wrap(base + offset));
            if (compared.agrees(place)) {
                final double cellDelaySumNs = compared.delaySumNs(place);
                final double count = compared.receivedCount(place);
                final double ownPackets = whole ? (count - otherCounts[offset]) / weight : expectedPackets;
                final double own = own(row, ownPackets, otherCounts[offset], weight);
                samples += own * ownPackets;
                offsetSumNs += own *
                    (cellDelaySumNs - count * meanNs - variance.sumOffsetNs(row, otherCounts[offset])) / weight;
                delaySumNs += cellDelaySumNs;
                ownCells += own >= MOSTLY_OWN ? 1 : 0;
            }
        }
        endRow(samples, offsetSumNs, delaySumNs, weight, packets);
    }

    /** The flow's share of a cell's information, by the variances of both parts. */
    private double own(final int row, final double ownPackets, final double otherCount, final int weight) {
        final double ownNs2 = ownPackets * packetVarianceNs2;
        final double othersNs2 = variance.sumVarianceNs2(row, otherCount) / ((double)weight * weight);
        return ownPackets > 0 ? ownNs2 / (ownNs2 + othersNs2) : 0;
    }

    private void endRow(
        final double samples, final double offsetSumNs, final double delaySumNs, final int weight, final double packets) {
        bestSamples = Math.max(bestSamples, samples);
        if (samples >= WHOLE * packets) {
            exact = true;
            exactMeanNs = delaySumNs / (weight * packets);
        } else if (samples > 0) {
            final double rowPrecision = 1 / (packetVarianceNs2 * (1 / samples - 1 / packets));
            precision += rowPrecision;
            offsetSum += rowPrecision * offsetSumNs / samples;
            offsetSquares += rowPrecision * (offsetSumNs / samples) * (offsetSumNs / samples);
            rowsUsed++;
        }
    }

    /** Excess of the rows' spread over their variances (Birge's ratio, squared), at least 1. */
    private double disagreement() {
        return rowsUsed < 2 ? 1 :
            Math.max(1, (offsetSquares - offsetSum * offsetSum / precision) / (rowsUsed - 1));
    }

    /** The share of a flow's packets that is expected in one of its cells of a row. */
    private double share(final int row) {
        return geometry.samplingRate(row) / geometry.vldaLength();
    }
}
