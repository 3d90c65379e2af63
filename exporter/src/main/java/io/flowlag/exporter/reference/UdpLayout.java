package io.flowlag.exporter.reference;

import io.flowlag.common.time.Nanoseconds;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteOrder;

/**
 * The layouts and numbers of UDP sockets with transmit timestamps, as in Linux's {@code socket.h}, {@code in.h}, {@code in6.h},
 * {@code net_tstamp.h} and {@code errqueue.h} on 64-bit little-endian machines. In the machine's byte order unless said
 * otherwise. Stateless.
 * <pre>
 *   sockaddr_in        family 2, port 2 (network order), address 4 (network order), zero 8
 *   sockaddr_in6       family 2, port 2 (network order), flow 4, address 16, scope 4
 *   msghdr             name 8, name length 4, (4), vector 8, vector length 8, control 8, control length 8, flags 4, (4)
 *   iovec              address 8, length 8
 *   cmsghdr            length 8 (with this header), level 4, type 4, then data; the next begins at a multiple of 8
 *   scm_timestamping   three times: seconds 8, nanoseconds 8; software, (unused), hardware
 *   sock_extended_err  errno 4, origin 1, type 1, code 1, (1), info 4, data 4
 * </pre>
 */
final class UdpLayout {
    static final int AF_INET = 2;
    static final int AF_INET6 = 10;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_NONBLOCK = 0x800;
    static final int SOCK_CLOEXEC = 0x80000;

    static final int SOL_IP = 0;
    static final int SOL_SOCKET = 1;
    static final int SOL_IPV6 = 41;
    static final int IP_TOS = 1;
    static final int IPV6_V6ONLY = 26;
    static final int IPV6_TCLASS = 67;
    static final int SO_BINDTODEVICE = 25;
    static final int SO_ATTACH_FILTER = 26;
    static final int SO_TIMESTAMPING = 37;

    /**
     * In turn: stamps by software before the driver; reported as software's; numbered; before the queueing discipline; without
     * packet.
     */
    static final int TIMESTAMPING_TX_SOFTWARE = 1 << 1;
    static final int TIMESTAMPING_SOFTWARE = 1 << 4;
    static final int TIMESTAMPING_OPT_ID = 1 << 7;
    static final int TIMESTAMPING_TX_SCHED = 1 << 8;
    static final int TIMESTAMPING_OPT_TSONLY = 1 << 11;

    static final int MSG_DONTWAIT = 0x40;
    static final int MSG_ERRQUEUE = 0x2000;
    static final int MSG_NOSIGNAL = 0x4000;

    static final int ORIGIN_TIMESTAMPING = 4;
    static final int STAMP_SENT = 0;
    static final int STAMP_SCHEDULED = 1;

    static final int MAXIMUM_ADDRESS_LENGTH_BYTES = 28;
    static final int MESSAGE_LENGTH_BYTES = 56;
    static final int CONTROL_HEADER_LENGTH_BYTES = 16;
    static final int FILTER_PROGRAM_LENGTH_BYTES = 16;
    static final int MAXIMUM_INTERFACE_NAME_LENGTH_BYTES = 15;

    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int IPV4_ADDRESS_LENGTH_BYTES = 16;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_ADDRESS_OFFSET = PORT_OFFSET + 2;
    private static final int IPV6_ADDRESS_OFFSET = PORT_OFFSET + 2 + 4;
    private static final int IPV6_SCOPE_OFFSET = IPV6_ADDRESS_OFFSET + 16;
    private static final int VECTOR_OFFSET = 16;
    private static final int CONTROL_OFFSET = VECTOR_OFFSET + 16;
    private static final int CONTROL_LENGTH_OFFSET = CONTROL_OFFSET + 8;
    private static final int CONTROL_LEVEL_OFFSET = 8;
    private static final int CONTROL_TYPE_OFFSET = CONTROL_LEVEL_OFFSET + 4;
    private static final int ERROR_ORIGIN_OFFSET = 4;
    private static final int ERROR_INFO_OFFSET = 8;
    private static final int ERROR_DATA_OFFSET = ERROR_INFO_OFFSET + 4;
    private static final int IP_RECEIVE_ERROR = 11;
    private static final int IPV6_RECEIVE_ERROR = 25;

    private UdpLayout() {
    }

    static int family(final InetAddress address) {
        return address instanceof Inet4Address ? AF_INET : AF_INET6;
    }

    /** Writes a socket address; returns its length in octets. */
    static int putAddress(
        final MutableDirectBuffer buffer, final InetAddress address, final int scope, final int port) {
        buffer.setMemory(0, MAXIMUM_ADDRESS_LENGTH_BYTES, (byte)0);
        buffer.putShort(0, (short)family(address), ORDER);
        buffer.putShort(PORT_OFFSET, (short)port, ByteOrder.BIG_ENDIAN);
        if (address instanceof Inet4Address) {
            buffer.putBytes(IPV4_ADDRESS_OFFSET, address.getAddress());
            return IPV4_ADDRESS_LENGTH_BYTES;
        }
        buffer.putBytes(IPV6_ADDRESS_OFFSET, address.getAddress());
        buffer.putInt(IPV6_SCOPE_OFFSET, scope, ORDER);
        return MAXIMUM_ADDRESS_LENGTH_BYTES;
    }

    static void putFilterProgram(final MutableDirectBuffer buffer, final int instructionCount, final long address) {
        buffer.setMemory(0, FILTER_PROGRAM_LENGTH_BYTES, (byte)0);
        buffer.putShort(0, (short)instructionCount, ORDER);
        buffer.putLong(8, address, ORDER);
    }

    /** A message of which only the control data is requested. */
    static void putMessage(final MutableDirectBuffer message, final long controlAddress, final int controlLengthBytes) {
        message.setMemory(0, MESSAGE_LENGTH_BYTES, (byte)0);
        message.putLong(CONTROL_OFFSET, controlAddress, ORDER);
        message.putLong(CONTROL_LENGTH_OFFSET, controlLengthBytes, ORDER);
    }

    static int controlLengthBytes(final DirectBuffer message) {
        return (int)message.getLong(CONTROL_LENGTH_OFFSET, ORDER);
    }

    /** Octets of one control message, header included. */
    static long controlMessageLengthBytes(final DirectBuffer control, final int offset) {
        return control.getLong(offset, ORDER);
    }

    static boolean isTimestamp(final DirectBuffer control, final int offset) {
        return control.getInt(offset + CONTROL_LEVEL_OFFSET, ORDER) == SOL_SOCKET &&
            control.getInt(offset + CONTROL_TYPE_OFFSET, ORDER) == SO_TIMESTAMPING;
    }

    static boolean isExtendedError(final DirectBuffer control, final int offset) {
        final int level = control.getInt(offset + CONTROL_LEVEL_OFFSET, ORDER);
        final int type = control.getInt(offset + CONTROL_TYPE_OFFSET, ORDER);
        return level == SOL_IP && type == IP_RECEIVE_ERROR || level == SOL_IPV6 && type == IPV6_RECEIVE_ERROR;
    }

    /** The software stamp, ns since 1970. */
    static long timestampNs(final DirectBuffer control, final int offset) {
        final int data = offset + CONTROL_HEADER_LENGTH_BYTES;
        return control.getLong(data, ORDER) * Nanoseconds.PER_SECOND + control.getLong(data + 8, ORDER);
    }

    static int errorOrigin(final DirectBuffer control, final int offset) {
        return control.getByte(offset + CONTROL_HEADER_LENGTH_BYTES + ERROR_ORIGIN_OFFSET) & 0xFF;
    }

    /** Where the stamp was taken. */
    static int stampKind(final DirectBuffer control, final int offset) {
        return control.getInt(offset + CONTROL_HEADER_LENGTH_BYTES + ERROR_INFO_OFFSET, ORDER);
    }

    /** The index of the stamp's packet among those of the socket, from 0. */
    static int stampKey(final DirectBuffer control, final int offset) {
        return control.getInt(offset + CONTROL_HEADER_LENGTH_BYTES + ERROR_DATA_OFFSET, ORDER);
    }
}
