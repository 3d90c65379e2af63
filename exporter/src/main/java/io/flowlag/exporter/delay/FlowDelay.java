package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowTcp;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.counters.SpanCounters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of what this stage keeps of a flow, behind the {@link FlowEntry}:
 * <pre>
 *   0  interpolated counters   48   DelayCounters, by references
 *  48  distribution             4   while the flow lives: one more than its place, 0 for none
 *  52  sketchRecord             4   while the flow lives: one more than its index in the sketches' records, 0 for none
 *  56  errors of samples        8   while the flow lives: SpanCounters
 *  64  errorBoundNs             8   of the best mean, valid with FLAG_ERROR_BOUND
 *  72  clockErrorNs             8   valid with FLAG_CLOCK_ERROR
 *  80  lostPackets              8   valid with FLAG_LOSS
 *  88  unexpectedPackets        8   valid with FLAG_LOSS
 *  96  segmentId                4   valid with FLAG_SEGMENT
 * 100  flags                    2
 * 102  estimator                1   of the mean: 0 for none, else as element 12 has it
 * 103  lossKind                 1   as element 24 has it, valid with FLAG_LOSS
 * 104  classIndex               1   in an image alone
 * 105  (unused)                 7
 * 112  sampledDistribution      4   while the flow lives: as distribution, of delays of sampled packets
 * 116  sampledPackets           4   while the flow lives: packets that both points sample
 * 112  clockCorrectionNs        8   in their place when the flow ended, valid with FLAG_CLOCK_CORRECTED
 * 120  matchedErrorNs           8   how much too large the sum of matched delays may be
 * 128  quantiles               64   FlowQuantiles
 * 192  matched counters        48   DelayCounters, of matched packets; only with exact matching or sketches
 * 240  matchedSegmentId         4   of matched packets, where the process has several segments
 * 244  matchedSegments          1   0 if there is none, 1 for one, 2 if matched packets are of several
 * 245  (unused)                11
 * 256  sketch                  64   FlowSketch, only with sketches
 * </pre>
 * A packet needs the first 64 octets alone, a sampled one 8 more. Everything but these and the matched counters is written when
 * the flow ends. Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public final class FlowDelay {
    /** Octets without exact matching. */
    public static final int LENGTH_BYTES = 192;
    /** Octets with exact matching. */
    static final int EXACT_LENGTH_BYTES = LENGTH_BYTES + DelayCounters.LENGTH_BYTES;
    /** Octets with sketches. */
    public static final int SKETCH_LENGTH_BYTES = EXACT_LENGTH_BYTES + FlowSketch.LENGTH_BYTES;
    /** Octets of an image: a copy of a flow's entry, this layout and FlowTcp, for display; what the flow does not have is 0. */
    public static final int IMAGE_LENGTH_BYTES = FlowEntry.BASE_LENGTH_BYTES + SKETCH_LENGTH_BYTES + FlowTcp.LENGTH_BYTES;
    public static final int FLAG_ERROR_BOUND = 1;
    public static final int FLAG_CLOCK_ERROR = 1 << 1;
    public static final int FLAG_LOSS = 1 << 2;
    public static final int FLAG_SEGMENT = 1 << 3;
    public static final int FLAG_UNEXPECTED = 1 << 4;
    public static final int FLAG_SKETCH = 1 << 5;
    public static final int FLAG_SKETCH_DEVIATION = 1 << 6;
    /** The mean covers every packet's own delay. */
    public static final int FLAG_EXACT = 1 << 7;
    /** A clock offset was taken out of the delays. */
    public static final int FLAG_CLOCK_CORRECTED = 1 << 8;
    /** Interpolated delays are a mixture of paths: that of the flow is not known. */
    static final int FLAG_PATH_UNKNOWN = 1 << 9;
    /** Estimator: interpolated between two references. */
    public static final int ESTIMATOR_INTERPOLATED = 1;
    /** Estimator: the left reference. */
    public static final int ESTIMATOR_LEFT = 2;
    /** Estimator: sketches of both points. */
    public static final int ESTIMATOR_SKETCH = 3;
    /** Estimator: references and sketches together. */
    public static final int ESTIMATOR_JOINT = 4;
    /** Estimator: sums of the flow at both points, exact. */
    public static final int ESTIMATOR_FLOW_SUMS = 5;
    /** Estimator: every packet matched. */
    public static final int ESTIMATOR_MATCHED = 6;
    /** Estimator: interpolated between references of several paths, because that of the flow is not known. */
    public static final int ESTIMATOR_MIXED_PATHS = 7;
    /** Kind of loss: counted packet by packet. */
    public static final int LOSS_EXACT = 1;
    /** Kind of loss: at most so many. */
    public static final int LOSS_UPPER_BOUND = 2;
    /** The error of the sum of matched delays is not known. */
    static final long UNKNOWN_ERROR_NS = -1;

    private static final int DISTRIBUTION_OFFSET = DelayCounters.USED_BYTES;
    private static final int SKETCH_RECORD_OFFSET = DISTRIBUTION_OFFSET + 4;
    private static final int ERROR_BOUND_OFFSET = DelayCounters.LENGTH_BYTES;
    private static final int CLOCK_ERROR_OFFSET = ERROR_BOUND_OFFSET + 8;
    private static final int LOST_PACKETS_OFFSET = CLOCK_ERROR_OFFSET + 8;
    private static final int UNEXPECTED_PACKETS_OFFSET = LOST_PACKETS_OFFSET + 8;
    private static final int SEGMENT_ID_OFFSET = UNEXPECTED_PACKETS_OFFSET + 8;
    private static final int FLAGS_OFFSET = SEGMENT_ID_OFFSET + 4;
    private static final int ESTIMATOR_OFFSET = FLAGS_OFFSET + 2;
    private static final int LOSS_KIND_OFFSET = ESTIMATOR_OFFSET + 1;
    private static final int SPAN_OFFSET = SKETCH_RECORD_OFFSET + 4;
    private static final int CLASS_INDEX_OFFSET = LOSS_KIND_OFFSET + 1;
    private static final int CLOCK_CORRECTION_OFFSET = CLASS_INDEX_OFFSET + 8;
    private static final int SAMPLED_DISTRIBUTION_OFFSET = CLOCK_CORRECTION_OFFSET;
    private static final int SAMPLED_PACKETS_OFFSET = SAMPLED_DISTRIBUTION_OFFSET + 4;
    private static final int MATCHED_ERROR_NS_OFFSET = CLOCK_CORRECTION_OFFSET + 8;
    private static final int MATCHED_SEGMENT_ID_OFFSET = LENGTH_BYTES + DelayCounters.USED_BYTES;
    private static final int MATCHED_SEGMENTS_OFFSET = MATCHED_SEGMENT_ID_OFFSET + 4;
    private static final int QUANTILES_OFFSET = LENGTH_BYTES - FlowQuantiles.LENGTH_BYTES;

    private FlowDelay() {
    }

    /** Whether a finished flow carries this layout. */
    public static boolean isPresent(final int lengthBytes) {
        return lengthBytes >= FlowEntry.BASE_LENGTH_BYTES + LENGTH_BYTES;
    }

    /** Counts a sample of interpolated delay in its span between references, and the scale of its error. */
    static void countInSpan(
        final MutableDirectBuffer buffer, final int offset, final long spanNumber, final float errorScaleNs) {
        SpanCounters.record(buffer, offset + SPAN_OFFSET, spanNumber, errorScaleNs, DelayCounters.count(buffer, offset));
    }

    /** {@return the scale of the error of the interpolated mean, ns; NaN if it is not known} */
    static double errorScaleNs(final DirectBuffer buffer, final int offset) {
        return SpanCounters.meanScaleNs(buffer, offset + SPAN_OFFSET, DelayCounters.count(buffer, offset));
    }

    /** Where the counters behind the flow's best estimate lie. */
    public static int bestOffset(final DirectBuffer buffer, final int offset) {
        return estimator(buffer, offset) == ESTIMATOR_MATCHED ? matchedOffset(offset) : offset;
    }

    /**
     * The offset of the packet counters whose number and sums are exported: by references, or by matching if that is the flow's
     * best estimate and there are no references.
     */
    public static int samplesOffset(final DirectBuffer buffer, final int offset) {
        return DelayCounters.count(buffer, offset) > 0 ? offset : bestOffset(buffer, offset);
    }

    public static int matchedOffset(final int offset) {
        return offset + LENGTH_BYTES;
    }

    /** Whether the matched delays of an ended flow cover every packet of the record, each its own: their mean is exact. */
    static boolean isMatchedWhole(final DirectBuffer buffer, final int offset) {
        return matchedErrorNs(buffer, offset) == 0 && DelayCounters.count(buffer, matchedOffset(offset)) ==
            FlowEntry.packetCount(buffer, offset - FlowEntry.BASE_LENGTH_BYTES);
    }

    /**
     * How much too large the sum of the matched delays may be, because some packets with equal digests were lost and it is
     * unknown which. The mean may be too large by this, divided by the matched packets.
     *
     * @param buffer holds the layout; the flow has ended.
     * @return ns; below 0 if it is not known, or unmatched packets of the record may have any delay.
     */
    static long matchedErrorNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MATCHED_ERROR_NS_OFFSET);
    }

    static void matchedErrorNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + MATCHED_ERROR_NS_OFFSET, value);
    }

    /** Whether a matched packet told the segment. */
    static boolean hasMatchedSegment(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + MATCHED_SEGMENTS_OFFSET) != 0;
    }

    /** Whether matched packets are of several segments. */
    static boolean hasSeveralSegments(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + MATCHED_SEGMENTS_OFFSET) > 1;
    }

    static long matchedSegmentId(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + MATCHED_SEGMENT_ID_OFFSET) & 0xFFFF_FFFFL;
    }

    static void matchedSegment(
        final MutableDirectBuffer buffer, final int offset, final long id, final boolean isOneOfSeveral) {
        buffer.putInt(offset + MATCHED_SEGMENT_ID_OFFSET, (int)id);
        buffer.putByte(offset + MATCHED_SEGMENTS_OFFSET, (byte)(isOneOfSeveral ? 2 : 1));
    }

    public static int quantilesOffset(final int offset) {
        return offset + QUANTILES_OFFSET;
    }

    static int distribution(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + DISTRIBUTION_OFFSET) - 1;
    }

    static void distribution(final MutableDirectBuffer buffer, final int offset, final int place) {
        buffer.putInt(offset + DISTRIBUTION_OFFSET, place + 1);
    }

    static int sampledDistribution(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SAMPLED_DISTRIBUTION_OFFSET) - 1;
    }

    static void sampledDistribution(final MutableDirectBuffer buffer, final int offset, final int place) {
        buffer.putInt(offset + SAMPLED_DISTRIBUTION_OFFSET, place + 1);
    }

    static int sampledPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SAMPLED_PACKETS_OFFSET);
    }

    static void sampledPackets(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + SAMPLED_PACKETS_OFFSET, value);
    }

    static int sketchRecord(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SKETCH_RECORD_OFFSET) - 1;
    }

    static void sketchRecord(final MutableDirectBuffer buffer, final int offset, final int record) {
        buffer.putInt(offset + SKETCH_RECORD_OFFSET, record + 1);
    }

    public static int sketchOffset(final int offset) {
        return offset + EXACT_LENGTH_BYTES;
    }

    public static long errorBoundNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + ERROR_BOUND_OFFSET);
    }

    public static void errorBoundNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + ERROR_BOUND_OFFSET, value);
        addFlags(buffer, offset, FLAG_ERROR_BOUND);
    }

    /** Marks the error bound of the mean as unknown. */
    public static void clearErrorBound(final MutableDirectBuffer buffer, final int offset) {
        buffer.putShort(
            offset + FLAGS_OFFSET, (short)(buffer.getShort(offset + FLAGS_OFFSET) & ~FLAG_ERROR_BOUND));
    }

    /** The flow's mean by its estimator, ns, signed. */
    public static long meanNs(final DirectBuffer buffer, final int offset) {
        return switch (estimator(buffer, offset)) {
            case ESTIMATOR_SKETCH, ESTIMATOR_FLOW_SUMS -> FlowSketch.meanNs(buffer, sketchOffset(offset));
            case ESTIMATOR_JOINT -> FlowSketch.jointMeanNs(buffer, sketchOffset(offset));
            default -> DelayCounters.meanNs(buffer, bestOffset(buffer, offset));
        };
    }

    /**
     * The number of the record's packets that its mean covers, without any that may have the time of a lost twin; 0 also if the
     * estimator has no mean.
     */
    public static long meanPackets(final DirectBuffer buffer, final int offset) {
        return switch (estimator(buffer, offset)) {
            case ESTIMATOR_MATCHED ->
                DelayCounters.count(buffer, matchedOffset(offset)) - (matchedErrorNs(buffer, offset) > 0 ? 1 : 0);
            case ESTIMATOR_SKETCH, ESTIMATOR_FLOW_SUMS -> FlowSketch.meanPackets(buffer, sketchOffset(offset));
            case ESTIMATOR_JOINT -> FlowSketch.jointPackets(buffer, sketchOffset(offset));
            default -> DelayCounters.count(buffer, bestOffset(buffer, offset));
        };
    }

    public static long clockErrorNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + CLOCK_ERROR_OFFSET);
    }

    public static void clockErrorNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + CLOCK_ERROR_OFFSET, value);
        addFlags(buffer, offset, FLAG_CLOCK_ERROR);
    }

    /** {@return the clock offset that was taken out of the last delays, ns, receiver's clock less sender's} */
    public static long clockCorrectionNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + CLOCK_CORRECTION_OFFSET);
    }

    public static void clockCorrectionNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + CLOCK_CORRECTION_OFFSET, value);
        addFlags(buffer, offset, FLAG_CLOCK_CORRECTED);
    }

    public static long lostPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + LOST_PACKETS_OFFSET);
    }

    public static long unexpectedPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + UNEXPECTED_PACKETS_OFFSET);
    }

    public static int lossKind(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + LOSS_KIND_OFFSET) & 0xFF;
    }

    /**
     * Writes packets that only the sender point saw, packets that only the receiver point saw, and the kind of the loss as
     * element 24 has it.
     */
    public static void loss(
        final MutableDirectBuffer buffer, final int offset, final long lostPackets, final long unexpectedPackets,
        final int lossKind) {
        buffer.putLong(offset + LOST_PACKETS_OFFSET, lostPackets);
        buffer.putLong(offset + UNEXPECTED_PACKETS_OFFSET, unexpectedPackets);
        buffer.putByte(offset + LOSS_KIND_OFFSET, (byte)lossKind);
        addFlags(buffer, offset, FLAG_LOSS | FLAG_UNEXPECTED);
    }

    /** Writes an upper bound of the lost packets; the number of unexpected ones is unknown. */
    public static void lossBound(final MutableDirectBuffer buffer, final int offset, final long lostPackets) {
        buffer.putLong(offset + LOST_PACKETS_OFFSET, lostPackets);
        buffer.putByte(offset + LOSS_KIND_OFFSET, (byte)LOSS_UPPER_BOUND);
        addFlags(buffer, offset, FLAG_LOSS);
    }

    /**
     * Writes the packets that the sender point saw less those that the receiver point saw; the number of unexpected ones is
     * unknown.
     */
    public static void exactLoss(final MutableDirectBuffer buffer, final int offset, final long lostPackets) {
        buffer.putLong(offset + LOST_PACKETS_OFFSET, lostPackets);
        buffer.putByte(offset + LOSS_KIND_OFFSET, (byte)LOSS_EXACT);
        addFlags(buffer, offset, FLAG_LOSS);
    }

    /** Whether the mean is {@link FlowSketch}'s. */
    public static boolean isSketchMean(final DirectBuffer buffer, final int offset) {
        final int estimator = estimator(buffer, offset);
        return estimator == ESTIMATOR_SKETCH || estimator == ESTIMATOR_FLOW_SUMS;
    }

    /** Whether the estimator of the mean is interpolation. */
    public static boolean isInterpolated(final DirectBuffer buffer, final int offset) {
        final int estimator = estimator(buffer, offset);
        return estimator == ESTIMATOR_INTERPOLATED || estimator == ESTIMATOR_LEFT || estimator == ESTIMATOR_MIXED_PATHS;
    }

    public static int segmentId(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SEGMENT_ID_OFFSET);
    }

    /** Writes the number of the segment, unsigned. */
    public static void segmentId(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + SEGMENT_ID_OFFSET, value);
        addFlags(buffer, offset, FLAG_SEGMENT);
    }

    public static int estimator(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + ESTIMATOR_OFFSET) & 0xFF;
    }

    /** Writes the estimator of the mean: 0 for none, else as element 12 has it. */
    public static void estimator(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + ESTIMATOR_OFFSET, (byte)value);
    }

    /** {@return the estimator of the mean; 0 if there is none, or no delay behind it} */
    public static int shownEstimator(final DirectBuffer buffer, final int offset) {
        final boolean hasDelay = isOfSketches(buffer, offset) || DelayCounters.count(buffer, bestOffset(buffer, offset)) > 0;
        return hasDelay ? estimator(buffer, offset) : 0;
    }

    /** Whether the sketches of both points have a part in the mean. */
    public static boolean isOfSketches(final DirectBuffer buffer, final int offset) {
        return isSketchMean(buffer, offset) || estimator(buffer, offset) == ESTIMATOR_JOINT;
    }

    /** Reads the traffic class of an image. */
    public static int classIndex(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + CLASS_INDEX_OFFSET) & 0xFF;
    }

    public static void classIndex(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + CLASS_INDEX_OFFSET, (byte)value);
    }

    /** Whether any of the FLAG_ constants given is set. */
    public static boolean has(final DirectBuffer buffer, final int offset, final int flag) {
        return (buffer.getShort(offset + FLAGS_OFFSET) & flag) != 0;
    }

    /** The flow's path is known after all. */
    static void clearPathUnknown(final MutableDirectBuffer buffer, final int offset) {
        buffer.putShort(offset + FLAGS_OFFSET, (short)(buffer.getShort(offset + FLAGS_OFFSET) & ~FLAG_PATH_UNKNOWN));
    }

    /** Sets some of the FLAG_ constants. */
    public static void addFlags(final MutableDirectBuffer buffer, final int offset, final int flag) {
        buffer.putShort(offset + FLAGS_OFFSET, (short)(buffer.getShort(offset + FLAGS_OFFSET) | flag));
    }
}
