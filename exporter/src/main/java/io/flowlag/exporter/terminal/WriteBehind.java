package io.flowlag.exporter.terminal;

import io.flowlag.exporter.status.Heartbeat;
import org.slf4j.LoggerFactory;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes lines or files in their order on a thread of its own, because each write may block: on a pipe that is not read, a
 * stopped terminal, a disk that hangs. When too many wait, further ones are left out; the log says how many once there is room.
 * Any thread may use it, and does not wait. Allocates for each; has a thread from the first one on.
 */
public final class WriteBehind {
    /** For the lines of log and messages. */
    static final WriteBehind LINES = new WriteBehind("log");
    static final int MAX_WAITING = 1024;

    private final String name;
    private final BlockingQueue<Runnable> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
    private final AtomicLong leftOut = new AtomicLong();
    private volatile Thread thread;

    /** The thread will have that name. */
    public WriteBehind(final String name) {
        this.name = name;
    }

    private synchronized void start() {
        if (thread == null) {
            thread = new Thread(this::work, name);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Gives something to write. Returns false if it is left out. */
    public boolean offer(final Runnable write) {
        if (thread == null) {
            start();
        }
        final boolean isTaken = waiting.offer(write);
        if (!isTaken) {
            leftOut.incrementAndGet();
        }
        return isTaken;
    }

    /** Waits until what was given before is written, but not for long. Returns whether it is. */
    boolean settle(final long patienceNs) {
        final long deadlineNs = System.nanoTime() + patienceNs;
        final CountDownLatch written = new CountDownLatch(1);
        try {
            return waiting.offer(written::countDown, patienceNs, TimeUnit.NANOSECONDS) &&
                written.await(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void work() {
        try {
            while (true) {
                write(waiting.take());
                final long count = leftOut.getAndSet(0);
                if (count > 0) {
                    LoggerFactory.getLogger(WriteBehind.class).warn(
                        "{}: {} writes were left out, because the reader or the disk took none for a while", name, count);
                }
            }
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(final Runnable write) {
        try {
            write.run();
        } catch (final RuntimeException ex) {
            Heartbeat.die(ex);
        }
    }
}
