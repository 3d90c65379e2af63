package io.flowlag.exporter.monitoring.top;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The layout of a flow as it is shown to others, living or ended: three cache lines, the same in memory and in the status file.
 * Little-endian. What a flag or a kind does not say to be valid is 0.
 * <pre>
 *    0  sourceHigh             8   first eight octets of the source address, 0 for IPv4
 *    8  sourceLow              8   last eight octets of the source address; for IPv4 the address
 *   16  destinationHigh        8   first eight octets of the destination address, 0 for IPv4
 *   24  destinationLow         8   last eight octets of the destination address; for IPv4 the address
 *   32  sourcePort             4   source port, 0 where there is none
 *   36  destinationPort        4   destination port, 0 where there is none
 *   40  protocol               1   IP protocol number
 *   41  ipVersion              1   4 or 6
 *   42  ipClassOfService       1   traffic class octet of the first packet
 *   43  endReason              1   0 while the flow lives, else its flowEndReason
 *   44  classIndex             1   traffic class of the configuration
 *   45  estimator              1   of the mean delay: 0 for none, else as FlowDelay has it
 *   46  lossKind               1   0 for not known, else as FlowDelay has it
 *   47  flags                  1   FLAG_ constants
 *   48  packetCount            8   packets
 *   56  octetCount             8   IP octets
 *   64  startNs                8   first packet, UNIX epoch
 *   72  endNs                  8   newest packet, UNIX epoch
 *   80  flowId                 8   unique in the life of the process
 *   88  sampleCount            8   delays behind the mean
 *   96  meanNs                 8   mean delay, signed; valid with an estimator
 *  104  boundNs                8   95 % error bound of the mean; valid with FLAG_BOUND
 *  112  standardDeviationNs    8   of the delays; valid with FLAG_SPREAD and 2 samples
 *  120  minimumNs              8   smallest delay, signed; valid with FLAG_SPREAD
 *  128  maximumNs              8   largest delay, signed; valid with FLAG_SPREAD
 *  136  sketchMeanNs           8   mean delay by sketches, signed; valid with FLAG_SKETCH
 *  144  lostPackets            8   packets lost on the segment; valid with a loss kind
 *  152  segmentId              8   of the segment; valid with an estimator
 *  160  interpolatedMeanNs     8   mean delay by references, signed; valid with FLAG_INTERPOLATED
 *  168  (unused)              24
 * </pre>
 * Stateless; the thread that owns the memory may call it.
 */
public final class WatchedFlow {
    /** Octets of a flow. */
    public static final int LENGTH_BYTES = 192;

    /** The error bound of the mean is known. */
    public static final int FLAG_BOUND = 1;
    /** Deviation, minimum and maximum are known. */
    public static final int FLAG_SPREAD = 1 << 1;
    /** The mean by sketches is known. */
    public static final int FLAG_SKETCH = 1 << 2;
    /** The mean by references is known, and the mean has another estimator. */
    public static final int FLAG_INTERPOLATED = 1 << 3;
    /** The mean covers every packet's own delay. */
    public static final int FLAG_EXACT = 1 << 4;

    private static final int SOURCE_HIGH_OFFSET = 0;
    private static final int SOURCE_LOW_OFFSET = SOURCE_HIGH_OFFSET + 8;
    private static final int DESTINATION_HIGH_OFFSET = SOURCE_LOW_OFFSET + 8;
    private static final int DESTINATION_LOW_OFFSET = DESTINATION_HIGH_OFFSET + 8;
    private static final int SOURCE_PORT_OFFSET = DESTINATION_LOW_OFFSET + 8;
    private static final int DESTINATION_PORT_OFFSET = SOURCE_PORT_OFFSET + 4;
    private static final int PROTOCOL_OFFSET = DESTINATION_PORT_OFFSET + 4;
    private static final int IP_VERSION_OFFSET = PROTOCOL_OFFSET + 1;
    private static final int IP_CLASS_OF_SERVICE_OFFSET = IP_VERSION_OFFSET + 1;
    private static final int END_REASON_OFFSET = IP_CLASS_OF_SERVICE_OFFSET + 1;
    private static final int CLASS_INDEX_OFFSET = END_REASON_OFFSET + 1;
    private static final int ESTIMATOR_OFFSET = CLASS_INDEX_OFFSET + 1;
    private static final int LOSS_KIND_OFFSET = ESTIMATOR_OFFSET + 1;
    private static final int FLAGS_OFFSET = LOSS_KIND_OFFSET + 1;
    private static final int PACKET_COUNT_OFFSET = FLAGS_OFFSET + 1;
    private static final int OCTET_COUNT_OFFSET = PACKET_COUNT_OFFSET + 8;
    private static final int START_NS_OFFSET = OCTET_COUNT_OFFSET + 8;
    private static final int END_NS_OFFSET = START_NS_OFFSET + 8;
    private static final int FLOW_ID_OFFSET = END_NS_OFFSET + 8;
    private static final int SAMPLE_COUNT_OFFSET = FLOW_ID_OFFSET + 8;
    private static final int MEAN_NS_OFFSET = SAMPLE_COUNT_OFFSET + 8;
    private static final int BOUND_NS_OFFSET = MEAN_NS_OFFSET + 8;
    private static final int STANDARD_DEVIATION_NS_OFFSET = BOUND_NS_OFFSET + 8;
    private static final int MINIMUM_NS_OFFSET = STANDARD_DEVIATION_NS_OFFSET + 8;
    private static final int MAXIMUM_NS_OFFSET = MINIMUM_NS_OFFSET + 8;
    private static final int SKETCH_MEAN_NS_OFFSET = MAXIMUM_NS_OFFSET + 8;
    private static final int LOST_PACKETS_OFFSET = SKETCH_MEAN_NS_OFFSET + 8;
    private static final int SEGMENT_ID_OFFSET = LOST_PACKETS_OFFSET + 8;
    private static final int INTERPOLATED_MEAN_NS_OFFSET = SEGMENT_ID_OFFSET + 8;

    private WatchedFlow() {
    }

    /** Reads sourceHigh: first eight octets of the source address, 0 for IPv4. */
    public static long sourceHigh(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SOURCE_HIGH_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes sourceHigh: first eight octets of the source address, 0 for IPv4. */
    public static void sourceHigh(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SOURCE_HIGH_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads sourceLow: last eight octets of the source address; for IPv4 the address. */
    public static long sourceLow(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SOURCE_LOW_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes sourceLow: last eight octets of the source address; for IPv4 the address. */
    public static void sourceLow(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SOURCE_LOW_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads destinationHigh: first eight octets of the destination address, 0 for IPv4. */
    public static long destinationHigh(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + DESTINATION_HIGH_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes destinationHigh: first eight octets of the destination address, 0 for IPv4. */
    public static void destinationHigh(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + DESTINATION_HIGH_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads destinationLow: last eight octets of the destination address; for IPv4 the address. */
    public static long destinationLow(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + DESTINATION_LOW_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes destinationLow: last eight octets of the destination address; for IPv4 the address. */
    public static void destinationLow(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + DESTINATION_LOW_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads sourcePort: source port, 0 where there is none. */
    public static int sourcePort(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SOURCE_PORT_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes sourcePort: source port, 0 where there is none. */
    public static void sourcePort(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + SOURCE_PORT_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads destinationPort: destination port, 0 where there is none. */
    public static int destinationPort(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + DESTINATION_PORT_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes destinationPort: destination port, 0 where there is none. */
    public static void destinationPort(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + DESTINATION_PORT_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads protocol: IP protocol number. */
    public static int protocol(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + PROTOCOL_OFFSET) & 0xFF;
    }

    /** Writes protocol: IP protocol number. */
    public static void protocol(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + PROTOCOL_OFFSET, (byte)value);
    }

    /** Reads ipVersion: 4 or 6. */
    public static int ipVersion(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + IP_VERSION_OFFSET) & 0xFF;
    }

    /** Writes ipVersion: 4 or 6. */
    public static void ipVersion(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + IP_VERSION_OFFSET, (byte)value);
    }

    /** Reads ipClassOfService: traffic class octet of the first packet. */
    public static int ipClassOfService(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + IP_CLASS_OF_SERVICE_OFFSET) & 0xFF;
    }

    /** Writes ipClassOfService: traffic class octet of the first packet. */
    public static void ipClassOfService(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + IP_CLASS_OF_SERVICE_OFFSET, (byte)value);
    }

    /** Reads endReason: 0 while the flow lives, else its flowEndReason. */
    public static int endReason(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + END_REASON_OFFSET) & 0xFF;
    }

    /** Writes endReason: 0 while the flow lives, else its flowEndReason. */
    public static void endReason(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + END_REASON_OFFSET, (byte)value);
    }

    /** Reads classIndex: traffic class of the configuration. */
    public static int classIndex(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + CLASS_INDEX_OFFSET) & 0xFF;
    }

    /** Writes classIndex: traffic class of the configuration. */
    public static void classIndex(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + CLASS_INDEX_OFFSET, (byte)value);
    }

    /** Reads estimator: of the mean delay: 0 for none, else as FlowDelay has it. */
    public static int estimator(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + ESTIMATOR_OFFSET) & 0xFF;
    }

    /** Writes estimator: of the mean delay: 0 for none, else as FlowDelay has it. */
    public static void estimator(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + ESTIMATOR_OFFSET, (byte)value);
    }

    /** Reads lossKind: 0 for not known, else as FlowDelay has it. */
    public static int lossKind(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + LOSS_KIND_OFFSET) & 0xFF;
    }

    /** Writes lossKind: 0 for not known, else as FlowDelay has it. */
    public static void lossKind(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + LOSS_KIND_OFFSET, (byte)value);
    }

    /** Reads flags: FLAG_ constants. */
    public static int flags(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + FLAGS_OFFSET) & 0xFF;
    }

    /** Writes flags: FLAG_ constants. */
    public static void flags(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + FLAGS_OFFSET, (byte)value);
    }

    /** Reads packetCount: packets. */
    public static long packetCount(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + PACKET_COUNT_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes packetCount: packets. */
    public static void packetCount(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + PACKET_COUNT_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads octetCount: IP octets. */
    public static long octetCount(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + OCTET_COUNT_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes octetCount: IP octets. */
    public static void octetCount(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + OCTET_COUNT_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads startNs: first packet, UNIX epoch. */
    public static long startNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + START_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes startNs: first packet, UNIX epoch. */
    public static void startNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + START_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads endNs: newest packet, UNIX epoch. */
    public static long endNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + END_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes endNs: newest packet, UNIX epoch. */
    public static void endNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + END_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads flowId: unique in the life of the process. */
    public static long flowId(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + FLOW_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes flowId: unique in the life of the process. */
    public static void flowId(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + FLOW_ID_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads sampleCount: delays behind the mean. */
    public static long sampleCount(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SAMPLE_COUNT_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes sampleCount: delays behind the mean. */
    public static void sampleCount(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SAMPLE_COUNT_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads meanNs: mean delay, signed; valid with an estimator. */
    public static long meanNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MEAN_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes meanNs: mean delay, signed; valid with an estimator. */
    public static void meanNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + MEAN_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads boundNs: 95 % error bound of the mean; valid with FLAG_BOUND. */
    public static long boundNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + BOUND_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes boundNs: 95 % error bound of the mean; valid with FLAG_BOUND. */
    public static void boundNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + BOUND_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads standardDeviationNs: of the delays; valid with FLAG_SPREAD and 2 samples. */
    public static long standardDeviationNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + STANDARD_DEVIATION_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes standardDeviationNs: of the delays; valid with FLAG_SPREAD and 2 samples. */
    public static void standardDeviationNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + STANDARD_DEVIATION_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads minimumNs: smallest delay, signed; valid with FLAG_SPREAD. */
    public static long minimumNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MINIMUM_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes minimumNs: smallest delay, signed; valid with FLAG_SPREAD. */
    public static void minimumNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + MINIMUM_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads maximumNs: largest delay, signed; valid with FLAG_SPREAD. */
    public static long maximumNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MAXIMUM_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes maximumNs: largest delay, signed; valid with FLAG_SPREAD. */
    public static void maximumNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + MAXIMUM_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads sketchMeanNs: mean delay by sketches, signed; valid with FLAG_SKETCH. */
    public static long sketchMeanNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SKETCH_MEAN_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes sketchMeanNs: mean delay by sketches, signed; valid with FLAG_SKETCH. */
    public static void sketchMeanNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SKETCH_MEAN_NS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads lostPackets: packets lost on the segment; valid with a loss kind. */
    public static long lostPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + LOST_PACKETS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes lostPackets: packets lost on the segment; valid with a loss kind. */
    public static void lostPackets(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + LOST_PACKETS_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads segmentId: of the segment; valid with an estimator. */
    public static long segmentId(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SEGMENT_ID_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes segmentId: of the segment; valid with an estimator. */
    public static void segmentId(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SEGMENT_ID_OFFSET, value, LITTLE_ENDIAN);
    }

    /** Reads interpolatedMeanNs: mean delay by references, signed; valid with FLAG_INTERPOLATED. */
    public static long interpolatedMeanNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + INTERPOLATED_MEAN_NS_OFFSET, LITTLE_ENDIAN);
    }

    /** Writes interpolatedMeanNs: mean delay by references, signed; valid with FLAG_INTERPOLATED. */
    public static void interpolatedMeanNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + INTERPOLATED_MEAN_NS_OFFSET, value, LITTLE_ENDIAN);
    }
}
