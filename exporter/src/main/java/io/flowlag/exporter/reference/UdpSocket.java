package io.flowlag.exporter.reference;

import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Reference;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;

import static io.flowlag.exporter.reference.UdpLayout.*;

/**
 * A non-blocking UDP socket of Linux, and its calls that Java does not offer. A filter discards received packets before they
 * take memory. One thread. Allocates at construction, and for a message when opening fails.
 */
final class UdpSocket implements AutoCloseable {
    private static final int ARGUMENT_LENGTH_BYTES = 64;
    private static final int CONTROL_LENGTH_BYTES = 256;
    private static final int CLOSED = -1;

    private final String name;
    private final boolean isIpv6;
    private final UnsafeBuffer argument = direct(ARGUMENT_LENGTH_BYTES);
    private final UnsafeBuffer message = direct(MESSAGE_LENGTH_BYTES);
    private final UnsafeBuffer control = direct(CONTROL_LENGTH_BYTES);
    private int fd;
    private int stampKind;
    private int stampKey;
    private long stampNs;

    private UdpSocket(final String name, final boolean isIpv6, final int fd) {
        this.name = name;
        this.isIpv6 = isIpv6;
        this.fd = fd;
    }

    /** Opens a socket that receives nothing; its name begins every message. */
    static UdpSocket open(final String name, final int family) {
        final int fd = CLibrary.socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            throw failure(name + ": no UDP socket", Errno.last());
        }
        final UdpSocket socket = new UdpSocket(name, family == AF_INET6, fd);
        try {
            socket.dropArrivals();
            if (socket.isIpv6) {
                socket.check("IPv6 only", socket.setInt(SOL_IPV6, IPV6_V6ONLY, 1));
            }
            return socket;
        } catch (final InjectionException ex) {
            socket.close();
            throw ex;
        }
    }

    private void dropArrivals() {
        final BpfProgram program = BpfProgram.accept(0);
        final UnsafeBuffer instructions = direct(program.instructionCount() * BpfProgram.INSTRUCTION_LENGTH_BYTES);
        program.encode(instructions, 0);
        putFilterProgram(argument, program.instructionCount(), instructions.addressOffset());
        check("filter", set(SOL_SOCKET, SO_ATTACH_FILTER, FILTER_PROGRAM_LENGTH_BYTES));
        Reference.reachabilityFence(instructions);
    }

    /** Lets all packets leave by one interface. */
    void bindToInterface(final String interfaceName) {
        final byte[] octets = interfaceName.getBytes(StandardCharsets.UTF_8);
        if (octets.length > MAXIMUM_INTERFACE_NAME_LENGTH_BYTES) {
            throw new InjectionException(name + ": " + interfaceName + ": no such interface", false);
        }
        argument.putBytes(0, octets);
        check("interface " + interfaceName, set(SOL_SOCKET, SO_BINDTODEVICE, octets.length));
    }

    /** Binds the socket to an address of this host, or the wildcard address, and a port, 0 for any. */
    void bind(final InetAddress address, final int port) {
        final int lengthBytes = putAddress(argument, address, scope(address), port);
        check("bind to " + address.getHostAddress() + " port " + port, CLibrary.bind(fd, argument.addressOffset(), lengthBytes));
    }

    /** Fixes where packets go, and by which route. */
    void connect(final InetAddress address, final int port) {
        final int lengthBytes = putAddress(argument, address, scope(address), port);
        check(address.getHostAddress() + " port " + port, LinuxLibrary.connect(fd, argument.addressOffset(), lengthBytes));
    }

    private static int scope(final InetAddress address) {
        return address instanceof Inet6Address ipv6 ? ipv6.getScopeId() : 0;
    }

    /** Marks all packets with an octet of the IP header: DSCP and two bits. */
    void trafficClass(final int trafficClass) {
        check("traffic class " + trafficClass,
            isIpv6 ? setInt(SOL_IPV6, IPV6_TCLASS, trafficClass) : setInt(SOL_IP, IP_TOS, trafficClass));
    }

    /**
     * Requests stamps of sent packets. Numbers begin at 0 with each call that requests numbers after one that did not. Returns
     * whether the kernel agrees.
     */
    boolean timestamping(final int flags) {
        return setInt(SOL_SOCKET, SO_TIMESTAMPING, flags) == 0;
    }

    /** Sends a packet that is outside the heap. Returns 0, or the error number. */
    int send(final UnsafeBuffer packet, final int lengthBytes) {
        return LinuxLibrary.send(fd, packet.addressOffset(), lengthBytes, MSG_DONTWAIT | MSG_NOSIGNAL) == lengthBytes ? 0 :
            Errno.last();
    }

    /**
     * Takes one stamp from the error queue. Returns whether there was one; then {@link #stampKind}, {@link #stampKey} and
     * {@link #stampNs} have it.
     */
    boolean takeStamp() {
        boolean isStamp = false;
        boolean isMessage = true;
        while (isMessage && !isStamp) {
            putMessage(message, control.addressOffset(), CONTROL_LENGTH_BYTES);
            isMessage = LinuxLibrary.recvmsg(fd, message.addressOffset(), MSG_ERRQUEUE | MSG_DONTWAIT) >= 0;
            isStamp = isMessage && readControl();
        }
        return isStamp;
    }

    private boolean readControl() {
        final int limit = Math.min(controlLengthBytes(message), CONTROL_LENGTH_BYTES);
        boolean hasTime = false;
        boolean hasKey = false;
        int offset = 0;
        while (offset + CONTROL_HEADER_LENGTH_BYTES <= limit) {
            final long lengthBytes = controlMessageLengthBytes(control, offset);
            if (lengthBytes < CONTROL_HEADER_LENGTH_BYTES || lengthBytes > limit - offset) {
                return false;
            }
            if (isTimestamp(control, offset)) {
                stampNs = timestampNs(control, offset);
                hasTime = stampNs != 0;
            } else if (isExtendedError(control, offset) && errorOrigin(control, offset) == ORIGIN_TIMESTAMPING) {
                stampKind = UdpLayout.stampKind(control, offset);
                stampKey = UdpLayout.stampKey(control, offset);
                hasKey = true;
            }
            offset += (int)(lengthBytes + Long.BYTES - 1) & -Long.BYTES;
        }
        return hasTime && hasKey;
    }

    int stampKind() {
        return stampKind;
    }

    int stampKey() {
        return stampKey;
    }

    long stampNs() {
        return stampNs;
    }

    @Override
    public void close() {
        if (fd != CLOSED) {
            CLibrary.close(fd);
            fd = CLOSED;
        }
    }

    /** Memory outside the heap, with an address for the kernel. */
    static UnsafeBuffer direct(final int lengthBytes) {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthBytes, Long.BYTES));
    }

    /** The wildcard address of this host. */
    static InetAddress anyAddress(final int family) {
        try {
            return InetAddress.getByAddress(new byte[family == AF_INET ? 4 : 16]);
        } catch (final java.net.UnknownHostException ex) {
            throw new IllegalStateException(ex);
        }
    }


    private int setInt(final int level, final int option, final int value) {
        argument.putInt(0, value);
        return set(level, option, Integer.BYTES);
    }

    private int set(final int level, final int option, final int lengthBytes) {
        return CLibrary.setsockopt(fd, level, option, argument.addressOffset(), lengthBytes);
    }

    private void check(final String what, final int result) {
        if (result < 0) {
            throw failure(name + ": " + what, Errno.last());
        }
    }

    private static InjectionException failure(final String what, final int errno) {
        final boolean isPermission = errno == Errno.EPERM || errno == Errno.EACCES;
        return new InjectionException(what + ": " + Errno.describe(errno) +
            (isPermission ? ": run with sudo, or give the process the capability CAP_NET_RAW" : ""), isPermission,
            errno == Errno.EADDRINUSE);
    }
}
