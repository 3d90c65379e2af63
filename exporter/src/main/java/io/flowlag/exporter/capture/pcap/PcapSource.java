package io.flowlag.exporter.capture.pcap;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.filter.BpfCompiler;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import org.agrona.concurrent.UnsafeBuffer;
import org.pcap4j.core.BpfProgram.BpfCompileMode;
import org.pcap4j.core.NotOpenException;
import org.pcap4j.core.PcapHandle;
import org.pcap4j.core.PcapHandle.BlockingMode;
import org.pcap4j.core.PcapHandle.PcapDirection;
import org.pcap4j.core.PcapHandle.TimestampPrecision;
import org.pcap4j.core.PcapNativeException;
import org.pcap4j.core.PcapNetworkInterface.PromiscuousMode;
import org.pcap4j.core.PcapStat;

import java.io.EOFException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Packets of an interface from libpcap, on any system that has it. Owned by one thread. Allocates several objects per packet,
 * including the octets; on Linux, {@link io.flowlag.exporter.capture.afpacket.AfPacketSource} does not.
 * <p>
 * libpcap puts a VLAN tag that the kernel removed back into the frame, so {@code vlanTag} is always {@link
 * CapturedPacket#NO_VLAN_TAG}. On the loopback interface of Linux it shows arriving packets only, each once. Timestamps are in
 * nanoseconds with libpcap 1.5 and later, else in microseconds.
 * <p>
 * libpcap's immediate mode is not used: on Linux it gives every packet a slot of the snap length, of which a ring has few.
 * Packets come after the block timeout at the latest instead, as from the packet ring.
 */
public final class PcapSource extends LivePacketSource {
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MS_PER_SECOND = 1_000L;
    private static final long NS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long COUNTER_MASK = 0xffff_ffffL;
    /** Eight of the blocks that libpcap uses on Linux: in a slow burst the block timeout may close one for each packet. */
    private static final int MIN_BUFFER_BYTES = 8 << 18;
    /** How much longer than its read timeout libpcap may hold a packet back. */
    private static final long GRACE_NS = 200 * NS_PER_MS;

    private static final int DLT_RAW = 12;
    private static final int DLT_RAW_OPENBSD = 14;
    private static final int STATUS_NO_SUCH_DEVICE = -5;
    private static final int STATUS_PERMISSION_DENIED = -8;
    private static final int STATUS_INTERFACE_DOWN = -9;
    private static final int STATUS_PROMISCUOUS_PERMISSION_DENIED = -11;

    private final long graceNs;
    /** Packets wait so long in the kernel, and as long for this process at most. */
    private final int blockTimeoutMs;
    private final boolean wantsCardStamps;
    private final PcapHandle handle;

    private long lastDropCounter;
    private boolean hasReadFailed;
    private long endCount = Long.MAX_VALUE;
    private boolean isClosed;

    private PcapSource(
        final LiveCaptureOptions options, final int interfaceId, final PcapHandle handle, final List<String> notices) {
        super(options.interfaceName(),
            new CapturedPacket(new UnsafeBuffer(0, 0), linkType(handle.getDlt().value()), interfaceId), notices);
        this.graceNs = 2 * NS_PER_MS * options.blockTimeoutMs() + GRACE_NS;
        this.blockTimeoutMs = options.blockTimeoutMs();
        mtuBytes = NetworkInterfaces.mtuBytes(interfaceId);
        this.handle = handle;
        this.wantsCardStamps = options.hardwareTimestamps();
    }

    /**
     * Opens an interface.
     *
     * @param options how; of the ring only its size is used.
     * @return the source; packets that arrive from now on are in it.
     * @throws CaptureException if that fails; its message says what to do.
     */
    public static PcapSource open(final LiveCaptureOptions options) {
        BpfCompiler.requireLibpcap(options.interfaceName() + ": the source 'pcap'");
        final int interfaceId = NetworkInterfaces.indexOf(options.interfaceName());
        final PcapHandle handle = activate(options);
        try {
            configure(handle, options);
            return new PcapSource(options, interfaceId, handle, notices(options));
        } catch (final RuntimeException ex) {
            handle.close();
            throw ex;
        }
    }

    private static PcapHandle activate(final LiveCaptureOptions options) {
        try {
            return new PcapHandle.Builder(options.interfaceName())
                .snaplen(options.snapLengthBytes())
                .promiscuousMode(options.promiscuous() ? PromiscuousMode.PROMISCUOUS : PromiscuousMode.NONPROMISCUOUS)
                .timeoutMillis(options.blockTimeoutMs())
                .bufferSize(Math.max(options.ringBytes(), MIN_BUFFER_BYTES))
                .timestampPrecision(TimestampPrecision.NANO)
                .build();
        } catch (final PcapNativeException ex) {
            throw openFailure(options.interfaceName(), ex);
        }
    }

    private static CaptureException openFailure(final String interfaceName, final PcapNativeException e) {
        final int status = e.getReturnCode() == null ? 0 : e.getReturnCode();
        switch (status) {
            case STATUS_NO_SUCH_DEVICE:
                return new CaptureException(Kind.NO_INPUT, interfaceName + ": no such interface; there are " +
                    String.join(", ", NetworkInterfaces.names()));
            case STATUS_PERMISSION_DENIED:
            case STATUS_PROMISCUOUS_PERMISSION_DENIED:
                return new CaptureException(Kind.NO_PERMISSION, interfaceName +
                    ": capturing is not permitted: run with sudo" + (Platform.isLinux() ? ", or let systemd give the" +
                    " capability CAP_NET_RAW (AmbientCapabilities=CAP_NET_RAW), or give it to the java binary" +
                    " (setcap cap_net_raw+ep)" : ""));
            case STATUS_INTERFACE_DOWN:
                return new CaptureException(Kind.NO_INPUT, interfaceName + ": the interface is down, libpcap needs it up");
            default:
                return new CaptureException(Kind.NO_INPUT, interfaceName + ": libpcap cannot open it: " + e.getMessage());
        }
    }

    private static void configure(final PcapHandle handle, final LiveCaptureOptions options) {
        try {
            if (options.hasFilter()) {
                setFilter(handle, options.filterExpression());
            }
            if (options.direction() == Direction.IN || options.direction() == Direction.OUT) {
                handle.setDirection(options.direction() == Direction.IN ? PcapDirection.IN : PcapDirection.OUT);
            }
            handle.setBlockingMode(BlockingMode.NONBLOCKING);
        } catch (final PcapNativeException ex) {
            throw new CaptureException(Kind.UNAVAILABLE, options.interfaceName() + ": libpcap: " + ex.getMessage());
        } catch (final NotOpenException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void setFilter(final PcapHandle handle, final String expression) throws NotOpenException {
        try {
            handle.setFilter(expression, BpfCompileMode.OPTIMIZE, PcapHandle.PCAP_NETMASK_UNKNOWN);
        } catch (final PcapNativeException ex) {
            throw new CaptureException(Kind.BAD_FILTER, "filter '" + expression + "': " + handle.getError());
        }
    }

    private static List<String> notices(final LiveCaptureOptions options) {
        final List<String> notices = new ArrayList<>();
        if (options.hardwareTimestamps()) {
            notices.add(options.interfaceName() +
                ": no hardware timestamps (the source 'pcap' does not ask for them): the kernel's are used");
        }
        return notices;
    }

    /** The file number of a link type that has another number inside libpcap. */
    private static int linkType(final int dlt) {
        return dlt == DLT_RAW || dlt == DLT_RAW_OPENBSD ? LinkType.RAW : dlt;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        if (isClosed) {
            return END_OF_SOURCE;
        }
        final int limit = (int) Math.min(packetLimit, endCount - capturedCount);
        int taken = 0;
        try {
            while (taken < limit && deliver(handler, handle.getNextRawPacket())) {
                taken++;
            }
            if (taken < limit && isHouseDue(System.nanoTime()) && deliver(handler, nextUnlessFailed())) {
                taken++;
            }
        } catch (final NotOpenException ex) {
            throw new IllegalStateException(ex);
        }
        return keepHouse(taken, packetLimit);
    }

    private boolean deliver(final PacketHandler handler, final byte[] octets) {
        if (octets == null) {
            return false;
        }
        final Timestamp timestamp = handle.getTimestamp();
        packet.buffer().wrap(octets);
        capturedCount++;
        capturedBytes += octets.length;
        handler.onPacket(packet.set(0, octets.length, Math.max(octets.length, handle.getOriginalLength()),
            Math.floorDiv(timestamp.getTime(), MS_PER_SECOND) * NS_PER_SECOND + timestamp.getNanos()));
        return true;
    }

    /** A read that distinguishes an error from silence, when no packet seems to be there. */
    private byte[] nextUnlessFailed() throws NotOpenException {
        try {
            return handle.getNextRawPacketEx();
        } catch (final TimeoutException ex) {
            return null;
        } catch (final PcapNativeException | EOFException ex) {
            hasReadFailed = true;
            return null;
        }
    }

    /** An interface that is down but exists continues to be polled. */
    @Override
    protected int follow() {
        final boolean isGone = hasReadFailed && (interfaceId() == 0 || NetworkInterfaces.indexOf(name()) != interfaceId());
        hasReadFailed = false;
        return isGone ? NO_INTERFACE : NetworkInterfaces.mtuBytes(interfaceId());
    }

    @Override
    public void updateKernelDropCount() {
        if (!isClosed) {
            try {
                readDrops();
            } catch (final PcapNativeException ex) {
                // as when they are read in passing: the next call, or the read that finds the interface gone, reports it
            } catch (final NotOpenException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }

    private void readDrops() throws NotOpenException, PcapNativeException {
        final long counter = handle.getStats().getNumPacketsDropped() & COUNTER_MASK;
        kernelDropCount += counter - lastDropCounter & COUNTER_MASK;
        lastDropCounter = counter;
    }

    /**
     * Begins to end: waits for the packets that the kernel has received by now. libpcap may count packets that it then drops
     * for their direction, so the wait has a deadline.
     */
    @Override
    protected void end(final long nowNs) {
        super.end(nowNs);
        try {
            final PcapStat stat = handle.getStats();
            endCount = capturedCount +
                (stat.getNumPacketsReceived() - stat.getNumPacketsDropped() - capturedCount & COUNTER_MASK);
        } catch (final PcapNativeException ex) {
            endCount = Long.MAX_VALUE;
        } catch (final NotOpenException ex) {
            throw new IllegalStateException(ex);
        }
    }

    @Override
    protected boolean hasEnded(final long sinceNs) {
        return capturedCount >= endCount || sinceNs >= graceNs;
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        if (!isClosed && timeoutMs > 0) {
            LockSupport.parkNanos(NS_PER_MS * Math.min(timeoutMs, blockTimeoutMs));
        }
        return true;
    }

    @Override
    public void stop() {
        if (!isClosed && !isEnding) {
            end(System.nanoTime());
        }
    }

    /** The card's timestamps are not requested from libpcap. */
    @Override
    public long kernelStampedCount() {
        return wantsCardStamps ? capturedCount : 0;
    }

    @Override
    public void close() {
        if (!isClosed) {
            try {
                readDrops();
            } catch (final PcapNativeException ex) {
                damage = damage == null ?
                    "interface " + name() + ": drops of the last moment unknown: " + ex.getMessage() : damage;
            } catch (final NotOpenException ex) {
                throw new IllegalStateException(ex);
            } finally {
                isClosed = true;
                handle.close();
            }
        }
    }
}
