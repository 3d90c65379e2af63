package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.rli.path.PathFinder;
import io.flowlag.rli.reference.ReferenceDecoder;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.DirectBuffer;
import org.agrona.collections.IntArrayQueue;
import org.agrona.concurrent.UnsafeBuffer;

import java.net.InetAddress;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ObjLongConsumer;
import java.util.stream.IntStream;

import static io.flowlag.exporter.reference.UdpLayout.*;

/**
 * Sends references as UDP datagrams, with connected sockets for each stream, so that the kernel routes and queues them like
 * forwarded traffic of their class. The source ports of a stream are used in blocks, each once in random order, so that its
 * references take all paths of equal cost and {@link PathFinder} can tell these apart. Their effective send times are kernel
 * stamps of the kind that {@link StampPoint} selects, read from the sockets' error queues. Without kernel stamps, the middle of
 * the send call is used.
 * <p>
 * One thread; other threads may read the counters with delay. Failures are counted and never thrown. Allocates at construction;
 * a packet costs one system call, and one more for its stamp.
 */
public final class UdpReferenceTransmitter implements ReferenceTransmitter {
    /** Longest packet that is taken. */
    static final int MAXIMUM_LENGTH_BYTES = 2048;
    /** A stamp that is later than this counts as missing. */
    static final long STAMP_PATIENCE_NS = 1_000_000_000L;
    /** After so many references without any stamp, the kernel is taken to have none. */
    static final int STAMPLESS_LIMIT = 8;

    private static final int ETHERNET_LENGTH_BYTES = 14;
    private static final int IPV4_LENGTH_BYTES = 20;
    private static final int IPV6_LENGTH_BYTES = 40;
    private static final int UDP_LENGTH_BYTES = 8;
    private static final int CLOCK_REALTIME = 0;
    private static final int LANES = PathFinder.LANES;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final TransmitterOptions options;
    /** By stream, then lane, as all arrays. */
    private final UdpSocket[] sockets;
    private final UnstampedReferences[] sendTimes;
    private final boolean[] isUnnumbered;
    /** By stream: the lanes of its present block in their order, the number of that block, and references without a time. */
    private final int[] laneOrders;
    private final int[] blocks;
    private final IntArrayQueue[] unstamped;
    private final SplittableRandom random = new SplittableRandom();
    private final UnsafeBuffer packet = UdpSocket.direct(MAXIMUM_LENGTH_BYTES);
    private final UnsafeBuffer time = UdpSocket.direct(2 * Long.BYTES);
    private final int stampFlags;

    private boolean hasKernelStamps = true;
    private volatile long sentCount;
    private volatile long busyCount;
    private volatile long unreachableCount;
    private volatile long failedCount;
    private volatile long stampCount;
    private int lastErrno;

    private UdpReferenceTransmitter(final TransmitterOptions options) {
        this.options = options;
        final int streamCount = options.trafficClasses().length;
        final int socketCount = streamCount * LANES;
        sockets = new UdpSocket[socketCount];
        sendTimes = new UnstampedReferences[socketCount];
        isUnnumbered = new boolean[socketCount];
        laneOrders = IntStream.range(0, socketCount).map(i -> i % LANES).toArray();
        blocks = new int[streamCount];
        Arrays.fill(blocks, -1);
        unstamped = new IntArrayQueue[streamCount];
        Arrays.setAll(unstamped, i -> new IntArrayQueue(LANES * UnstampedReferences.CAPACITY, Integer.MIN_VALUE));
        stampFlags = options.stampPoint().flag() |
            TIMESTAMPING_SOFTWARE | TIMESTAMPING_OPT_ID | TIMESTAMPING_OPT_TSONLY;
    }

    /**
     * Opens the sockets.
     *
     * @throws InjectionException if that fails; its message says what to do.
     */
    public static UdpReferenceTransmitter open(final TransmitterOptions options) {
        if (!Platform.isLinux() || !Platform.is64Bit() || ORDER != ByteOrder.LITTLE_ENDIAN) {
            throw new InjectionException("references are sent on 64-bit little-endian Linux only", false);
        }
        final UdpReferenceTransmitter transmitter = new UdpReferenceTransmitter(options);
        try {
            transmitter.openSockets();
            return transmitter;
        } catch (final InjectionException ex) {
            transmitter.close();
            throw ex;
        }
    }

    @Override
    public InetAddress target() {
        return options.target();
    }

    private void openSockets() {
        for (int i = 0; i < sockets.length; i++) {
            final UdpSocket socket = UdpSocket.open("references", family(options.target()));
            sockets[i] = socket;
            sendTimes[i] = new UnstampedReferences();
            if (options.interfaceName() != null) {
                socket.bindToInterface(options.interfaceName());
            }
            if (options.source() != null) {
                socket.bind(options.source(), 0);
            }
            socket.trafficClass(options.trafficClasses()[i / LANES]);
            socket.connect(options.target(), options.port());
            hasKernelStamps &= socket.timestamping(stampFlags);
        }
    }

    @Override
    public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (lengthBytes > MAXIMUM_LENGTH_BYTES) {
            failedCount++;
            lastErrno = Errno.EMSGSIZE;
            return false;
        }
        packet.putBytes(0, buffer, offset, lengthBytes);
        final int index = socketIndex(streamIndex, ReferenceDecoder.sequenceNumberOf(packet, 0));
        boolean isSent = sendOnce(index, lengthBytes);
        if (!isSent && lastErrno == Errno.ECONNREFUSED) {
            // The kernel reports the receiver's answer to an earlier packet instead of sending this one.
            isSent = sendOnce(index, lengthBytes);
        }
        if (isSent) {
            unstamped[streamIndex].addInt(index);
        }
        return isSent;
    }

    /** The socket of the next lane; each block of numbers has another order of them. */
    private int socketIndex(final int streamIndex, final int sequenceNumber) {
        final int first = streamIndex * LANES;
        final int block = Integer.divideUnsigned(sequenceNumber, LANES);
        if (blocks[streamIndex] != block) {
            blocks[streamIndex] = block;
            for (int i = LANES - 1; i > 0; i--) {
                final int other = random.nextInt(i + 1);
                final int lane = laneOrders[first + i];
                laneOrders[first + i] = laneOrders[first + other];
                laneOrders[first + other] = lane;
            }
        }
        return first + laneOrders[first + Integer.remainderUnsigned(sequenceNumber, LANES)];
    }

    private boolean sendOnce(final int index, final int lengthBytes) {
        if (isUnnumbered[index]) {
            number(index);
        }
        final long beginNs = nowNs();
        final int errno = sockets[index].send(packet, lengthBytes);
        if (errno != 0) {
            // Whether the kernel spent a number on a packet that failed depends on its version.
            isUnnumbered[index] = hasKernelStamps;
            count(errno);
            return false;
        }
        sendTimes[index].onSent(ReferenceDecoder.sequenceNumberOf(packet, 0), beginNs, nowNs());
        sentCount++;
        return true;
    }

    private void number(final int index) {
        final UdpSocket socket = sockets[index];
        sendTimes[index].reset();
        hasKernelStamps &= socket.timestamping(0) && socket.timestamping(stampFlags);
        isUnnumbered[index] = false;
    }

    private void count(final int errno) {
        lastErrno = errno;
        switch (errno) {
            case Errno.EAGAIN, Errno.ENOBUFS, Errno.ENOMEM, Errno.EINTR -> busyCount++;
            case Errno.ECONNREFUSED, Errno.EHOSTUNREACH, Errno.ENETUNREACH, Errno.ENETDOWN -> unreachableCount++;
            default -> failedCount++;
        }
    }

    @Override
    public int poll(final SendTimeHandler handler, final int limit) {
        int count = 0;
        for (int i = 0; i < unstamped.length; i++) {
            count += poll(i, handler, limit - count);
        }
        return count;
    }

    /** Takes the times of a stream in the order of sending, because a later one tells the receiver that none comes before it. */
    private int poll(final int streamIndex, final SendTimeHandler handler, final int limit) {
        final IntArrayQueue waiting = unstamped[streamIndex];
        int count = 0;
        boolean isDone = true;
        while (isDone && count < limit && !waiting.isEmpty()) {
            final int index = waiting.peekInt();
            final int before = sendTimes[index].waitingCount();
            if (before > 0) {
                count += hasKernelStamps ? pollStamps(index, handler, 1) : pollCalls(index, handler, 1);
            }
            isDone = before == 0 || sendTimes[index].waitingCount() < before;
            if (isDone) {
                waiting.pollInt();
            }
        }
        return count;
    }

    private int pollStamps(final int index, final SendTimeHandler handler, final int limit) {
        final UdpSocket socket = sockets[index];
        final UnstampedReferences times = sendTimes[index];
        int count = 0;
        while (count < limit && times.waitingCount() > 0 && socket.takeStamp()) {
            final boolean isWanted = socket.stampKind() == options.stampPoint().kind();
            if (isWanted && times.find(
                socket.stampKey(), socket.stampNs(), options.stampPoint() == StampPoint.BEFORE_QUEUE)) {
                handler.onSendTime(
                    index / LANES, times.sequenceNumber(), socket.stampNs(), TimestampMethod.SOFTWARE_LOCAL);
                times.removeOldest();
                stampCount++;
                count++;
            }
        }
        if (count < limit) {
            expire(times);
        }
        return count;
    }

    private void expire(final UnstampedReferences times) {
        if (times.waitingCount() > 0) {
            final long nowNs = nowNs();
            while (times.waitingCount() > 0 && nowNs - times.callBeginNs() > STAMP_PATIENCE_NS) {
                times.dropOldest();
            }
            hasKernelStamps = stampCount > 0 || times.missingCount() < STAMPLESS_LIMIT;
        }
    }

    private int pollCalls(final int index, final SendTimeHandler handler, final int limit) {
        final UnstampedReferences times = sendTimes[index];
        int count = 0;
        while (count < limit && times.waitingCount() > 0) {
            final long halfCallNs = times.callDurationNs() / 2;
            handler.onSendTime(index / LANES, times.sequenceNumber(), times.callBeginNs() + halfCallNs,
                TimestampMethod.SOFTWARE_LOCAL);
            times.removeOldest();
            count++;
        }
        return count;
    }

    private long nowNs() {
        LinuxLibrary.clock_gettime(CLOCK_REALTIME, time.addressOffset());
        return time.getLong(0, ORDER) * Nanoseconds.PER_SECOND + time.getLong(Long.BYTES, ORDER);
    }

    @Override
    public int headerLengthBytes() {
        return ETHERNET_LENGTH_BYTES + UDP_LENGTH_BYTES +
            (family(options.target()) == AF_INET ? IPV4_LENGTH_BYTES : IPV6_LENGTH_BYTES);
    }

    @Override
    public void counters(final ObjLongConsumer<String> consumer) {
        long missingCount = 0;
        long strangeCount = 0;
        for (final UnstampedReferences times : sendTimes) {
            missingCount += times.missingCount();
            strangeCount += times.strangeCount();
        }
        consumer.accept("transmit_busy", busyCount);
        consumer.accept("transmit_unreachable", unreachableCount);
        consumer.accept("transmit_failed", failedCount);
        consumer.accept("transmit_stamps", stampCount);
        consumer.accept("transmit_stamps_missing", missingCount);
        consumer.accept("transmit_stamps_strange", strangeCount);
    }

    /** {@return whether effective send times are stamps of the kernel; otherwise they are the times of calls} */
    public boolean hasKernelStamps() {
        return hasKernelStamps;
    }

    /** {@return references that the kernel took} */
    public long sentCount() {
        return sentCount;
    }

    /** {@return the message of the last error, empty if there was none} */
    public String lastError() {
        return lastErrno == 0 ? "" : Errno.describe(lastErrno);
    }

    @Override
    public void close() {
        for (final UdpSocket socket : sockets) {
            if (socket != null) {
                socket.close();
            }
        }
    }
}
