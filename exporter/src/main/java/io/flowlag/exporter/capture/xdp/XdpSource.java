package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketFilter;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.afpacket.PacketSocket;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.filter.BpfCompiler;
import io.flowlag.exporter.capture.filter.BpfFilter;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Packets that arrive at an Ethernet interface of Linux, by AF_XDP, which takes them from the host: for mirror ports. Owned by
 * one thread. Packets are handed over where the kernel, or with zero copy the card, wrote them: no system call and no allocation
 * per packet. Those of several receive queues come in the order of their stamps, as far as they are there. Every
 * {@value #HOUSEKEEPING_INTERVAL_MS} ms a few system calls read drops, MTU and the offset of TAI, and check that the interface
 * still exists. Memory: the frames, outside the heap, until {@link #close}.
 * <p>
 * Timestamps are of the system clock, read by the XDP program as TAI (bpf_ktime_get_tai_ns, Linux 6.1), which is set and slewed
 * together with UTC. Comparing both clocks tells how many whole seconds UTC is behind. When that changes, at a leap second or
 * when a time daemon first tells it, packets of up to one such interval are wrong by the change. The card's stamps are not read.
 * <p>
 * Losses are packets that the kernel dropped at a socket, those that the program could not hand over, and those whose descriptor
 * was refused. With zero copy a card without a free frame drops packets itself, which its own counters show.
 */
public final class XdpSource extends LivePacketSource {
    private static final int HARDWARE_ETHERNET = 1;
    /** A stamp, and an Ethernet header with two VLAN tags. */
    private static final int HEADERS_LENGTH_BYTES = XdpQueue.STAMP_LENGTH_BYTES + 22;
    private static final int SMALL_FRAME_BYTES = 2048;
    private static final int LARGE_FRAME_BYTES = 4096;
    /** The longest time for a reading of both clocks. */
    private static final long READING_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** A packet is so long between the program and its ring, at most. */
    private static final long DRAIN_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final PacketSocket device;
    private final XdpQueues queues;
    private final PacketFilter filter;
    private final int snapLengthBytes;
    private final boolean wantsCardStamps;
    private final UnsafeBuffer time =
        new UnsafeBuffer(BufferUtil.allocateDirectAligned(XdpLayout.TIME_LENGTH_BYTES, Long.BYTES));

    private long taiOffsetNs;
    private long filteredCount;

    private XdpSource(
        final LiveCaptureOptions options, final int interfaceId, final PacketSocket device, final XdpQueues queues,
        final PacketFilter filter, final List<String> notices) {
        super(options.interfaceName(), new CapturedPacket(queues.frames(), LinkType.ETHERNET, interfaceId), notices);
        this.device = device;
        this.queues = queues;
        this.filter = filter;
        snapLengthBytes = options.snapLengthBytes();
        wantsCardStamps = options.hardwareTimestamps();
        mtuBytes = device.mtuBytes(interfaceId);
        readTaiOffset();
    }

    /**
     * Opens an interface. The caller has made sure that the host can do without its packets.
     *
     * @return the source; packets that arrive from now on are in it.
     * @throws CaptureException if that fails; its message says what to do.
     */
    public static XdpSource open(final LiveCaptureOptions options) {
        final String name = options.interfaceName();
        if (!BpfCall.isKnown()) {
            throw unavailable(name, "the source 'xdp' is for 64-bit Linux on x86 and ARM");
        }
        if (options.direction() == Direction.OUT || options.direction() == Direction.EACH) {
            throw unavailable(name, "the source 'xdp' has arriving packets only");
        }
        final int interfaceId = NetworkInterfaces.indexOf(name);
        if (interfaceId == 0) {
            throw PacketSocket.unknownInterface(name);
        }
        final PacketFilter filter = options.hasFilter() ?
            new BpfFilter(BpfCompiler.compile(options.filterExpression(), LinkType.ETHERNET, options.snapLengthBytes())) :
            FilterSupplier.ALL.filterFor(LinkType.ETHERNET);
        final PacketSocket device = PacketSocket.open(name, false);
        try {
            if (device.hardwareType() != HARDWARE_ETHERNET) {
                throw unavailable(name, "the source 'xdp' is for Ethernet, and the hardware type is " + device.hardwareType());
            }
            return open(options, interfaceId, device, filter);
        } catch (final RuntimeException ex) {
            device.close();
            throw ex;
        }
    }

    private static XdpSource open(
        final LiveCaptureOptions options, final int interfaceId, final PacketSocket device, final PacketFilter filter) {
        final boolean isSmall = options.snapLengthBytes() <= roomBytes(SMALL_FRAME_BYTES) - XdpQueue.STAMP_LENGTH_BYTES &&
            device.mtuBytes(interfaceId) <= roomBytes(SMALL_FRAME_BYTES) - HEADERS_LENGTH_BYTES;
        final int frameBytes = isSmall ? SMALL_FRAME_BYTES : LARGE_FRAME_BYTES;
        final boolean hasSeveralFrames = device.mtuBytes(interfaceId) > roomBytes(frameBytes) - HEADERS_LENGTH_BYTES;
        final List<String> notices = new ArrayList<>();
        final XdpQueues queues = new XdpQueues(options, device.receiveQueueCount(), frameBytes, hasSeveralFrames);
        try {
            if (!device.isInterfaceUp()) {
                notices.add(options.interfaceName() + ": the interface is down: packets come when it is up");
            }
            final String refusal = queues.attach(interfaceId, hasSeveralFrames);
            if (options.promiscuous()) {
                device.joinPromiscuous(interfaceId);
            }
            tell(options, device, refusal, queues.isZeroCopy(), notices);
            return new XdpSource(options, interfaceId, device, queues, filter, notices);
        } catch (final RuntimeException ex) {
            queues.close();
            throw ex;
        }
    }

    private static int roomBytes(final int frameBytes) {
        return frameBytes - XdpLayout.HEADROOM_BYTES;
    }

    private static void tell(
        final LiveCaptureOptions options, final PacketSocket device, final String refusal, final boolean isZeroCopy,
        final List<String> notices) {
        final String name = options.interfaceName();
        notices.add(name + ": xdp takes all arriving packets from the host, " + mode(refusal, isZeroCopy));
        if (device.removesVlanTags()) {
            notices.add(name + ": the card removes VLAN tags, and xdp does not see them: ethtool -K " + name + " rxvlan off");
        }
        if (options.hardwareTimestamps()) {
            notices.add(name + ": no hardware timestamps (the source 'xdp' does not read them): the kernel's are used");
        }
    }

    static String mode(final String refusal, final boolean isZeroCopy) {
        return isZeroCopy ? "without a copy" : refusal.isEmpty() ? "and the kernel copies them (no zero copy here)" :
            "by generic XDP, which may cost more than 'afpacket' (the driver: " + refusal + ")";
    }

    private static CaptureException unavailable(final String name, final String reason) {
        return new CaptureException(Kind.UNAVAILABLE, name + ": " + reason + ": use the source 'afpacket'");
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        if (!device.isOpen()) {
            return END_OF_SOURCE;
        }
        int taken = 0;
        XdpQueue queue = null;
        while (taken < packetLimit && (queue = queues.oldest()) != null) {
            queue.take();
            capturedCount++;
            taken++;
            deliver(queue, handler);
        }
        queues.publish();
        return keepHouse(taken, packetLimit);
    }

    private void deliver(final XdpQueue queue, final PacketHandler handler) {
        packet.set(
            queue.offset(), queue.capturedLengthBytes(), queue.wireLengthBytes(), queue.stampNs() - taiOffsetNs);
        if (!filter.matches(packet)) {
            filteredCount++;
            return;
        }
        packet.cut(snapLengthBytes);
        capturedBytes += packet.capturedLengthBytes();
        handler.onPacket(packet);
    }

    @Override
    protected int follow() {
        readTaiOffset();
        return device.hasInterface(interfaceId()) ? device.mtuBytes(interfaceId()) : NO_INTERFACE;
    }

    /** A reading that took long tells nothing. */
    private void readTaiOffset() {
        final long beforeNs = clockNs(XdpLayout.CLOCK_REALTIME);
        final long taiNs = clockNs(XdpLayout.CLOCK_TAI);
        final long tookNs = clockNs(XdpLayout.CLOCK_REALTIME) - beforeNs;
        if (tookNs >= 0 && tookNs < READING_NS) {
            taiOffsetNs = Math.floorDiv(taiNs - beforeNs + Nanoseconds.PER_SECOND / 2, Nanoseconds.PER_SECOND) *
                Nanoseconds.PER_SECOND;
        }
    }

    private long clockNs(final int clock) {
        LinuxLibrary.clock_gettime(clock, time.addressOffset());
        return XdpLayout.timeNs(time);
    }

    @Override
    protected boolean hasEnded(final long sinceNs) {
        return sinceNs >= DRAIN_NS && queues.areEmpty();
    }

    @Override
    public boolean isDrained() {
        return device.isOpen() && queues.areEmpty();
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return !device.isOpen() || queues.await(timeoutMs);
    }

    @Override
    public void stop() {
        if (device.isOpen() && !isEnding) {
            updateKernelDropCount();
            queues.stop();
            end(System.nanoTime());
        }
    }

    @Override
    public long filteredCount() {
        return filteredCount;
    }

    @Override
    public void updateKernelDropCount() {
        if (device.isOpen()) {
            kernelDropCount = queues.lostCount();
        }
    }

    @Override
    public long kernelStampedCount() {
        return wantsCardStamps ? capturedCount : 0;
    }

    @Override
    public void close() {
        if (device.isOpen()) {
            updateKernelDropCount();
            queues.close();
            device.close();
        }
    }
}
