package io.flowlag.exporter.capture.afpacket;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.posix.CLibrary;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.flowlag.exporter.capture.afpacket.SocketLayout.MAP_SHARED;
import static io.flowlag.exporter.capture.afpacket.SocketLayout.PROTECTION_READ_WRITE;

/**
 * Packets that an eBPF program of the socket copies into memory of its own, which has a ring for each processor. The program
 * reads the clock itself, behind the queue of receive packet steering and of virtual interfaces. It counts what it loses.
 */
final class EbpfRing extends SocketRing {
    private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu/present");
    private static final Path REALTIME_KERNEL = Path.of("/sys/kernel/realtime");
    private static final Path TIME_NAMESPACE = Path.of("/proc/self/timens_offsets");
    private static final Pattern LAST_NUMBER = Pattern.compile("(\\d+)\\s*$");
    private static final Pattern OWN_TIME = Pattern.compile("monotonic\\s+0\\s+0\\s.*", Pattern.DOTALL);
    /** A part of the cache of a processor's core. */
    private static final int CACHED_BYTES = 128 << 10;
    /** What a processor receives at most, with headers: a full ring of that is the longest nap. */
    private static final int MOST_BYTES_PER_MS = 256 << 10;
    /** So many naps without a packet are silence, not a gap between bursts. */
    private static final int SILENT_NAPS = 20;
    private static final int CLOSED = -1;

    private final MonotonicClock clock = new MonotonicClock();
    private final int ringBytes;
    private final int mostBytes;
    private final int mapFd;
    private final long lengthBytes;
    private final ProcessorRings rings;
    private final int longestNapMs;
    private final int silentNapMs;
    private int napMs = 1;
    private int silentNaps;
    private long address;
    private long toldLostCount;

    /** Makes the memory; fails where kernel or rights do not allow it. */
    static EbpfRing create(final PacketSocket socket, final LiveCaptureOptions options) {
        try {
            return new EbpfRing(socket, options);
        } catch (final CaptureException ex) {
            throw socket.ebpfFailure(ex);
        }
    }

    private EbpfRing(final PacketSocket socket, final LiveCaptureOptions options) {
        super(socket);
        requireKnownKernel();
        longestNapMs = options.blockTimeoutMs();
        final int processorCount = processorCount();
        final int memoryBytes = options.ringBytes() / processorCount;
        mostBytes = ProcessorLayout.mostBytes(memoryBytes, options.snapLengthBytes());
        ringBytes = ProcessorLayout.ringBytes(memoryBytes, mostBytes);
        if (ringBytes == 0) {
            throw unavailable("a ring of " + options.ringBytes() + " octets is too small for " + processorCount + " processors");
        }
        final int strideBytes = ProcessorLayout.strideBytes(ringBytes, mostBytes);
        lengthBytes = (long)strideBytes * processorCount;
        mapFd = BpfCall.createMap(BpfCall.MAP_ARRAY, strideBytes, processorCount, BpfCall.MAP_FLAG_MMAPABLE);
        address = CLibrary.mmap(0, lengthBytes, PROTECTION_READ_WRITE, MAP_SHARED, mapFd, 0);
        if (address == CLOSED) {
            CLibrary.close(mapFd);
            throw unavailable("its memory cannot be mapped");
        }
        memory.wrap(address, (int)lengthBytes);
        rings = new ProcessorRings(memory, processorCount, ringBytes, mostBytes);
        silentNapMs = Math.max(longestNapMs, ringBytes / MOST_BYTES_PER_MS);
    }

    /** The time of the programs is that of the first time namespace; on PREEMPT_RT one could interrupt another. */
    private static void requireKnownKernel() {
        if (Files.exists(REALTIME_KERNEL)) {
            throw unavailable("the kernel is one with PREEMPT_RT");
        }
        if (Files.exists(TIME_NAMESPACE) && !OWN_TIME.matcher(text(TIME_NAMESPACE)).matches()) {
            throw unavailable("the process is in a time namespace");
        }
    }

    private static int processorCount() {
        final Matcher matcher = LAST_NUMBER.matcher(text(PROCESSORS));
        if (!matcher.find()) {
            throw unavailable(PROCESSORS + " does not tell the processors");
        }
        return Integer.parseInt(matcher.group(1)) + 1;
    }

    private static String text(final Path path) {
        try {
            return Files.readString(path);
        } catch (final IOException ex) {
            throw unavailable(path + " cannot be read");
        }
    }

    private static CaptureException unavailable(final String reason) {
        return new CaptureException(Kind.UNAVAILABLE, "eBPF: " + reason);
    }

    @Override
    void attach(final BpfProgram filter) {
        socket.requireShort(filter);
        final int programFd;
        try {
            final EbpfAssembler program = ProcessorProgram.of(filter, mapFd, ringBytes, mostBytes);
            programFd = BpfCall.loadProgram(BpfCall.PROGRAM_SOCKET_FILTER, program);
        } catch (final CaptureException ex) {
            throw socket.ebpfFailure(ex);
        }
        try {
            socket.attachProgram(programFd);
        } finally {
            CLibrary.close(programFd);
        }
    }

    @Override
    boolean advance() {
        return rings.advance();
    }

    @Override
    void show(final CapturedPacket packet) {
        rings.show(packet, clock.offsetNs());
    }

    @Override
    int packetType() {
        return rings.packetType();
    }

    @Override
    boolean isStampedByCard() {
        return false;
    }

    @Override
    boolean isDrained() {
        return rings.unreadBytes() == 0;
    }

    /** The program lets no packet through to the socket. */
    @Override
    int descriptor() {
        return -1;
    }

    /** Naps, as nothing would wake it: for so long that what comes meanwhile stays in the cache; after silence in the ring. */
    @Override
    boolean await(final int timeoutMs) {
        long unreadBytes = rings.unreadBytes();
        if (unreadBytes == 0 && timeoutMs > 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(timeoutMs, napMs)));
            unreadBytes = rings.unreadBytes();
            silentNaps = unreadBytes == 0 ? Math.min(SILENT_NAPS, silentNaps + 1) : 0;
            napMs = silentNaps == SILENT_NAPS ? silentNapMs : Math.min(longestNapMs,
                unreadBytes > CACHED_BYTES ? Math.max(1, napMs / 2) : unreadBytes < CACHED_BYTES / 4 ? 2 * napMs : napMs);
        }
        return unreadBytes != 0;
    }

    @Override
    void keepHouse() {
        clock.follow();
    }

    @Override
    long takeDropCount() {
        final long lostCount = rings.lostCount();
        final long count = lostCount - toldLostCount;
        toldLostCount = lostCount;
        return count;
    }

    @Override
    public void close() {
        if (address != CLOSED) {
            memory.wrap(0, 0);
            CLibrary.munmap(address, lengthBytes);
            CLibrary.close(mapFd);
            address = CLOSED;
        }
    }
}
