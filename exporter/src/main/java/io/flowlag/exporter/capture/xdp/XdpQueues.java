package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.PollSet;
import org.agrona.CloseHelper;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * All receive queues of an interface: the XDP program, a socket for each queue, and the memory of their frames, which is divided
 * equally. Owned by one thread. Allocates at construction.
 */
final class XdpQueues implements AutoCloseable {
    private static final int LEAST_FRAMES = 16;
    /** Twice what a queue receives at most. */
    private static final int FRAMES_PER_MS = 8192;

    private final CheckedBuffer frames = new CheckedBuffer(0, 0);
    private final XdpSocket[] sockets;
    private final XdpQueue[] queues;
    private final PollSet polls;
    private final XdpHook hook;
    private int napMs;
    private boolean isBusy;
    private boolean isZeroCopy = true;
    private long lostCount;

    /**
     * Makes everything, and attaches nothing.
     *
     * @param frameBytes       length of a frame, a power of two.
     * @param hasSeveralFrames whether a packet may be longer than a frame (Linux 6.6).
     */
    XdpQueues(
        final LiveCaptureOptions options, final int queueCount, final int frameBytes, final boolean hasSeveralFrames) {
        sockets = new XdpSocket[queueCount];
        queues = new XdpQueue[queueCount];
        polls = new PollSet(queueCount);
        hook = new XdpHook(options.interfaceName(), queueCount, hasSeveralFrames);
        try {
            open(options, frameBytes);
        } catch (final RuntimeException ex) {
            close();
            throw ex;
        }
    }

    private void open(final LiveCaptureOptions options, final int frameBytes) {
        final int frameCount = Integer.highestOneBit(options.ringBytes() / sockets.length / frameBytes);
        napMs = Math.min(options.blockTimeoutMs(), frameCount / FRAMES_PER_MS);
        final int queueBytes = Math.max(LEAST_FRAMES, frameCount) * frameBytes;
        final int framesBytes = Math.multiplyExact(queueBytes, sockets.length);
        final long address = CLibrary.mmap(
            0, framesBytes, XdpLayout.PROTECTION_READ_WRITE, XdpLayout.MAP_PRIVATE_ANONYMOUS, -1, 0);
        if (address == -1) {
            throw new CaptureException(Kind.UNAVAILABLE, options.interfaceName() + ": frames of " + framesBytes + " octets: " +
                Errno.describe(Errno.last()) + ": make capture.ring smaller");
        }
        frames.wrap(address, framesBytes);
        for (int i = 0; i < sockets.length; i++) {
            sockets[i] = new XdpSocket(options.interfaceName());
            queues[i] = sockets[i].register(frames, i * queueBytes, queueBytes, frameBytes);
            queues[i].begin();
            polls.put(i, sockets[i].fd());
        }
    }

    /** Begins to receive. Returns why the driver does not run the program; empty if it does. */
    String attach(final int interfaceIndex, final boolean hasSeveralFrames) {
        for (int i = 0; i < sockets.length; i++) {
            sockets[i].bind(interfaceIndex, i, hasSeveralFrames);
            isZeroCopy &= sockets[i].isZeroCopy();
            hook.put(i, sockets[i].fd());
        }
        return hook.attach(interfaceIndex);
    }

    /** {@return whether the card writes packets into the frames of all queues} */
    boolean isZeroCopy() {
        return isZeroCopy;
    }

    CheckedBuffer frames() {
        return frames;
    }

    /** {@return the queue whose packet at hand is the oldest; null if no queue has a packet} */
    XdpQueue oldest() {
        XdpQueue oldest = null;
        for (final XdpQueue queue : queues) {
            if (queue.advance() && (oldest == null || queue.stampNs() < oldest.stampNs())) {
                oldest = queue;
            }
        }
        return oldest;
    }

    /** Lets the kernel have the frames that were given back. */
    void publish() {
        for (int i = 0; i < queues.length; i++) {
            if (queues[i].publish()) {
                sockets[i].wakeUp();
            }
        }
    }

    boolean areEmpty() {
        boolean areEmpty = true;
        for (final XdpQueue queue : queues) {
            areEmpty &= queue.isEmpty();
        }
        return areEmpty;
    }

    /**
     * Waits for a packet. While packets come, naps for as long as half of the frames take them: a wake for each batch of the
     * kernel costs more than its packets. Returns whether a queue has one.
     */
    boolean await(final int timeoutMs) {
        if (areEmpty()) {
            if (isBusy && napMs > 0) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(timeoutMs, napMs)));
            } else {
                polls.await(timeoutMs);
            }
        }
        isBusy = !areEmpty();
        return isBusy;
    }

    /** Lets packets go on to the host from now on; those are not lost. */
    void stop() {
        hook.stop();
    }

    /** {@return packets lost so far} */
    long lostCount() {
        if (isOpen()) {
            lostCount = hook.passedCount();
            for (int i = 0; i < sockets.length; i++) {
                lostCount += sockets[i].dropCount() + queues[i].refusedCount();
            }
        }
        return lostCount;
    }

    private boolean isOpen() {
        return frames.capacity() > 0;
    }

    @Override
    public void close() {
        hook.close();
        CloseHelper.closeAll(sockets);
        if (isOpen()) {
            CLibrary.munmap(frames.addressOffset(), frames.capacity());
            frames.wrap(0, 0);
        }
    }
}
