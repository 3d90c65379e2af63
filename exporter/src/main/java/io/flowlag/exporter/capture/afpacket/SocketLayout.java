package io.flowlag.exporter.capture.afpacket;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The layouts and numbers of the packet socket's calls, as in Linux's {@code if_packet.h}, {@code filter.h}, {@code if.h},
 * and {@code net_tstamp.h} on 64-bit little-endian machines. Fields are in the byte order of the machine unless
 * said otherwise. Stateless.
 * <pre>
 *   sockaddr_ll       family 2, protocol 2 (network order), interface 4, hardware type 2, packet type 1, address length 1,
 *                     address 8
 *   tpacket_req3      block size 4, block count 4, frame size 4, frame count 4, timeout ms 4, private size 4, features 4
 *   tpacket_stats_v3  packets 4, drops 4, freezes 4
 *   packet_mreq       interface 4, type 2, address length 2, address 8
 *   sock_fprog        instruction count 2, (padding 6), address 8
 *   ifreq             name 16, then a union: hardware type 2, or interface 4, or flags 2, or MTU 4, or address of data 8
 *   hwtstamp_config   flags 4, transmit type 4, receive filter 4
 *   ethtool_channels  command 4, most of each kind 4 x 4, receiving 4, sending 4, other 4, both ways 4
 *   ethtool_value     command 4, flags 4
 * </pre>
 */
final class SocketLayout {
    static final int AF_PACKET = 17;
    static final int SOCK_RAW = 3;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SOL_PACKET = 263;

    static final int SO_ERROR = 4;
    static final int SO_ATTACH_FILTER = 26;
    static final int SO_TIMESTAMPNS = 35;
    static final int SO_ATTACH_BPF = 50;
    static final int PACKET_ADD_MEMBERSHIP = 1;
    static final int PACKET_RX_RING = 5;
    static final int PACKET_STATISTICS = 6;
    static final int PACKET_VERSION = 10;
    static final int PACKET_TIMESTAMP = 17;
    static final int PACKET_FANOUT = 18;
    static final int PACKET_IGNORE_OUTGOING = 23;

    static final int TPACKET_V3 = 2;
    static final int MEMBERSHIP_PROMISCUOUS = 1;
    static final int FANOUT_HASH = 0;
    /** The kernel chooses an unused group number. */
    static final int FANOUT_FLAG_UNIQUE_ID = 0x2000;
    static final int TIMESTAMP_RAW_HARDWARE = 1 << 6;

    static final int PROTOCOL_ALL = 0x0003;
    /** "Local experimental 2" of IEEE 802: a socket bound to it receives nothing relevant. */
    static final int PROTOCOL_EXPERIMENTAL = 0x88b6;

    static final long SIOCGIFNAME = 0x8910;
    static final long SIOCGIFFLAGS = 0x8913;
    static final long SIOCGIFMTU = 0x8921;
    static final long SIOCGIFHWADDR = 0x8927;
    static final long SIOCETHTOOL = 0x8946;
    static final int ETHTOOL_GET_FLAGS = 0x25;
    static final int ETHTOOL_GET_CHANNELS = 0x3c;
    static final long SIOCSHWTSTAMP = 0x89b0;
    static final long SIOCGHWTSTAMP = 0x89b1;
    static final int INTERFACE_UP = 0x1;
    static final int TIMESTAMP_FILTER_ALL = 1;

    static final int PROTECTION_READ_WRITE = 0x3;
    static final int MAP_SHARED = 0x1;
    static final int MSG_DONTWAIT = 0x40;

    static final int ADDRESS_LENGTH_BYTES = 20;
    static final int RING_REQUEST_LENGTH_BYTES = 28;
    static final int STATISTICS_LENGTH_BYTES = 12;
    static final int MEMBERSHIP_LENGTH_BYTES = 16;
    static final int FILTER_PROGRAM_LENGTH_BYTES = 16;
    static final int INTERFACE_REQUEST_LENGTH_BYTES = 40;
    static final int TIMESTAMP_CONFIG_LENGTH_BYTES = 12;

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private static final int ADDRESS_PROTOCOL_OFFSET = 2;
    private static final int ADDRESS_INTERFACE_OFFSET = ADDRESS_PROTOCOL_OFFSET + 2;
    private static final int STATISTICS_DROPS_OFFSET = 4;
    private static final int MEMBERSHIP_TYPE_OFFSET = 4;
    private static final int FILTER_ADDRESS_OFFSET = 8;
    private static final int INTERFACE_NAME_LENGTH_BYTES = 16;
    private static final int INTERFACE_VALUE_OFFSET = INTERFACE_NAME_LENGTH_BYTES;
    private static final int TIMESTAMP_RECEIVE_FILTER_OFFSET = 8;
    private static final int CHANNELS_RECEIVING_OFFSET = 20;
    private static final int CHANNELS_BOTH_WAYS_OFFSET = CHANNELS_RECEIVING_OFFSET + 12;
    private static final int FLAG_REMOVE_VLAN_TAGS = 1 << 8;

    private SocketLayout() {
    }

    static void putAddress(final MutableDirectBuffer buffer, final int protocol, final int interfaceIndex) {
        buffer.setMemory(0, ADDRESS_LENGTH_BYTES, (byte) 0);
        buffer.putShort(0, (short) AF_PACKET, ORDER);
        buffer.putShort(ADDRESS_PROTOCOL_OFFSET, (short) protocol, ByteOrder.BIG_ENDIAN);
        buffer.putInt(ADDRESS_INTERFACE_OFFSET, interfaceIndex, ORDER);
    }

    static void putRingRequest(
        final MutableDirectBuffer buffer, final int blockBytes, final int blockCount, final int timeoutMs) {
        buffer.setMemory(0, RING_REQUEST_LENGTH_BYTES, (byte) 0);
        buffer.putInt(0, blockBytes, ORDER);
        buffer.putInt(4, blockCount, ORDER);
        // Frames have variable length; the kernel only checks that these two fit the blocks.
        buffer.putInt(8, blockBytes, ORDER);
        buffer.putInt(12, blockCount, ORDER);
        buffer.putInt(16, timeoutMs, ORDER);
    }

    static void putMembership(final MutableDirectBuffer buffer, final int interfaceIndex, final int type) {
        buffer.setMemory(0, MEMBERSHIP_LENGTH_BYTES, (byte) 0);
        buffer.putInt(0, interfaceIndex, ORDER);
        buffer.putShort(MEMBERSHIP_TYPE_OFFSET, (short) type, ORDER);
    }

    /** The option's value: number of the group 2 octets, type and flags 2. */
    static void putFanout(final MutableDirectBuffer buffer, final int groupId, final int typeAndFlags) {
        buffer.putInt(0, groupId | typeAndFlags << Short.SIZE, ORDER);
    }

    static int fanoutGroupId(final DirectBuffer buffer) {
        return buffer.getInt(0, ORDER) & 0xffff;
    }

    static void putFilterProgram(final MutableDirectBuffer buffer, final int instructionCount, final long address) {
        buffer.setMemory(0, FILTER_PROGRAM_LENGTH_BYTES, (byte) 0);
        buffer.putShort(0, (short) instructionCount, ORDER);
        buffer.putLong(FILTER_ADDRESS_OFFSET, address, ORDER);
    }

    static long statisticsDrops(final DirectBuffer buffer) {
        return buffer.getInt(STATISTICS_DROPS_OFFSET, ORDER) & 0xffff_ffffL;
    }

    static void putInterfaceName(final MutableDirectBuffer buffer, final String name) {
        buffer.setMemory(0, INTERFACE_REQUEST_LENGTH_BYTES, (byte) 0);
        final byte[] octets = name.getBytes(StandardCharsets.UTF_8);
        buffer.putBytes(0, octets, 0, Math.min(octets.length, INTERFACE_NAME_LENGTH_BYTES - 1));
    }

    static void putInterfaceIndex(final MutableDirectBuffer buffer, final int interfaceIndex) {
        buffer.setMemory(0, INTERFACE_REQUEST_LENGTH_BYTES, (byte) 0);
        buffer.putInt(INTERFACE_VALUE_OFFSET, interfaceIndex, ORDER);
    }

    static void putInterfaceData(final MutableDirectBuffer buffer, final long address) {
        buffer.putLong(INTERFACE_VALUE_OFFSET, address, ORDER);
    }

    /** The hardware type after SIOCGIFHWADDR, the flags after SIOCGIFFLAGS. */
    static int interfaceShort(final DirectBuffer buffer) {
        return buffer.getShort(INTERFACE_VALUE_OFFSET, ORDER) & 0xffff;
    }

    /** After SIOCGIFMTU. */
    static int interfaceMtuBytes(final DirectBuffer buffer) {
        return buffer.getInt(INTERFACE_VALUE_OFFSET, ORDER);
    }

    static int channelsReceiving(final DirectBuffer buffer) {
        return buffer.getInt(CHANNELS_RECEIVING_OFFSET, ORDER) + buffer.getInt(CHANNELS_BOTH_WAYS_OFFSET, ORDER);
    }

    static boolean flagsRemoveVlanTags(final DirectBuffer buffer) {
        return (buffer.getInt(4, ORDER) & FLAG_REMOVE_VLAN_TAGS) != 0;
    }

    static int timestampReceiveFilter(final DirectBuffer buffer) {
        return buffer.getInt(TIMESTAMP_RECEIVE_FILTER_OFFSET, ORDER);
    }

    static void putTimestampReceiveFilter(final MutableDirectBuffer buffer, final int filter) {
        buffer.putInt(TIMESTAMP_RECEIVE_FILTER_OFFSET, filter, ORDER);
    }
}
