package io.flowlag.sketch.estimate;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.ImagePairing;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.CellMap;

/**
 * Estimates flows from two points' LDS, or from one SDS (LDS paper, sections 2.3.4, 4.2 and 4.3). Call {@link #pair} once an
 * interval: it compares every cell. Then call {@link #estimate} for each flow: it reads the comparison of the flow's R times k
 * cells and no longer needs the images.
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

    /** Flows whose cells are read at once, at most. */
    public static final int TOUCH_LIMIT = 32;

    private final SketchGeometry geometry;
    private final CellMap cellMap;
    private final int[] touchedPlaces;
    private int seedFingerprint;
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
    /** Whether a row has the highest sampling rate. */
    private final boolean[] isFullest;
    private final DelaySums sums = new DelaySums();
    private final WeightedCells weightedCells;
    /** Estimates flows with known packets instead; null if not applicable. */
    private final OneCellRows oneCellRows;

    /** What the rows that sample most hold, the fullest of them. */
    private boolean isPaired;
    private boolean isDamaged;

    /** An estimator of LDS or SDS with the defaults, which weights cells where it can. */
    public FlowEstimator(final SketchGeometry geometry, final long seed) {
        this(geometry, seed, DEFAULT_ALPHA, DEFAULT_NOISE_TOLERANCE, DEFAULT_CONFIDENCE, true);
    }

    /**
     * An estimator. It weights all usable cells of a flow by their information, if the receiver knows the flow's packets and the
     * sketch has enough cells to weight by. Otherwise it chooses cells by the rule of α: the paper's if the noise tolerance is 0.
     *
     * @param geometry       of the sketches, LDS or SDS.
     * @param alpha          at least 0; 0 takes only the emptiest cells, as an SDS does in the paper.
     * @param noiseTolerance at least 0, in standard errors.
     * @param confidence     of the bounds, between 0 and 1.
     * @param weighted       false to choose cells always.
     */
    public FlowEstimator(
        final SketchGeometry geometry, final long seed, final double alpha, final double noiseTolerance,
        final double confidence, final boolean weighted) {
        this(geometry, seed, alpha, noiseTolerance, confidence, weighted, true);
    }

    FlowEstimator(
        final SketchGeometry geometry, final long seed, final double alpha, final double noiseTolerance,
        final double confidence, final boolean weighted, final boolean straight) {
        if (geometry.family() == SketchFamily.LDA) {
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
        takesEveryPacket = geometry.rate(fullestRow) == SketchGeometry.FULL_RATE_PPM;
        overview = new SketchOverview(geometry.rows());
        compared = new ComparedCells(geometry);
        cells = new FlowCells(geometry, cellMap, compared);
        touchedPlaces = new int[TOUCH_LIMIT * geometry.rows()];
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

    /** Off-heap memory of an estimator, by formula: as much as a sketch's cells. Returns octets. */
    public static long memoryBytes(final SketchGeometry geometry) {
        return ComparedCells.memoryBytes(geometry);
    }

    /** Changes the seed, and forgets what was paired. */
    public void reseed(final long seed) {
        cellMap.reseed(seed);
        seedFingerprint = KeyedMix.fingerprint(seed);
        unpair();
    }

    /**
     * Takes the sketches of one interval from both points. Returns {@link PairingResult#PAIRED}; otherwise the pair is refused
     * and every estimate says so.
     */
    public PairingResult pair(final SketchImage senderImage, final SketchImage receiverImage) {
        final PairingResult own = ImagePairing.check(geometry, seedFingerprint, receiverImage);
        final PairingResult result =
            own == PairingResult.PAIRED ? ImagePairing.check(senderImage, receiverImage) : own;
        if (result == PairingResult.PAIRED) {
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
        final PairingResult result = image.family() == SketchFamily.SDS ?
            ImagePairing.check(geometry, seedFingerprint, image) : PairingResult.FAMILY;
        if (result == PairingResult.PAIRED) {
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

    /** Returns the overview of all cells from the last pairing. */
    public SketchOverview overview() {
        return overview;
    }

    /**
     * Estimates a flow.
     *
     * @param weight          of the flow, at least 1.
     * @param receivedPackets of the flow in the interval, as the receiver's flow cache counted them. They determine how much of a
     *                        cell belongs to other flows, which improves choice and bound. {@link #UNKNOWN_PACKETS} if unknown,
     *                        or if the cache's key is finer than the flow hash.
     */
    public void estimate(
        final long flowHash, final int weight, final long receivedPackets, final FlowEstimate result) {
        result.begin(geometry.rows() * geometry.vldaLength());
        if (!isPaired) {
            return;
        }
        if (oneCellRows != null && receivedPackets >= 0) {
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
        isDamaged = receiver.damaged() || sender != null && sender.damaged();
        overview.measure(sender, receiver, fullestRow, compared);
        if (weighs()) {
            weightedCells.measure(overview, fullestRow);
        }
    }

    private void measureDelay(
        final long flowHash, final int weight, final long receivedPackets, final FlowEstimate result) {
        final double emptiest = emptiestCount(weight, result);
        if (result.usableCells == 0) {
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
        return weightedCells != null && overview.hasMean();
    }

    /** The smallest count among the flow's usable cells, raised by its noise to be on the safe side. */
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

    /**
     * Adds the spread of a row if its cells hold at most α of others. Whether they do is known only where the row takes every
     * packet.
     */
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

    /** How much a cell's count may differ from the flow's share by random spreading and sampling. */
    private double noise(final double count, final int weight, final double share) {
        return share == 1 ? 0 : noiseTolerance * Math.sqrt((1 - share) * (count + weight) * weight);
    }

    /** Average count of a cell of the row without the flow. */
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

    /** Converts sums of weights to packets and octets. */
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
     * Sets an upper bound on packets received but never sent, which must be known from another source. It raises a flow's upper
     * bound of loss, since each such packet may hide a lost one. Holds for this pair. Without it, flows have no upper bound where
     * some cell gained packets.
     *
     * @param mostCount upper bound, each packet counted by its flow's weight.
     */
    public void unexpected(final double mostCount) {
        overview.unexpected(mostCount);
    }

    /**
     * Reads the comparison of the cells of flows to bring it into the processor's cache for {@link #estimate}, in direct
     * succession, so that the cache misses overlap. Changes nothing. Returns what was read; the caller must use it, or the
     * compiler would drop the reads.
     *
     * @param flowHashes of the flows.
     * @param flowCount  how many, at most {@link #TOUCH_LIMIT}.
     */
    public long touch(final long[] flowHashes, final int flowCount) {
        int count = 0;
        for (int i = 0; isPaired && i < flowCount; i++) {
            for (int row = 0; row < shares.length; row++) {
                touchedPlaces[count++] = compared.place(row, cellMap.baseColumn(row, flowHashes[i]));
            }
        }
        long octets = 0;
        for (int i = 0; i < count; i++) {
            octets += compared.touch(touchedPlaces[i]);
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
        if (least == Double.MAX_VALUE) {
            return;
        }
        result.lostPackets = least / (weight * geometry.samplingRate(fullestRow));
        if (!takesEveryPacket) {
            result.lossKind = LossKind.SCALED;
        } else {
            result.lossKind = least == 0 ? LossKind.EXACT : LossKind.UPPER_BOUND;
        }
    }

    /** Loss of the flow's cells in a row; NaN if one of them gained a packet, which hides a loss. */
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

    /** Deficit of the flow's cells in a row at the receiver: loss minus gain. */
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
