package io.flowlag.exporter.capture.afpacket;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketFilter;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.filter.BpfCompiler;
import io.flowlag.exporter.capture.filter.BpfFilter;
import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import org.agrona.CloseHelper;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Packets of a Linux interface from a {@link SocketRing}: the kernel's, or one that an eBPF program fills. Owned by one thread.
 * Packets are handed over in the ring's memory: no system call and no allocation per packet. Every {@value
 * #HOUSEKEEPING_INTERVAL_MS} ms four system calls read the kernel's drops and the MTU, and check that the interface still
 * exists; each request for the drops costs one more. Memory: the ring, outside the heap, until {@link #close}.
 * <p>
 * The kernel removes the outer VLAN tag of an arriving packet from the frame; {@code vlanTag} has it, and its four octets count
 * in {@code wireLengthBytes}. A packet that leaves has its tag where the sender put it.
 * <p>
 * Timestamps are the kernel's, nanoseconds since the UNIX epoch, taken when it hands the packet to captures. On arrival that is
 * in the softirq, behind the card's own ring; on leaving it is behind the queueing discipline. The network card stamps arriving
 * packets only, so its stamps need direction {@code IN}; a packet without one has the kernel's, and is counted. An eBPF program
 * reads the clock itself, later: behind the queues of receive packet steering and of virtual interfaces.
 */
public final class AfPacketSource extends LivePacketSource {
    /** How long to wait for the last block of an interface that is gone, if the kernel does not pass it on. */
    private static final long DRAIN_DEADLINE_NS = TimeUnit.SECONDS.toNanos(2);

    private final boolean wantsCardStamps;
    private final boolean wantsWays;
    private final PacketFilter cookedFilter;
    private final PacketSocket socket;
    private final SocketRing ring;
    private final FanoutGroup group;

    private long filteredCount;
    private long kernelStampedCount;

    private AfPacketSource(
        final LiveCaptureOptions options,
        final int interfaceId,
        final LinkMode linkLayer,
        final PacketSocket socket,
        final SocketRing ring,
        final FanoutGroup group,
        final List<String> notices) {
        super(options.interfaceName(), new CapturedPacket(ring.buffer(), linkLayer.linkType(), interfaceId), notices);
        this.wantsCardStamps = options.hardwareTimestamps();
        this.wantsWays = options.direction() == Direction.EACH;
        this.cookedFilter = linkLayer.isCooked() && options.hasFilter() ?
            new BpfFilter(BpfCompiler.compile(options.filterExpression(), linkType(), options.snapLengthBytes())) :
            FilterSupplier.ALL.filterFor(linkType());
        this.socket = socket;
        mtuBytes = socket.mtuBytes(interfaceId);
        this.ring = ring;
        this.group = group;
    }

    /**
     * Opens an interface.
     *
     * @return the source; packets that arrive from now on are in it.
     * @throws CaptureException if that fails; its message says what to do.
     */
    public static AfPacketSource open(final LiveCaptureOptions options) {
        return openAny(options, 1, false).get(0);
    }

    /**
     * Opens several sources on one interface. The kernel shares the packets out: packets between the same two addresses and
     * ports, in either direction, go to the same source. Fragments are assigned by addresses alone, so the fragments of a
     * datagram stay together, but apart from whole packets between the same ports. Each source has its own ring. A source ends
     * when no source of the group receives packets.
     *
     * @param count of sources, 1 or more.
     * @return the sources, one per thread; packets that arrive from now on are in one of them.
     * @throws CaptureException if a socket cannot be opened; the message says what to do.
     */
    public static List<AfPacketSource> openGroup(final LiveCaptureOptions options, final int count) {
        return openAny(options, count, true);
    }

    private static List<AfPacketSource> openAny(final LiveCaptureOptions options, final int count, final boolean isShared) {
        if (options.kind() != LiveCaptureOptions.Kind.AUTO) {
            return openAll(options, count, new FanoutGroup(count, isShared));
        }
        try {
            if (options.hardwareTimestamps()) {
                throw new CaptureException(Kind.UNAVAILABLE, options.interfaceName() + ": eBPF does not see the card's" +
                    " timestamps: " + PacketSocket.WITHOUT_EBPF);
            }
            return openAny(options.withKind(LiveCaptureOptions.Kind.EBPF), count, isShared);
        } catch (final CaptureException ex) {
            final List<AfPacketSource> sources = openAny(options.withKind(LiveCaptureOptions.Kind.AFPACKET), count, isShared);
            sources.get(0).notice(ex.getMessage() + ", and is used");
            return sources;
        }
    }

    private static List<AfPacketSource> openAll(final LiveCaptureOptions options, final int count, final FanoutGroup group) {
        requireSupportedSystem(options.interfaceName());
        final int interfaceId = NetworkInterfaces.indexOf(options.interfaceName());
        if (interfaceId == 0) {
            throw PacketSocket.unknownInterface(options.interfaceName());
        }
        final LinkMode linkLayer;
        final boolean isLoopback;
        try (PacketSocket socket = PacketSocket.open(options.interfaceName(), false)) {
            final int hardwareType = socket.hardwareType();
            linkLayer = LinkMode.of(hardwareType);
            isLoopback = hardwareType == LinkMode.HARDWARE_LOOPBACK;
            if (linkLayer == null) {
                throw new CaptureException(Kind.UNAVAILABLE, options.interfaceName() +
                    ": packets of hardware type " + hardwareType + " cannot be metered: choose another interface");
            }
            if (options.kind() == LiveCaptureOptions.Kind.EBPF && linkLayer.isCooked()) {
                throw new CaptureException(Kind.UNAVAILABLE, options.interfaceName() +
                    ": eBPF takes packets with an Ethernet header or none: " + PacketSocket.WITHOUT_EBPF);
            }
        }
        final BpfProgram program = kernelProgram(options, linkLayer, isLoopback);
        final List<AfPacketSource> sources = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                // No member receives before all have joined: until then the kernel would distribute packets differently, or
                // twice.
                sources.add(open(options, interfaceId, linkLayer, isLoopback, group));
            }
            sources.forEach((source) -> source.ring.attach(program));
            return sources;
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
    }

    private static AfPacketSource open(
        final LiveCaptureOptions options,
        final int interfaceId,
        final LinkMode linkLayer,
        final boolean isLoopback,
        final FanoutGroup group) {
        final List<String> notices = new ArrayList<>();
        final PacketSocket socket = PacketSocket.open(options.interfaceName(), linkLayer.isCooked());
        SocketRing ring = null;
        try {
            if (options.kind() == LiveCaptureOptions.Kind.AFPACKET) {
                socket.stampBeforeCopying();
            }
            if (options.hardwareTimestamps()) {
                enableHardwareTimestamps(options, socket, notices);
            }
            if (!socket.isInterfaceUp()) {
                notices.add(options.interfaceName() + ": the interface is down: packets come when it is up");
            }
            ring = options.kind() == LiveCaptureOptions.Kind.EBPF ? EbpfRing.create(socket, options) :
                new PacketRing(socket, options, linkLayer.isCooked());
            final AfPacketSource source = new AfPacketSource(options, interfaceId, linkLayer, socket, ring, group, notices);
            socket.attachFilter(BpfProgram.accept(0));
            if (options.direction() == Direction.IN) {
                socket.ignoreOutgoing();
            }
            socket.bind(interfaceId);
            join(group, socket, options.interfaceName());
            if (options.promiscuous() && !isLoopback) {
                socket.joinPromiscuous(interfaceId);
            }
            return source;
        } catch (final RuntimeException ex) {
            if (ring != null) {
                ring.close();
            }
            socket.close();
            throw ex;
        }
    }

    private static void join(final FanoutGroup group, final PacketSocket socket, final String interfaceName) {
        try {
            group.join(socket);
        } catch (final CaptureException ex) {
            throw new CaptureException(Kind.UNAVAILABLE, (socket.isInterfaceUp() ? ex.getMessage() : interfaceName +
                ": the interface is down, and the kernel shares out packets of one that is up: bring it up first") +
                ", or set threading to pipelined or shared");
        }
    }

    private static void requireSupportedSystem(final String interfaceName) {
        final boolean isKnown = Platform.isLinux() && Platform.is64Bit() && (Platform.isIntel() || Platform.isARM()) &&
            ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        if (!isKnown) {
            throw new CaptureException(Kind.UNAVAILABLE, interfaceName +
                ": the packet ring is read on 64-bit Linux on x86 and ARM only: use the source 'pcap'");
        }
    }

    /**
     * The program that the kernel runs on each packet: direction, expression, snap length. On the loopback interface each
     * packet is seen twice, leaving and arriving; there both directions mean the arriving one. Cooked headers are written by
     * the process, so their filter runs in the process.
     */
    private static BpfProgram kernelProgram(
        final LiveCaptureOptions options, final LinkMode linkLayer, final boolean isLoopback) {
        final BpfProgram wanted = options.hasFilter() && !linkLayer.isCooked() ?
            BpfCompiler.compileForInterface(options.filterExpression(), options.interfaceName(), linkLayer.linkType(),
                options.snapLengthBytes()) :
            BpfProgram.accept(options.snapLengthBytes());
        final boolean areBoth = options.direction() == Direction.BOTH || options.direction() == Direction.EACH;
        if (areBoth && !isLoopback) {
            return wanted;
        }
        return wanted.forDirection(options.direction() == Direction.OUT);
    }

    private static void enableHardwareTimestamps(
        final LiveCaptureOptions options, final PacketSocket socket, final List<String> notices) {
        final String refusal = options.kind() == LiveCaptureOptions.Kind.EBPF ? "eBPF does not see them" :
            options.direction() == Direction.IN ? socket.enableHardwareTimestamps() :
            "they exist for direction 'in' only, and two clocks must not mix";
        if (refusal != null) {
            notices.add(options.interfaceName() + ": no hardware timestamps (" + refusal + "): the kernel's are used");
        }
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        if (!socket.isOpen()) {
            return END_OF_SOURCE;
        }
        int taken = 0;
        while (taken < packetLimit && ring.advance()) {
            capturedCount++;
            taken++;
            deliver(handler);
        }
        return keepHouse(taken, packetLimit);
    }

    private void deliver(final PacketHandler handler) {
        ring.show(packet);
        capturedBytes += packet.capturedLengthBytes();
        if (wantsWays) {
            packet.way(ring.way());
        }
        if (!cookedFilter.matches(packet)) {
            filteredCount++;
            return;
        }
        if (wantsCardStamps && !ring.isStampedByCard()) {
            kernelStampedCount++;
        }
        handler.onPacket(packet);
    }

    @Override
    protected int follow() {
        ring.keepHouse();
        return socket.hasInterface(interfaceId()) ? socket.mtuBytes(interfaceId()) : NO_INTERFACE;
    }

    @Override
    protected void end(final long nowNs) {
        super.end(nowNs);
        group.onRefusing();
    }

    @Override
    protected boolean hasEnded(final long sinceNs) {
        return (ring.isDrained() || sinceNs >= DRAIN_DEADLINE_NS) && group.isRefusing();
    }

    @Override
    public boolean isDrained() {
        return socket.isOpen() && ring.isDrained();
    }

    @Override
    public int descriptor() {
        return ring.descriptor();
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return !socket.isOpen() || ring.await(timeoutMs);
    }

    @Override
    public void stop() {
        if (socket.isOpen() && !isEnding) {
            group.stop(socket, interfaceId());
            end(System.nanoTime());
        }
    }

    @Override
    public long filteredCount() {
        return filteredCount;
    }

    @Override
    public void updateKernelDropCount() {
        if (socket.isOpen()) {
            kernelDropCount += ring.takeDropCount();
        }
    }

    @Override
    public long kernelStampedCount() {
        return kernelStampedCount;
    }

    @Override
    public void close() {
        if (socket.isOpen()) {
            updateKernelDropCount();
            ring.close();
            socket.close();
        }
    }
}
