package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * The layout of a decoded packet between capture and metering, in an array of descriptors or in a ring.
 * <pre>
 *   0  key                  48   see {@link FlowKeyLayout}; at 39 the TTL or hop limit
 *  48  timestampNs           8   UNIX epoch
 *  56  tcpControlBits        2   0 unless TCP
 *  58  icmpTypeCode          2   type * 256 + code; 0 unless ICMP or ICMPv6
 *  60  ipLengthBytes         4   IP header and payload
 *  64  wireLengthBytes       4
 *  68  segmentCount          2   packets that a segmentation offload joined; 1 normally
 *  70  observationPoint      1   index of the packet source
 *  71  kind                  1   KIND_REGULAR or KIND_REFERENCE, which has the layout of DecodedReference
 *  72  digest                8   0 unless FLAG_DIGEST
 *  80  segmentFlowHash       8   0 unless FLAG_DIGEST, and with FLAG_FLOW_HASH_LEFT; another digest with FLAG_SENDER_DIGEST
 *  88  tcpSequence           4   with FLAG_TCP
 *  92  tcpAcknowledgement    4   with FLAG_TCP
 *  96  MAC addresses        12   destination and source as in the frame, valid with FLAG_MAC
 * 108  tcpPayloadBytes       4   with FLAG_TCP
 * </pre>
 * Fields are in the byte order of the machine: a descriptor never leaves the process. Stateless; safe from any thread.
 */
public final class PacketDescriptor extends FlowKeyLayout {
    /** Length of one descriptor in octets. */
    public static final int LENGTH_BYTES = 112;

    public static final int KIND_REGULAR = 0;
    /** A verified reference packet: see {@link DecodedReference}. */
    public static final int KIND_REFERENCE = 1;

    public static final int FLAG_FRAGMENT = 1 << 1;
    /** The packet is a fragment, and not the first. */
    public static final int FLAG_LATER_FRAGMENT = 1 << 2;
    /** The fields are those of a packet inside a tunnel. */
    public static final int FLAG_INNER = 1 << 3;
    /** Digest and segment flow hash were computed. */
    public static final int FLAG_DIGEST = 1 << 4;
    /** The capture cut off octets that the digest would cover. */
    public static final int FLAG_DIGEST_SHORT = 1 << 5;
    /** The packet is longer than its link's MTU: an offload joined several. It has no digest. */
    public static final int FLAG_OVERSIZE = 1 << 6;
    /** The segment flow hash was not computed: read it from the flow or compute it. Set only on unfragmented IPv4 packets. */
    public static final int FLAG_FLOW_HASH_LEFT = 1 << 7;
    /**
     * The packet arrives in one segment and enters another: in place of the segment flow hash is its digest by the key of the
     * segment that it enters. Both flow hashes are left.
     */
    public static final int FLAG_SENDER_DIGEST = 1 << 8;
    /** Sequence numbers and the length of the payload are known. */
    public static final int FLAG_TCP = 1 << 10;
    /** With FLAG_TCP: the receive window is 0. */
    public static final int FLAG_ZERO_WINDOW = 1 << 11;
    /** Both MAC addresses are known. */
    public static final int FLAG_MAC = 1 << 12;
    public static final int MAC_LENGTH_BYTES = 12;

    private static final boolean IS_BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private static final int TTL_OFFSET = OWN_OFFSET;
    private static final int TIMESTAMP_NS_OFFSET = KEY_LENGTH_BYTES;
    private static final int TCP_CONTROL_BITS_OFFSET = TIMESTAMP_NS_OFFSET + 8;
    private static final int ICMP_TYPE_CODE_OFFSET = TCP_CONTROL_BITS_OFFSET + 2;
    private static final int IP_LENGTH_OFFSET = ICMP_TYPE_CODE_OFFSET + 2;
    private static final int WIRE_LENGTH_OFFSET = IP_LENGTH_OFFSET + 4;
    private static final int SEGMENT_COUNT_OFFSET = WIRE_LENGTH_OFFSET + 4;
    private static final int OBSERVATION_POINT_OFFSET = SEGMENT_COUNT_OFFSET + 2;
    private static final int KIND_OFFSET = OBSERVATION_POINT_OFFSET + 1;
    private static final int DIGEST_OFFSET = KIND_OFFSET + 1;
    private static final int SEGMENT_FLOW_HASH_OFFSET = DIGEST_OFFSET + 8;
    private static final int TCP_SEQUENCE_OFFSET = SEGMENT_FLOW_HASH_OFFSET + 8;
    private static final int TCP_ACKNOWLEDGEMENT_OFFSET = TCP_SEQUENCE_OFFSET + 4;
    private static final int MAC_OFFSET = TCP_ACKNOWLEDGEMENT_OFFSET + 4;
    private static final int TCP_PAYLOAD_OFFSET = MAC_OFFSET + MAC_LENGTH_BYTES;

    private PacketDescriptor() {
    }

    /** Copies a descriptor, word by word: faster than a call that copies memory of any length. */
    public static void copy(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer source, final int sourceOffset) {
        for (int i = 0; i < LENGTH_BYTES; i += Long.BYTES) {
            buffer.putLong(offset + i, source.getLong(sourceOffset + i));
        }
    }

    /** Reads UNIX epoch, ns. */
    public static long timestampNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + TIMESTAMP_NS_OFFSET);
    }

    public static void timestampNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + TIMESTAMP_NS_OFFSET, value);
    }

    /** Reads TTL or hop limit. */
    public static int ttl(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + TTL_OFFSET) & 0xFF;
    }

    public static void ttl(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + TTL_OFFSET, (byte)value);
    }

    /** Reads TCP flags, 0 unless TCP. */
    public static int tcpControlBits(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + TCP_CONTROL_BITS_OFFSET) & 0xFFFF;
    }

    public static void tcpControlBits(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + TCP_CONTROL_BITS_OFFSET, (short)value);
    }

    /** Reads type * 256 + code, 0 unless ICMP or ICMPv6. */
    public static int icmpTypeCode(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + ICMP_TYPE_CODE_OFFSET) & 0xFFFF;
    }

    public static void icmpTypeCode(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + ICMP_TYPE_CODE_OFFSET, (short)value);
    }

    /** Writes both addresses of IPv4: the source in the upper 32 bits, the destination in the lower. */
    static void addressesIpv4(final MutableDirectBuffer buffer, final int offset, final long addresses) {
        sourceHigh(buffer, offset, 0);
        sourceLow(buffer, offset, addresses >>> 32);
        destinationHigh(buffer, offset, 0);
        destinationLow(buffer, offset, addresses & 0xFFFF_FFFFL);
    }

    /**
     * Writes the fields between the addresses and the TCP control bits at once, of IPv4.
     *
     * @param ports            source and destination, as a big-endian number.
     * @param protocol         8 bits.
     * @param ipClassOfService 8 bits.
     * @param ttl              8 bits.
     */
    static void transportIpv4(
        final MutableDirectBuffer buffer, final int offset, final int ports, final int protocol, final int ipClassOfService,
        final int ttl) {
        buffer.putLong(
            offset + PORTS_OFFSET,
            ports >>> 16 | (ports & 0xFFFFL) << 16 | (long)protocol << 32 | 4L << 40 |
                (long)ipClassOfService << 48 | (long)ttl << 56, ByteOrder.LITTLE_ENDIAN);
        if (IS_BIG_ENDIAN) {
            sourcePort(buffer, offset, ports >>> 16);
            destinationPort(buffer, offset, ports & 0xFFFF);
        }
    }

    /** Writes the fields next to the interface and behind the timestamp, 16 bits each, two at once. */
    static void bits(
        final MutableDirectBuffer buffer, final int offset, final int tcpControlBits, final int icmpTypeCode, final int vlanId,
        final int flags) {
        if (IS_BIG_ENDIAN) {
            tcpControlBits(buffer, offset, tcpControlBits);
            icmpTypeCode(buffer, offset, icmpTypeCode);
            vlanId(buffer, offset, vlanId);
            flags(buffer, offset, flags);
        } else {
            buffer.putInt(offset + VLAN_ID_OFFSET, vlanId | flags << 16);
            buffer.putInt(offset + TCP_CONTROL_BITS_OFFSET, tcpControlBits | icmpTypeCode << 16);
        }
    }

    /** Writes the fields between the length on the wire and the digest at once: 16, 8 and 8 bits. */
    static void origin(
        final MutableDirectBuffer buffer, final int offset, final int segmentCount, final int observationPoint, final int kind) {
        if (IS_BIG_ENDIAN) {
            segmentCount(buffer, offset, segmentCount);
            observationPoint(buffer, offset, observationPoint);
            kind(buffer, offset, kind);
        } else {
            buffer.putInt(offset + SEGMENT_COUNT_OFFSET, segmentCount | observationPoint << 16 | kind << 24);
        }
    }

    /** Reads octets of IP header and payload. */
    public static int ipLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + IP_LENGTH_OFFSET);
    }

    public static void ipLengthBytes(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + IP_LENGTH_OFFSET, value);
    }

    public static int wireLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + WIRE_LENGTH_OFFSET);
    }

    public static void wireLengthBytes(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + WIRE_LENGTH_OFFSET, value);
    }

    /** Reads packets that an offload joined, 1 normally. */
    public static int segmentCount(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + SEGMENT_COUNT_OFFSET) & 0xFFFF;
    }

    public static void segmentCount(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + SEGMENT_COUNT_OFFSET, (short)value);
    }

    /** Reads index of the packet source. */
    public static int observationPoint(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + OBSERVATION_POINT_OFFSET) & 0xFF;
    }

    public static void observationPoint(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + OBSERVATION_POINT_OFFSET, (byte)value);
    }

    /** Reads the kind: a regular packet or a reference. */
    public static int kind(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + KIND_OFFSET);
    }

    public static void kind(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + KIND_OFFSET, (byte)value);
    }

    /** Reads packet digest, valid with FLAG_DIGEST. */
    public static long digest(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + DIGEST_OFFSET);
    }

    public static void digest(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + DIGEST_OFFSET, value);
    }

    /** Reads segment flow hash, valid with FLAG_DIGEST. */
    public static long segmentFlowHash(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SEGMENT_FLOW_HASH_OFFSET);
    }

    public static void segmentFlowHash(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SEGMENT_FLOW_HASH_OFFSET, value);
    }

    /** Reads the sequence number, valid with FLAG_TCP. */
    public static int tcpSequence(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TCP_SEQUENCE_OFFSET);
    }

    /** Reads the acknowledgement number, valid with FLAG_TCP. */
    public static int tcpAcknowledgement(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TCP_ACKNOWLEDGEMENT_OFFSET);
    }

    /** Reads the octets behind the header, captured or not, valid with FLAG_TCP. */
    public static int tcpPayloadBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TCP_PAYLOAD_OFFSET);
    }

    /** Copies both MAC addresses from a descriptor that has them. */
    public static void copyMac(
        final MutableDirectBuffer buffer, final int at, final DirectBuffer descriptor, final int offset) {
        copy12(buffer, at, descriptor, offset + MAC_OFFSET);
    }

    /** Takes both MAC addresses from an Ethernet header. */
    static void mac(final MutableDirectBuffer buffer, final int offset, final DirectBuffer frame, final int frameOffset) {
        copy12(buffer, offset + MAC_OFFSET, frame, frameOffset);
    }

    private static void copy12(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer source, final int sourceOffset) {
        buffer.putLong(offset, source.getLong(sourceOffset));
        buffer.putInt(offset + Long.BYTES, source.getInt(sourceOffset + Long.BYTES));
    }

    /** Writes both sequence numbers and the length of the payload. */
    public static void tcp(
        final MutableDirectBuffer buffer, final int offset, final int sequence, final int acknowledgement,
        final int payloadBytes) {
        buffer.putInt(offset + TCP_SEQUENCE_OFFSET, sequence);
        buffer.putInt(offset + TCP_ACKNOWLEDGEMENT_OFFSET, acknowledgement);
        buffer.putInt(offset + TCP_PAYLOAD_OFFSET, payloadBytes);
    }
}
