package io.flowlag.exporter.capture.route;

import com.sun.jna.Platform;
import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A netlink(7) socket for routes, their rules, and the interfaces, addresses and next hops that they depend on, in the network
 * namespace of the thread that opened it. Needs no privilege. Takes datagrams of the kernel alone. One thread.
 */
final class RouteSocket implements AutoCloseable {
    /** The kernel dropped messages, or one is longer than the buffer. */
    static final int OVERRUN = -1;
    static final int GET_ROUTE = 26;
    static final int GET_RULE = 34;

    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW_CLOEXEC_NONBLOCK = 3 | 0x80000 | 0x800;
    private static final int NETLINK_ROUTE = 0;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RECEIVE_BUFFER = 8;
    private static final int SOL_NETLINK = 270;
    private static final int ADD_MEMBERSHIP = 1;
    /** Links, then of IPv4 addresses, routes and rules, then of IPv6. */
    private static final int[] GROUPS = {1, 5, 7, 8, 9, 11, 19};
    /** Next-hop objects; kernels before 5.3 have none. */
    private static final int GROUP_NEXT_HOPS = 32;
    /** {@code sockaddr_nl}: family 2, padding 2, port 4 (0 is the kernel), groups 4. */
    private static final int ADDRESS_LENGTH_BYTES = 12;
    private static final int FLAGS_REQUEST_DUMP = 0x1 | 0x300;
    private static final int REQUEST_LENGTH_BYTES = RouteReader.HEADER_LENGTH_BYTES + RouteReader.BODY_LENGTH_BYTES;
    private static final int MSG_TRUNC = 0x20;
    private static final int BUFFER_LENGTH_BYTES = 1 << 16;
    private static final int RECEIVE_BUFFER_LENGTH_BYTES = 1 << 20;
    private static final int CLOSED = -1;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final ByteBuffer memory = BufferUtil.allocateDirectAligned(BUFFER_LENGTH_BYTES, Long.BYTES);
    private final CheckedBuffer buffer = new CheckedBuffer(BufferUtil.address(memory), BUFFER_LENGTH_BYTES);
    private int fd;

    /** Opens a socket that receives changes from now on. */
    RouteSocket() {
        fd = Platform.isLinux() ? CLibrary.socket(AF_NETLINK, SOCK_RAW_CLOEXEC_NONBLOCK, NETLINK_ROUTE) : CLOSED;
        if (fd < 0) {
            throw failure(Platform.isLinux() ? Errno.describe(Errno.last()) : "needs Linux");
        }
        set(SOL_SOCKET, SO_RECEIVE_BUFFER, RECEIVE_BUFFER_LENGTH_BYTES);
        set(SOL_NETLINK, ADD_MEMBERSHIP, GROUP_NEXT_HOPS);
        for (final int group : GROUPS) {
            check(set(SOL_NETLINK, ADD_MEMBERSHIP, group));
        }
        buffer.setMemory(0, ADDRESS_LENGTH_BYTES, (byte)0);
        buffer.putShort(0, (short)AF_NETLINK, ORDER);
        check(LinuxLibrary.connect(fd, buffer.addressOffset(), ADDRESS_LENGTH_BYTES));
    }

    private int set(final int level, final int option, final int value) {
        buffer.putInt(0, value, ORDER);
        return CLibrary.setsockopt(fd, level, option, buffer.addressOffset(), Integer.BYTES);
    }

    private void check(final int result) {
        if (result < 0) {
            final String reason = Errno.describe(Errno.last());
            close();
            throw failure(reason);
        }
    }

    private static CaptureException failure(final String reason) {
        return new CaptureException(Kind.UNAVAILABLE, "the kernel's routing table cannot be read: " + reason +
            ": list the segments in place of 'auto'");
    }

    /** Asks for a dump of all families; its messages come as datagrams. Returns whether the kernel took the request. */
    boolean requestDump(final int type) {
        buffer.setMemory(0, REQUEST_LENGTH_BYTES, (byte)0);
        buffer.putInt(0, REQUEST_LENGTH_BYTES, ORDER);
        buffer.putShort(RouteReader.TYPE_OFFSET, (short)type, ORDER);
        buffer.putShort(RouteReader.FLAGS_OFFSET, (short)FLAGS_REQUEST_DUMP, ORDER);
        return LinuxLibrary.send(fd, buffer.addressOffset(), REQUEST_LENGTH_BYTES, 0) == REQUEST_LENGTH_BYTES;
    }

    /** Takes a datagram, without waiting. Returns its octets, which {@link #buffer()} has; 0 if there is none; or OVERRUN. */
    int receive() {
        final long lengthBytes = LinuxLibrary.recv(fd, buffer.addressOffset(), BUFFER_LENGTH_BYTES, MSG_TRUNC);
        if (lengthBytes < 0) {
            return Errno.last() == Errno.ENOBUFS ? OVERRUN : 0;
        }
        return lengthBytes > BUFFER_LENGTH_BYTES ? OVERRUN : (int)lengthBytes;
    }

    CheckedBuffer buffer() {
        return buffer;
    }

    @Override
    public void close() {
        if (fd != CLOSED) {
            CLibrary.close(fd);
            fd = CLOSED;
        }
    }
}
