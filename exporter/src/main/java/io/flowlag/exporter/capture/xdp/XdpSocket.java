package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static io.flowlag.exporter.capture.xdp.XdpLayout.*;

/**
 * An AF_XDP socket with its frames and rings: it receives the packets of one queue. Owned by one thread. Opening it and failures
 * allocate.
 */
final class XdpSocket implements AutoCloseable {
    private static final int COMPLETION_ENTRIES = 2;
    private static final long BUSY_WAIT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long BUSY_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int CLOSED = -1;

    private final String interfaceName;
    private final UnsafeBuffer argument = new UnsafeBuffer(BufferUtil.allocateDirectAligned(OFFSETS_LENGTH_BYTES, Long.BYTES));
    private final UnsafeBuffer length = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Long.BYTES, Long.BYTES));
    private final CheckedBuffer received = new CheckedBuffer(0, 0);
    private final CheckedBuffer fill = new CheckedBuffer(0, 0);
    private int fd;

    /** Opens a socket that has no frames yet. */
    XdpSocket(final String interfaceName) {
        this.interfaceName = interfaceName;
        fd = CLibrary.socket(AF_XDP, SOCK_RAW_CLOEXEC, 0);
        check("socket", fd);
    }

    /**
     * Makes memory the socket's frames, which both rings hold all of.
     *
     * @param frames      memory with the frames.
     * @param firstFrame  offset of the first one.
     * @param framesBytes length of all of them.
     * @param frameBytes  length of one, a power of two.
     * @return the packets of the socket.
     */
    XdpQueue register(final CheckedBuffer frames, final int firstFrame, final int framesBytes, final int frameBytes) {
        putFrames(argument, frames.addressOffset() + firstFrame, framesBytes, frameBytes);
        check("frames of " + framesBytes + " octets", set(XDP_UMEM_REG, FRAMES_LENGTH_BYTES));
        final int frameCount = framesBytes / frameBytes;
        check("fill ring", setInt(XDP_UMEM_FILL_RING, frameCount));
        check("completion ring", setInt(XDP_UMEM_COMPLETION_RING, COMPLETION_ENTRIES));
        check("receive ring", setInt(XDP_RX_RING, frameCount));
        check("ring offsets", get(XDP_MMAP_OFFSETS, OFFSETS_LENGTH_BYTES));
        map(received, PAGE_OFFSET_RX_RING,
            XdpRing.entriesOffset(argument, 0) + frameCount * XdpRing.RECEIVE_ENTRY_LENGTH_BYTES);
        map(fill, PAGE_OFFSET_FILL_RING,
            XdpRing.entriesOffset(argument, OFFSETS_OF_FILL_RING) + frameCount * XdpRing.FILL_ENTRY_LENGTH_BYTES);
        return new XdpQueue(frames, firstFrame, framesBytes, frameBytes, new XdpRing(received, argument, 0, frameCount),
            new XdpRing(fill, argument, OFFSETS_OF_FILL_RING, frameCount));
    }

    private void map(final CheckedBuffer ring, final long pageOffset, final int lengthBytes) {
        final long address = CLibrary.mmap(0, lengthBytes, PROTECTION_READ_WRITE, MAP_SHARED, fd, pageOffset);
        check("mapping of a ring", address == -1 ? -1 : 0);
        ring.wrap(address, lengthBytes);
    }

    /**
     * Binds to a queue; the kernel chooses zero copy if the driver has it, else it copies. Waits up to a second for the kernel to
     * release the socket of a program that has ended.
     */
    void bind(final int interfaceIndex, final int queue, final boolean hasSeveralFrames) {
        putAddress(argument, interfaceIndex, queue, hasSeveralFrames);
        final long startNs = System.nanoTime();
        int result = CLibrary.bind(fd, argument.addressOffset(), ADDRESS_LENGTH_BYTES);
        while (result < 0 && Errno.last() == Errno.EBUSY && System.nanoTime() - startNs < BUSY_WAIT_NS) {
            LockSupport.parkNanos(BUSY_PAUSE_NS);
            result = CLibrary.bind(fd, argument.addressOffset(), ADDRESS_LENGTH_BYTES);
        }
        check("bind to queue " + queue, result);
    }

    boolean isZeroCopy() {
        return get(XDP_OPTIONS, Integer.BYTES) == 0 && optionsHaveZeroCopy(argument);
    }

    int fd() {
        return fd;
    }

    /** {@return packets that the kernel dropped at this socket so far} */
    long dropCount() {
        return get(XDP_STATISTICS, STATISTICS_LENGTH_BYTES) == 0 ? statisticsDrops(argument) : 0;
    }

    /** Has the driver look at the fill ring. */
    void wakeUp() {
        LinuxLibrary.recv(fd, 0, 0, MSG_DONTWAIT);
    }

    @Override
    public void close() {
        if (fd != CLOSED) {
            unmap(received);
            unmap(fill);
            CLibrary.close(fd);
            fd = CLOSED;
        }
    }

    private static void unmap(final CheckedBuffer ring) {
        if (ring.capacity() > 0) {
            CLibrary.munmap(ring.addressOffset(), ring.capacity());
            ring.wrap(0, 0);
        }
    }

    private int setInt(final int option, final int value) {
        argument.putInt(0, value);
        return set(option, Integer.BYTES);
    }

    private int set(final int option, final int lengthBytes) {
        return CLibrary.setsockopt(fd, SOL_XDP, option, argument.addressOffset(), lengthBytes);
    }

    private int get(final int option, final int lengthBytes) {
        length.putInt(0, lengthBytes);
        return CLibrary.getsockopt(fd, SOL_XDP, option, argument.addressOffset(), length.addressOffset());
    }

    private void check(final String what, final int result) {
        if (result < 0) {
            final int errno = Errno.last();
            close();
            throw failure(what, errno);
        }
    }

    private CaptureException failure(final String what, final int errno) {
        final String reason = interfaceName + ": AF_XDP " + what + ": " + Errno.describe(errno);
        switch (errno) {
            case Errno.EPERM:
            case Errno.EACCES:
                return new CaptureException(Kind.NO_PERMISSION, reason + ": it needs the capabilities CAP_NET_RAW, " +
                    "CAP_NET_ADMIN and CAP_BPF: run with sudo");
            case Errno.ENOBUFS:
                return new CaptureException(Kind.NO_PERMISSION, reason + ": the memory exceeds the limit of locked memory: " +
                    "raise that (ulimit -l, LimitMEMLOCK), give CAP_IPC_LOCK, or make capture.ring smaller");
            case Errno.ENOMEM:
                return new CaptureException(Kind.UNAVAILABLE, reason + ": make capture.ring smaller");
            case Errno.EBUSY:
                return new CaptureException(Kind.UNAVAILABLE, reason + ": another AF_XDP socket has it: end that program");
            case Errno.ENETDOWN:
                return new CaptureException(Kind.NO_INPUT, reason + ": ip link set " + interfaceName + " up");
            default:
                return new CaptureException(Kind.UNAVAILABLE, reason + ": use the source 'afpacket'");
        }
    }
}
