package io.flowlag.station.inlet;

import io.flowlag.station.schema.RawMessage;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Messages on the way from the inlet to the job of the same process, at most {@value #MOST_BYTES} octets of them. The job finds
 * it by its name, since Flink makes operators from their written form. Any thread.
 */
public final class MessageQueue implements AutoCloseable {
    /** Of payloads, and {@value #OVERHEAD_BYTES} for each. */
    public static final int MOST_BYTES = 64 << 20;
    private static final int OVERHEAD_BYTES = 200;
    private static final int WAKE_BYTES = 1 << 20;
    private static final Map<String, MessageQueue> QUEUES = new ConcurrentHashMap<>();
    private static final CompletableFuture<Void> READY = CompletableFuture.completedFuture(null);

    private final String name;
    private final ArrayDeque<RawMessage> messages = new ArrayDeque<>();
    private CompletableFuture<Void> waiting = new CompletableFuture<>();
    private int heldBytes;
    private long nowNs;
    private boolean isEnded;

    /** An empty queue. */
    public MessageQueue(final String name) {
        this.name = name;
        if (QUEUES.putIfAbsent(name, this) != null) {
            throw new IllegalStateException(name + ": there is a queue of that name");
        }
    }

    /** {@return the queue of a name in this process} */
    public static MessageQueue of(final String name) {
        final MessageQueue queue = QUEUES.get(name);
        if (queue == null) {
            throw new IllegalStateException(name + ": there is no queue of that name in this process");
        }
        return queue;
    }

    /**
     * Appends a message. Who waits learns of it with the next {@link #tick}, or once there are many: to wake costs more than to
     * decode. Returns whether there was room; if not, it is lost.
     */
    public synchronized boolean offer(final RawMessage message) {
        final int bytes = message.getPayload().size() + OVERHEAD_BYTES;
        if (isEnded || heldBytes + bytes > MOST_BYTES) {
            return false;
        }
        heldBytes += bytes;
        messages.add(message);
        if (heldBytes > WAKE_BYTES) {
            wake();
        }
        return true;
    }

    /** {@return whether at least half of the room is taken, so that those who can wait should} */
    public synchronized boolean isBusy() {
        return heldBytes > MOST_BYTES / 2;
    }

    /** Says what time it is, ns since the epoch, and that nothing that was received before is still to be appended. */
    public synchronized void tick(final long epochNs) {
        nowNs = Math.max(nowNs, epochNs);
        wake();
    }

    /** No message follows. */
    public synchronized void end() {
        isEnded = true;
        wake();
    }

    private void wake() {
        if (!waiting.isDone()) {
            waiting.complete(null);
        }
    }

    /** {@return how many messages wait} */
    public synchronized int size() {
        return messages.size();
    }

    /** {@return the next message, or null if there is none now} */
    public synchronized RawMessage poll() {
        final RawMessage message = messages.poll();
        if (message != null) {
            heldBytes -= message.getPayload().size() + OVERHEAD_BYTES;
        }
        return message;
    }

    /** {@return the time of the last tick, ns since the epoch; 0 before the first} */
    public synchronized long nowNs() {
        return nowNs;
    }

    /** {@return whether the last message was taken and none follows} */
    public synchronized boolean isOver() {
        return isEnded && messages.isEmpty();
    }

    /** {@return completes when there is a message, another tick, or the end} */
    public synchronized CompletableFuture<Void> available() {
        if (!messages.isEmpty() || isEnded) {
            return READY;
        }
        if (waiting.isDone()) {
            waiting = new CompletableFuture<>();
        }
        return waiting;
    }

    @Override
    public void close() {
        QUEUES.remove(name, this);
    }
}
