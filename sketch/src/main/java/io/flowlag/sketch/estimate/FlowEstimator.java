package io.flowlag.sketch.estimate;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.ImagePairing;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.CellMap;

/**
 * Estimates flows from two points' LDS, or from one SDS (LDS paper, sections 2.3.4, 4.2 and 4.3). First {@link #pair}, once
 * an interval: that compares every cell. Then {@link #estimate} for each flow: that reads what came of the flow's R times k
 * cells; the images are not needed for that.
 *
 * <p>One thread. Allocates at construction only: {@link #memoryBytes}, off the heap.
 */
public final class FlowEstimator {
    /** Says that the receiver does not know how many packets a flow had. */
    public static final long UNKNOWN_PACKETS = -1;

    /** The paper's α: a cell is used if it has at most this fraction more packets than the flow's emptiest cell. */
    public static final double DEFAULT_ALPHA = 0.1;

    /** How many standard errors of a cell's sampling the rule of α allows for; 0 is the rule as the paper has it. */
    public static final double DEFAULT_NOISE_TOLERANCE = 3;

    /** The share of flows whose true mean is to lie within the bound. */
    public static final double DEFAULT_CONFIDENCE = 0.95;

    private final SketchGeometry geometry;
    private final CellMap cellMap;
    private final int seedFingerprint;
    private final double alpha;
    private final double noiseTolerance;
    private final double boundFactor;
    private final int fullestRow;
    private final boolean takesEveryPacket;
    private final SketchOverview overview;
    private final ComparedCells compared;
    private final FlowCells cells;
    /** The share of a flow's packets that is expected in one of its cells, by row. */
    private final double[] shares;
    /** Whether a row samples as many packets as the one that samples most. */
    private final boolean[] isFullest;
    private final DelaySums sums = new DelaySums();
    private final WeightedCells weightedCells;
    /** What serves flows of known packets instead; null where it does not. */
    private final OneCellRows oneCellRows;

    /** What the rows that sample most hold, the fullest of them. */
    private boolean isPaired;
    private boolean isDamaged;

    /**
     * An estimator with a confidence of 95 %, as {@link #FlowEstimator(SketchGeometry, long, double)}.
     *
     * @param geometry of the sketches, LDS or SDS.
     */
    public FlowEstimator(final SketchGeometry geometry, final long seed) {
        this(geometry, seed, DEFAULT_CONFIDENCE);
    }

    /**
     * An estimator that weighs all usable cells of a flow by what they tell, if the receiver knows the flow's packets. Where
     * it does not, or where the sketch has too few cells to weigh by, it chooses cells by the rule of α with the default α and
     * tolerance.
     *
     * @param geometry   of the sketches, LDS or SDS.
     * @param confidence of the bounds, between 0 and 1.
     */
    public FlowEstimator(final SketchGeometry geometry, final long seed, final double confidence) {
        this(geometry, seed, DEFAULT_ALPHA, DEFAULT_NOISE_TOLERANCE, confidence, true, true);
    }

    /**
     * An estimator that always chooses cells by the rule of α, the paper's if the noise tolerance is 0.
     *
     * @param geometry       of the sketches, LDS or SDS.
     * @param alpha          at least 0; 0 takes only the emptiest cells, as an SDS does in the paper.
     * @param noiseTolerance at least 0, in standard errors.
     * @param confidence     of the bounds, between 0 and 1.
     */
    public FlowEstimator(
        final SketchGeometry geometry,
        final long seed,
        final double alpha,
        final double noiseTolerance,
        final double confidence) {
        this(geometry, seed, alpha, noiseTolerance, confidence, false, true);
    }

    /**
     * An estimator that weighs cells, or not.
     *
     * @param geometry       of the sketches, LDS or SDS.
     * @param alpha          at least 0; of the rule that chooses cells where they are not weighed.
     * @param noiseTolerance at least 0, in standard errors.
     * @param confidence     of the bounds, between 0 and 1.
     * @param weighted       whether cells are weighed where the receiver knows the flow's packets.
     */
    public FlowEstimator(
        final SketchGeometry geometry,
        final long seed,
        final double alpha,
        final double noiseTolerance,
        final double confidence,
        final boolean weighted) {
        this(geometry, seed, alpha, noiseTolerance, confidence, weighted, true);
    }

    FlowEstimator(
        final SketchGeometry geometry,
        final long seed,
        final double alpha,
        final double noiseTolerance,
        final double confidence,
        final boolean weighted,
        final boolean straight) {
        if (SketchFamily.LDA == geometry.family()) {
            throw new IllegalArgumentException("an LDA has no flows");
        }
        if (!(alpha >= 0 && noiseTolerance >= 0)) {
            throw new IllegalArgumentException(
                "alpha=" + alpha + " or noiseTolerance=" + noiseTolerance + " is negative");
        }
        this.geometry = geometry;
        this.alpha = alpha;
        this.noiseTolerance = noiseTolerance;
        boundFactor = Hoeffding.factor(confidence);
        cellMap = new CellMap(geometry, seed);
        seedFingerprint = KeyedMix.fingerprint(seed);
        fullestRow = fullestRow(geometry);
        takesEveryPacket = SketchGeometry.FULL_RATE_PPM == geometry.rate(fullestRow);
        overview = new SketchOverview(geometry.rows());
        compared = new ComparedCells(geometry);
        cells = new FlowCells(geometry, cellMap, compared);
        shares = new double[geometry.rows()];
        isFullest = new boolean[geometry.rows()];
        for (int row = 0; row < shares.length; row++) {
            shares[row] = geometry.samplingRate(row) / geometry.vldaLength();
            isFullest[row] = geometry.rate(row) == geometry.rate(fullestRow);
        }
        weightedCells = weighted ? new WeightedCells(geometry, cellMap, compared) : null;
        oneCellRows = straight && cellMap.isByFlow() ?
            new OneCellRows(geometry, cellMap, compared, overview, sums, alpha, boundFactor) : null;
    }

    /** What an estimator takes off the heap, by formula: as much as a sketch's cells. Returns octets. */
    public static long memoryBytes(final SketchGeometry geometry) {
        return ComparedCells.memoryBytes(geometry);
    }

    /**
     * Takes the sketches of one interval from both points. Returns {@link PairingResult#PAIRED}; otherwise the pair is refused
     * and every estimate says so.
     */
    public PairingResult pair(final SketchImage senderImage, final SketchImage receiverImage) {
        final PairingResult own = ImagePairing.check(geometry, seedFingerprint, receiverImage);
        final PairingResult result =
            PairingResult.PAIRED == own ? ImagePairing.check(senderImage, receiverImage) : own;
        if (PairingResult.PAIRED == result) {
            take(senderImage, receiverImage);
        } else {
            unpair();
        }
        return result;
    }

    /**
     * Takes an SDS, which needs no counterpart. Returns {@link PairingResult#PAIRED}; otherwise it is refused and every estimate
     * says so.
     */
    public PairingResult single(final SketchImage image) {
        final PairingResult result = SketchFamily.SDS == image.family() ?
            ImagePairing.check(geometry, seedFingerprint, image) : PairingResult.FAMILY;
        if (PairingResult.PAIRED == result) {
            take(null, image);
        } else {
            unpair();
        }
        return result;
    }

    /**
     * Forgets what was paired.
     */
    public void unpair() {
        isPaired = false;
    }

    /** What the pairing says of all cells. Returns the overview of the last pairing. */
    public SketchOverview overview() {
        return overview;
    }

    /**
     * Estimates a flow.
     *
     * @param weight          of the flow, at least 1.
     * @param receivedPackets of the flow in the interval, as the receiver's flow cache counted them: they tell how much of a cell
     *                        is other flows', which makes choice and bound better; or {@link #UNKNOWN_PACKETS}, also where the
     *                        cache's key is finer than the flow hash.
     */
    public void estimate(
        final long flowHash, final int weight, final long receivedPackets, final FlowEstimate result) {
        result.reset(geometry.rows() * geometry.vldaLength());
        if (!isPaired) {
            return;
        }
        if (null != oneCellRows && receivedPackets >= 0) {
            oneCellRows.estimate(flowHash, weight, receivedPackets, isDamaged, result);
            scaleSizes(weight, result);
            if (result.usableCells > 0 && isWeighed(receivedPackets)) {
                weightedCells.estimateOneCellRows(
                    oneCellRows.places(), weight, Math.min(receivedPackets, result.receivedPackets), boundFactor, result);
            }
            return;
        }
        cells.find(flowHash);
        measureSizes(weight, result);
        if (compared.hasSender() && !isDamaged) {
            measureLoss(weight, result);
        }
        measureDelay(flowHash, weight, receivedPackets, result);
    }

    private void take(final SketchImage sender, final SketchImage receiver) {
        isPaired = true;
        isDamaged = receiver.damaged() || null != sender && sender.damaged();
        overview.measure(sender, receiver, fullestRow, compared);
        if (weighs()) {
            weightedCells.measure(overview, fullestRow);
        }
    }

    private void measureDelay(
        final long flowHash, final int weight, final long receivedPackets, final FlowEstimate result) {
        final double emptiest = emptiestCount(weight, result);
        if (0 == result.usableCells) {
            return;
        }
        final double receivedCount = (double)weight * receivedPackets;
        final double limit = (1 + alpha) * Math.max(emptiest, receivedCount);
        sums.reset();
        for (int row = 0; row < shares.length; row++) {
            addRow(weight, row, limit, receivedCount);
        }
        sums.finish(weight, boundFactor, overview, result);
        if (isWeighed(receivedPackets)) {
            final double packets =
                takesEveryPacket ? Math.min(receivedPackets, result.receivedPackets) : receivedPackets;
            weightedCells.estimate(flowHash, weight, packets, boundFactor, result);
        }
    }

    private boolean isWeighed(final long receivedPackets) {
        return receivedPackets > 0 && weighs() && weightedCells.isMeasured();
    }

    private boolean weighs() {
        return null != weightedCells && overview.hasMean();
    }

    /** The smallest size that a usable cell gives the flow if all of it were the flow's, on the safe side of its noise. */
    private double emptiestCount(final int weight, final FlowEstimate result) {
        double emptiest = Double.MAX_VALUE;
        boolean occupied = false;
        for (int row = 0; row < shares.length; row++) {
            final double share = shares[row];
            for (int cell = cells.first(row); cell < cells.end(row); cell++) {
                occupied |= cells.isOccupied(cell);
                if (cells.isUsable(cell)) {
                    result.usableCells++;
                    final double count = cells.receivedCount(cell);
                    emptiest =
                        Math.min(emptiest, share == 1 ? count : (count + noise(count, weight, share)) / share);
                }
            }
        }
        result.status = occupied ? EstimateStatus.NO_USABLE_CELL : EstimateStatus.NO_PACKETS;
        return emptiest;
    }

    private void addRow(final int weight, final int row, final double limit, final double receivedCount) {
        final double share = shares[row];
        final double ownCount = receivedCount * share;
        sums.beginRow();
        for (int cell = cells.first(row); cell < cells.end(row); cell++) {
            final double count = cells.receivedCount(cell);
            if (cells.isUsable(cell) &&
                (share == 1 ? count : (count - noise(count, weight, share)) / share) <= limit) {
                sums.add(
                    cells.delaySumNs(cell),
                    count,
                    cells.bytes(cell),
                    receivedCount >= 0 ? Math.max(0, count - ownCount) : Math.min(backgroundCount(row), count));
            }
        }
        sums.endRow(share);
        addOwnSpread(weight, row, receivedCount);
    }

    /** A row whose cells hold no more than α of others tells the flow's spread; where it takes every packet that is known. */
    private void addOwnSpread(final int weight, final int row, final double receivedCount) {
        double count = 0;
        for (int cell = cells.first(row); cell < cells.end(row); cell++) {
            count += cells.receivedCount(cell);
        }
        final double rate = geometry.samplingRate(row);
        final double ownCount = receivedCount * rate;
        final double others = receivedCount < 0 ? Math.min(count, backgroundCount(row) * geometry.vldaLength()) :
            Math.max(0, count - ownCount) + Math.sqrt(weight * ownCount * (1 - rate));
        if (others <= alpha * count) {
            sums.addOwnSpread(others);
        }
    }

    /** How much a cell's count may differ from the flow's share because packets are spread and sampled at random. */
    private double noise(final double count, final int weight, final double share) {
        return share == 1 ? 0 : noiseTolerance * Math.sqrt((1 - share) * (count + weight) * weight);
    }

    /** What a cell of the row holds on average where the flow is not. */
    private double backgroundCount(final int row) {
        double elsewhere = overview.rowCount(row);
        for (int cell = cells.first(row); cell < cells.end(row); cell++) {
            elsewhere -= cells.receivedCount(cell);
        }
        return Math.max(0, elsewhere) / Math.max(1, geometry.columns() - geometry.vldaLength());
    }

    private void measureSizes(final int weight, final FlowEstimate result) {
        double sent = Double.MAX_VALUE;
        double received = Double.MAX_VALUE;
        double bytes = Double.MAX_VALUE;
        for (int row = 0; row < shares.length; row++) {
            if (isFullest[row]) {
                double rowSent = 0;
                double rowReceived = 0;
                double rowBytes = 0;
                for (int cell = cells.first(row); cell < cells.end(row); cell++) {
                    rowSent += cells.sentCount(cell);
                    rowReceived += cells.receivedCount(cell);
                    rowBytes += cells.bytes(cell);
                }
                sent = Math.min(sent, rowSent);
                received = Math.min(received, rowReceived);
                bytes = Math.min(bytes, rowBytes);
            }
        }
        result.sentPackets = sent;
        result.receivedPackets = received;
        result.receivedBytes = bytes;
        scaleSizes(weight, result);
    }

    /** Makes packets and octets of sums of weights. */
    private void scaleSizes(final int weight, final FlowEstimate result) {
        final double scale = 1 / (weight * geometry.samplingRate(fullestRow));
        result.hasSizes = true;
        result.hasSentPackets = compared.hasSender();
        result.sizesAreUpperBounds = takesEveryPacket;
        result.sentPackets *= scale;
        result.receivedPackets *= scale;
        result.receivedBytes *= scale;
    }

    /**
     * Says how many packets came that were not sent, which only somebody who sees packets by other cells can know. A flow's upper
     * bound of loss is larger by them, since each may stand in its cells for a packet that was lost. Holds for this pair; without
     * it flows have no upper bound where some cell gained packets.
     *
     * @param mostCount at most, each as often as its flow weighs.
     */
    public void unexpected(final double mostCount) {
        overview.unexpected(mostCount);
    }

    /**
     * Reads what came of the cells of a flow, so that they are in the processor's cache for {@link #estimate}. Changes nothing.
     * Returns what was read, for the caller to keep, or the compiler would leave the reading out.
     */
    public long touch(final long flowHash) {
        long octets = 0;
        for (int row = 0; isPaired && row < shares.length; row++) {
            octets += compared.touch(compared.place(row, cellMap.baseColumn(row, flowHash)));
        }
        return octets;
    }

    private void measureLoss(final int weight, final FlowEstimate result) {
        final double unexpectedCount = overview.unexpectedCount();
        double least = Double.MAX_VALUE;
        double leastLacking = Double.MAX_VALUE;
        for (int row = 0; row < shares.length; row++) {
            if (isFullest[row]) {
                least = Math.min(least, rowLoss(row));
                leastLacking = Math.min(leastLacking, rowLacking(row));
            }
        }
        if (least > 0 && unexpectedCount != 0) {
            least = unexpectedCount < 0 || !takesEveryPacket ? Double.MAX_VALUE : Math.max(0, leastLacking) + unexpectedCount;
        }
        if (Double.MAX_VALUE == least) {
            return;
        }
        result.lostPackets = least / (weight * geometry.samplingRate(fullestRow));
        if (!takesEveryPacket) {
            result.lossKind = LossKind.SCALED;
        } else {
            result.lossKind = 0 == least ? LossKind.EXACT : LossKind.UPPER_BOUND;
        }
    }

    /** What the flow's cells in a row lost; no number if one of them gained a packet, which hides a loss. */
    private double rowLoss(final int row) {
        double sum = 0;
        for (int cell = cells.first(row); cell < cells.end(row); cell++) {
            final long lost = cells.sentCount(cell) - cells.receivedCount(cell);
            if (lost < 0 || lost == 0 && !cells.agrees(cell)) {
                return Double.MAX_VALUE;
            }
            sum += lost;
        }
        return sum;
    }

    /** What the flow's cells in a row have less at the receiver: what they lost, less what they gained. */
    private double rowLacking(final int row) {
        double sum = 0;
        for (int cell = cells.first(row); cell < cells.end(row); cell++) {
            sum += cells.sentCount(cell) - cells.receivedCount(cell);
        }
        return sum;
    }

    private static int fullestRow(final SketchGeometry geometry) {
        int fullest = 0;
        for (int row = 1; row < geometry.rows(); row++) {
            fullest = geometry.rate(row) > geometry.rate(fullest) ? row : fullest;
        }
        return fullest;
    }
}
