package io.flowlag.exporter.capture.afpacket;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.capture.posix.PollSet;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Reference;
import java.util.List;

import static io.flowlag.exporter.capture.afpacket.SocketLayout.*;

/**
 * A packet socket, packet(7), and its calls. It is created for protocol 0, so until {@link #bind} it receives nothing and the
 * filter is attached before the first packet. Owned by one thread. Calls with an interface name, a filter, or a failure allocate.
 */
public final class PacketSocket implements AutoCloseable {
    /** The end of messages about eBPF: the way out. */
    static final String WITHOUT_EBPF = "the source 'afpacket' does without";

    private static final int ARGUMENT_LENGTH_BYTES = 64;
    private static final int DATA_LENGTH_BYTES = 64;
    private static final int CLOSED = -1;

    private final String interfaceName;
    private final UnsafeBuffer argument =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(ARGUMENT_LENGTH_BYTES, Long.BYTES));
    private final PollSet poll = new PollSet(1);
    private final UnsafeBuffer data = new UnsafeBuffer(BufferUtil.allocateDirectAligned(DATA_LENGTH_BYTES, Long.BYTES));
    private int fd;

    private PacketSocket(final String interfaceName, final int fd) {
        this.interfaceName = interfaceName;
        this.fd = fd;
    }

    /** Opens a socket that receives nothing yet, if requested without link headers, which the kernel then removes. */
    public static PacketSocket open(final String interfaceName, final boolean withoutLinkHeader) {
        final int fd = CLibrary.socket(AF_PACKET, (withoutLinkHeader ? SOCK_DGRAM : SOCK_RAW) | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            throw openFailure(interfaceName, Errno.last());
        }
        return new PacketSocket(interfaceName, fd);
    }

    private static CaptureException openFailure(final String interfaceName, final int errno) {
        if (errno == Errno.EPERM || errno == Errno.EACCES) {
            return new CaptureException(Kind.NO_PERMISSION, interfaceName +
                ": capturing needs the capability CAP_NET_RAW: run with sudo, or let systemd give it" +
                " (AmbientCapabilities=CAP_NET_RAW), or give it to the java binary (setcap cap_net_raw+ep)");
        }
        return new CaptureException(Kind.UNAVAILABLE, interfaceName + ": no packet socket: " + Errno.describe(errno) +
            ": use the source 'pcap'");
    }

    /** {@return the kernel's number for the hardware type of an interface} */
    public int hardwareType() {
        putInterfaceName(argument, interfaceName);
        check("hardware type", CLibrary.ioctl(fd, SIOCGIFHWADDR, argument.addressOffset()));
        return interfaceShort(argument);
    }

    public boolean isInterfaceUp() {
        putInterfaceName(argument, interfaceName);
        return CLibrary.ioctl(fd, SIOCGIFFLAGS, argument.addressOffset()) == 0 &&
            (interfaceShort(argument) & INTERFACE_UP) != 0;
    }

    /**
     * Whether an interface index still exists in the socket's network namespace, under any name. Returns false once the
     * interface was removed or moved to another namespace.
     */
    public boolean hasInterface(final int interfaceIndex) {
        putInterfaceIndex(argument, interfaceIndex);
        return CLibrary.ioctl(fd, SIOCGIFNAME, argument.addressOffset()) == 0 || Errno.last() != Errno.ENODEV;
    }

    /** The longest IP packet that the link carries. Returns octets, as it is now; 0 if the interface is not there. */
    public int mtuBytes(final int interfaceIndex) {
        putInterfaceIndex(argument, interfaceIndex);
        // The second call reads the name where the first one wrote it.
        return CLibrary.ioctl(fd, SIOCGIFNAME, argument.addressOffset()) == 0 &&
            CLibrary.ioctl(fd, SIOCGIFMTU, argument.addressOffset()) == 0 ? interfaceMtuBytes(argument) : 0;
    }

    /** {@return the receive queues of the interface; 1 if the driver does not tell} */
    public int receiveQueueCount() {
        return hasAnswered(ETHTOOL_GET_CHANNELS) ? Math.max(1, channelsReceiving(data)) : 1;
    }

    /** {@return whether the card removes VLAN tags from arriving frames} */
    public boolean removesVlanTags() {
        return hasAnswered(ETHTOOL_GET_FLAGS) && flagsRemoveVlanTags(data);
    }

    private boolean hasAnswered(final int ethtoolCommand) {
        data.setMemory(0, DATA_LENGTH_BYTES, (byte)0);
        data.putInt(0, ethtoolCommand);
        putInterfaceName(argument, interfaceName);
        putInterfaceData(argument, data.addressOffset());
        return CLibrary.ioctl(fd, SIOCETHTOOL, argument.addressOffset()) == 0;
    }

    /** Requests the ring; a block that is not full is passed on after the timeout. */
    void requestRing(final int blockBytes, final int blockCount, final int timeoutMs) {
        check("PACKET_VERSION", setInt(SOL_PACKET, PACKET_VERSION, TPACKET_V3));
        putRingRequest(argument, blockBytes, blockCount, timeoutMs);
        check("ring of " + (long) blockBytes * blockCount + " octets in blocks of " + blockBytes,
            set(SOL_PACKET, PACKET_RX_RING, RING_REQUEST_LENGTH_BYTES));
    }

    /** Maps the ring into the process. */
    long map(final long lengthBytes) {
        final long address = CLibrary.mmap(0, lengthBytes, PROTECTION_READ_WRITE, MAP_SHARED, fd, 0);
        check("mapping of the ring", address == -1 ? -1 : 0);
        return address;
    }

    /** Fails if the kernel does not take so long a program. */
    void requireShort(final BpfProgram program) {
        if (program.instructionCount() > BpfProgram.MAX_KERNEL_INSTRUCTIONS) {
            throw new CaptureException(Kind.BAD_FILTER, interfaceName + ": the filter has " + program.instructionCount() +
                " instructions, the kernel takes " + BpfProgram.MAX_KERNEL_INSTRUCTIONS + ": use a simpler filter");
        }
    }

    /** Attaches a program that the kernel runs on every packet. */
    void attachFilter(final BpfProgram program) {
        requireShort(program);
        final UnsafeBuffer instructions = new UnsafeBuffer(BufferUtil.allocateDirectAligned(
            program.instructionCount() * BpfProgram.INSTRUCTION_LENGTH_BYTES, Long.BYTES));
        program.encode(instructions, 0);
        putFilterProgram(argument, program.instructionCount(), instructions.addressOffset());
        check("filter", set(SOL_SOCKET, SO_ATTACH_FILTER, FILTER_PROGRAM_LENGTH_BYTES));
        Reference.reachabilityFence(instructions);
    }

    /** Attaches a loaded eBPF program instead. */
    void attachProgram(final int programFd) {
        check("SO_ATTACH_BPF", setInt(SOL_SOCKET, SO_ATTACH_BPF, programFd));
    }

    /**
     * Tells the kernel to skip outgoing packets, which the filter would refuse anyway. Kernels before 4.20 cannot; that is no
     * error.
     */
    void ignoreOutgoing() {
        setInt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
    }

    /** Begins to receive. An interface that is down is no error: its packets come when it is up. */
    void bind(final int interfaceIndex) {
        putAddress(argument, PROTOCOL_ALL, interfaceIndex);
        check("bind", CLibrary.bind(fd, argument.addressOffset(), ADDRESS_LENGTH_BYTES));
        clearError();
    }

    /**
     * Begins a group of sockets that share the packets of the interface by a hash of addresses and ports. Call it when bound.
     * Returns the number of the group, which no other process has.
     */
    int beginGroup() {
        putFanout(argument, 0, FANOUT_HASH | FANOUT_FLAG_UNIQUE_ID);
        checkGroup(set(SOL_PACKET, PACKET_FANOUT, Integer.BYTES));
        checkGroup(get(SOL_PACKET, PACKET_FANOUT, Integer.BYTES));
        return fanoutGroupId(argument);
    }

    /** Joins a group that {@link #beginGroup} began. Call it when bound. */
    void joinGroup(final int groupId) {
        putFanout(argument, groupId, FANOUT_HASH);
        checkGroup(set(SOL_PACKET, PACKET_FANOUT, Integer.BYTES));
    }

    /**
     * Stops receiving for a member of a group, which the kernel does not release: refuses every packet from now on. Closing any
     * packet socket makes the kernel wait for packets under way, so a further one is opened and closed.
     */
    void refuse() {
        attachFilter(BpfProgram.accept(0));
        final int other = CLibrary.socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
        if (other >= 0) {
            CLibrary.close(other);
        }
    }

    /** Stops receiving. When this call returns, the kernel has no packet left on its way to the ring. */
    void unbind(final int interfaceIndex) {
        attachFilter(BpfProgram.accept(0));
        putAddress(argument, PROTOCOL_EXPERIMENTAL, interfaceIndex);
        if (CLibrary.bind(fd, argument.addressOffset(), ADDRESS_LENGTH_BYTES) != 0 && Errno.last() != Errno.ENODEV) {
            throw failure("unbind", Errno.last());
        }
    }

    /** Requests frames addressed to other stations. */
    public void joinPromiscuous(final int interfaceIndex) {
        putMembership(argument, interfaceIndex, MEMBERSHIP_PROMISCUOUS);
        check("promiscuous mode", set(SOL_PACKET, PACKET_ADD_MEMBERSHIP, MEMBERSHIP_LENGTH_BYTES));
    }

    /**
     * Makes the kernel stamp a packet once, before it passes it to any socket. Otherwise each socket stamps its own copy; the
     * more sockets, the later, and any interruption between them adds to it.
     */
    void stampBeforeCopying() {
        check("SO_TIMESTAMPNS", setInt(SOL_SOCKET, SO_TIMESTAMPNS, 1));
    }

    /**
     * Makes the driver stamp all arriving packets, and the ring show those stamps. Returns null on success, else the reason for
     * the failure.
     */
    String enableHardwareTimestamps() {
        data.setMemory(0, TIMESTAMP_CONFIG_LENGTH_BYTES, (byte) 0);
        putInterfaceName(argument, interfaceName);
        putInterfaceData(argument, data.addressOffset());
        // Keeps the transmission settings of other programs, such as ptp4l.
        if (CLibrary.ioctl(fd, SIOCGHWTSTAMP, argument.addressOffset()) != 0) {
            data.setMemory(0, TIMESTAMP_CONFIG_LENGTH_BYTES, (byte) 0);
        }
        if (timestampReceiveFilter(data) != TIMESTAMP_FILTER_ALL) {
            putTimestampReceiveFilter(data, TIMESTAMP_FILTER_ALL);
            if (CLibrary.ioctl(fd, SIOCSHWTSTAMP, argument.addressOffset()) != 0) {
                final int errno = Errno.last();
                return errno == Errno.ERANGE ? "not offered by the driver" : Errno.describe(errno);
            }
            if (timestampReceiveFilter(data) != TIMESTAMP_FILTER_ALL) {
                return "the driver stamps some packets only";
            }
        }
        return setInt(SOL_PACKET, PACKET_TIMESTAMP, TIMESTAMP_RAW_HARDWARE) == 0 ? null : Errno.describe(Errno.last());
    }

    /** {@return packets that the kernel dropped since the last call} */
    long takeDropCount() {
        return get(SOL_PACKET, PACKET_STATISTICS, STATISTICS_LENGTH_BYTES) == 0 ? statisticsDrops(argument) : 0;
    }

    /** Waits for a block. An error, such as an interface that goes down, ends the wait early, once. */
    boolean await(final int timeoutMs) {
        poll.put(0, fd);
        poll.await(timeoutMs);
        if (poll.hasError(0)) {
            clearError();
        }
        return poll.isReadable(0);
    }

    /** Clears the error that the kernel stored on the socket, if any: reading does. */
    private void clearError() {
        get(SOL_SOCKET, SO_ERROR, Integer.BYTES);
    }

    public boolean isOpen() {
        return fd != CLOSED;
    }

    /** {@return the file descriptor; -1 when closed} */
    int descriptor() {
        return fd;
    }

    @Override
    public void close() {
        if (fd != CLOSED) {
            CLibrary.close(fd);
            fd = CLOSED;
        }
    }

    private int setInt(final int level, final int option, final int value) {
        argument.putInt(0, value);
        return set(level, option, Integer.BYTES);
    }

    private int set(final int level, final int option, final int lengthBytes) {
        return CLibrary.setsockopt(fd, level, option, argument.addressOffset(), lengthBytes);
    }

    private int get(final int level, final int option, final int lengthBytes) {
        data.putInt(0, lengthBytes);
        return CLibrary.getsockopt(fd, level, option, argument.addressOffset(), data.addressOffset());
    }

    private void check(final String what, final int result) {
        if (result < 0) {
            throw failure(what, Errno.last());
        }
    }

    private void checkGroup(final int result) {
        if (result < 0) {
            throw new CaptureException(Kind.UNAVAILABLE, interfaceName + ": packets cannot be shared out between sockets (" +
                Errno.describe(Errno.last()) + "): Linux 4.12 or newer can");
        }
    }

    private CaptureException failure(final String what, final int errno) {
        final String reason = interfaceName + ": " + what + ": " + Errno.describe(errno);
        switch (errno) {
            case Errno.EPERM:
            case Errno.EACCES:
                return openFailure(interfaceName, errno);
            case Errno.ENODEV:
            case Errno.ENXIO:
                return unknownInterface(interfaceName);
            case Errno.ENOMEM:
                return new CaptureException(Kind.UNAVAILABLE, reason + ": make the ring smaller");
            default:
                return new CaptureException(Kind.UNAVAILABLE, reason + ": the source 'pcap' may do");
        }
    }

    /** Names the interface in the refusal of a ring by eBPF. Returns the exception to throw. */
    CaptureException ebpfFailure(final CaptureException ex) {
        return new CaptureException(ex.kind(), interfaceName + ": " + ex.getMessage() + ": " + WITHOUT_EBPF);
    }

    /** The error for an interface that does not exist. Returns the exception to throw. */
    public static CaptureException unknownInterface(final String interfaceName) {
        final List<String> names = NetworkInterfaces.names();
        return new CaptureException(Kind.NO_INPUT, interfaceName + ": no such interface; there " +
            (names.isEmpty() ? "is none" : "are " + String.join(", ", names)));
    }
}
