package io.flowlag.exporter.delay;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of what the sketches say of a flow, a part of {@link FlowDelay}:
 * <pre>
 *  0  (unused)               4
 *  4  usableCells            4   valid with FLAG_SKETCH, as the next two
 *  8  meanNs                 8
 * 16  samples                8
 * 24  standardDeviationNs    8   floating point, valid with FLAG_SKETCH_DEVIATION
 * 32  jointMeanNs            8   of references and sketches together, valid with that estimator
 * 40  meanPackets            8   of the record, behind meanNs
 * 48  jointPackets           8   of the record, behind jointMeanNs
 * 56  (unused)               8
 * </pre>
 * Written when the flow's record is complete. Fields are in the byte order of the machine. Stateless; the thread that owns the
 * memory may call it.
 */
public final class FlowSketch {
    public static final int LENGTH_BYTES = 64;

    private static final int USABLE_CELLS_OFFSET = 4;
    private static final int MEAN_OFFSET = USABLE_CELLS_OFFSET + 4;
    private static final int SAMPLES_OFFSET = MEAN_OFFSET + 8;
    private static final int STANDARD_DEVIATION_OFFSET = SAMPLES_OFFSET + 8;
    private static final int JOINT_MEAN_OFFSET = STANDARD_DEVIATION_OFFSET + 8;
    private static final int MEAN_PACKETS_OFFSET = JOINT_MEAN_OFFSET + 8;
    private static final int JOINT_PACKETS_OFFSET = MEAN_PACKETS_OFFSET + 8;

    private FlowSketch() {
    }

    /** Writes a signed mean, the packets in the cells behind it, the usable cells, and the record's packets that it is of. */
    public static void mean(
        final MutableDirectBuffer buffer, final int offset, final long meanNs, final long samples, final int usableCells,
        final long packets) {
        buffer.putLong(offset + MEAN_PACKETS_OFFSET, packets);
        buffer.putLong(offset + MEAN_OFFSET, meanNs);
        buffer.putLong(offset + SAMPLES_OFFSET, samples);
        buffer.putInt(offset + USABLE_CELLS_OFFSET, usableCells);
    }

    public static long meanNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MEAN_OFFSET);
    }

    public static long samples(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SAMPLES_OFFSET);
    }

    public static int usableCells(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + USABLE_CELLS_OFFSET);
    }

    public static long meanPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MEAN_PACKETS_OFFSET);
    }

    public static long jointPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + JOINT_PACKETS_OFFSET);
    }

    public static long jointMeanNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + JOINT_MEAN_OFFSET);
    }

    /** Writes the signed mean by references and sketches together, and the record's packets that it is of. */
    public static void jointMean(
        final MutableDirectBuffer buffer, final int offset, final long meanNs, final long packets) {
        buffer.putLong(offset + JOINT_PACKETS_OFFSET, packets);
        buffer.putLong(offset + JOINT_MEAN_OFFSET, meanNs);
    }

    public static double standardDeviationNs(final DirectBuffer buffer, final int offset) {
        return buffer.getDouble(offset + STANDARD_DEVIATION_OFFSET);
    }

    public static void standardDeviationNs(final MutableDirectBuffer buffer, final int offset, final double value) {
        buffer.putDouble(offset + STANDARD_DEVIATION_OFFSET, value);
    }
}
