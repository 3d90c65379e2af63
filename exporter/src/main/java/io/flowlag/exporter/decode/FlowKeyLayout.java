package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of a flow's key in memory. A {@link PacketDescriptor} and a flow in the cache begin with all of it; a flow in the
 * matcher and a row of flow sums have the 5-tuple, its first 38 octets. A copy is one call.
 * <pre>
 *   0  source address       16   two words; an IPv4 address is the low half of the second, the rest 0
 *  16  destination address  16
 *  32  sourcePort            2   0 where there is none
 *  34  destinationPort       2
 *  36  protocol              1   IP protocol, extension headers skipped
 *  37  ipVersion             1   4 or 6
 *  38  ipClassOfService      1   DSCP and ECN
 *  39  (of the owner)        1
 *  40  vlanId                2   outermost, valid with FLAG_VLAN
 *  42  flags                 2   FLAG_VLAN, FLAG_LEAVING, and those of the owner
 *  44  interfaceId           4
 * </pre>
 * Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public class FlowKeyLayout {
    public static final int KEY_LENGTH_BYTES = 48;
    public static final int TUPLE_LENGTH_BYTES = 38;
    /** The first packet has a VLAN tag. */
    public static final int FLAG_VLAN = 1;
    /** The first packet leaves the interface, where that is known. */
    public static final int FLAG_LEAVING = 1 << 9;

    /** Of the ports, the protocol, the IP version and the class of service, one word with the owner's octet. */
    public static final int PORTS_OFFSET = 32;
    /** Of the VLAN and the flags, half a word. */
    public static final int VLAN_ID_OFFSET = 40;

    /** Of the octet that the owner may use. */
    protected static final int OWN_OFFSET = 39;

    private static final int SOURCE_OFFSET = 0;
    private static final int DESTINATION_OFFSET = SOURCE_OFFSET + 16;
    private static final int PROTOCOL_OFFSET = PORTS_OFFSET + 4;
    private static final int IP_VERSION_OFFSET = PROTOCOL_OFFSET + 1;
    private static final int IP_CLASS_OF_SERVICE_OFFSET = TUPLE_LENGTH_BYTES;
    private static final int FLAGS_OFFSET = VLAN_ID_OFFSET + 2;
    private static final int INTERFACE_ID_OFFSET = FLAGS_OFFSET + 2;

    /** For layouts that begin with a key. */
    protected FlowKeyLayout() {
    }

    /** Copies a 5-tuple. */
    public static void copyTuple(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer source, final int sourceOffset) {
        buffer.putBytes(offset, source, sourceOffset, TUPLE_LENGTH_BYTES);
    }

    /** {@return whether addresses, protocol and IP version of two keys are equal} */
    public static boolean isSameHosts(
        final DirectBuffer buffer, final int offset, final DirectBuffer other, final int otherOffset) {
        return sourceLow(buffer, offset) == sourceLow(other, otherOffset) &&
            destinationLow(buffer, offset) == destinationLow(other, otherOffset) &&
            buffer.getShort(offset + PROTOCOL_OFFSET) == other.getShort(otherOffset + PROTOCOL_OFFSET) &&
            sourceHigh(buffer, offset) == sourceHigh(other, otherOffset) &&
            destinationHigh(buffer, offset) == destinationHigh(other, otherOffset);
    }

    /** Reads both ports as one word, in the byte order of the machine. */
    public static int ports(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + PORTS_OFFSET);
    }

    public static void ports(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + PORTS_OFFSET, value);
    }

    /** Reads the first eight octets of the source address as a big-endian number; 0 for IPv4. */
    public static long sourceHigh(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SOURCE_OFFSET);
    }

    public static void sourceHigh(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SOURCE_OFFSET, value);
    }

    /** Reads the last eight octets of the source address; for IPv4 the address. */
    public static long sourceLow(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SOURCE_OFFSET + Long.BYTES);
    }

    public static void sourceLow(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SOURCE_OFFSET + Long.BYTES, value);
    }

    /** Reads the first eight octets of the destination address; 0 for IPv4. */
    public static long destinationHigh(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + DESTINATION_OFFSET);
    }

    public static void destinationHigh(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + DESTINATION_OFFSET, value);
    }

    /** Reads the last eight octets of the destination address; for IPv4 the address. */
    public static long destinationLow(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + DESTINATION_OFFSET + Long.BYTES);
    }

    public static void destinationLow(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + DESTINATION_OFFSET + Long.BYTES, value);
    }

    /** Reads the source port, 0 where there is none. */
    public static int sourcePort(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + PORTS_OFFSET) & 0xFFFF;
    }

    public static void sourcePort(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + PORTS_OFFSET, (short)value);
    }

    /** Reads the destination port, 0 where there is none. */
    public static int destinationPort(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + PORTS_OFFSET + Short.BYTES) & 0xFFFF;
    }

    public static void destinationPort(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + PORTS_OFFSET + Short.BYTES, (short)value);
    }

    public static int protocol(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + PROTOCOL_OFFSET) & 0xFF;
    }

    public static void protocol(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + PROTOCOL_OFFSET, (byte)value);
    }

    /** Reads the IP version, 4 or 6. */
    public static int ipVersion(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + IP_VERSION_OFFSET) & 0xFF;
    }

    public static void ipVersion(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + IP_VERSION_OFFSET, (byte)value);
    }

    /** Reads DSCP and ECN of the first packet. */
    public static int ipClassOfService(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + IP_CLASS_OF_SERVICE_OFFSET) & 0xFF;
    }

    public static void ipClassOfService(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putByte(offset + IP_CLASS_OF_SERVICE_OFFSET, (byte)value);
    }

    /** Reads the outermost VLAN id, valid with FLAG_VLAN. */
    public static int vlanId(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + VLAN_ID_OFFSET) & 0xFFFF;
    }

    public static void vlanId(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + VLAN_ID_OFFSET, (short)value);
    }

    public static int flags(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + FLAGS_OFFSET) & 0xFFFF;
    }

    public static void flags(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putShort(offset + FLAGS_OFFSET, (short)value);
    }

    public static int interfaceId(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + INTERFACE_ID_OFFSET);
    }

    public static void interfaceId(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + INTERFACE_ID_OFFSET, value);
    }
}
