package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.flow.SnapshotSink;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.IoUtil;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.ringbuffer.OneToOneRingBuffer;
import org.agrona.concurrent.ringbuffer.RecordDescriptor;
import org.agrona.concurrent.ringbuffer.RingBuffer;
import org.agrona.concurrent.ringbuffer.RingBufferDescriptor;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The ring of copies from the metering stage to the thread that writes them. It lies in a mapped file, so that unread copies
 * outlive the process: {@link #replay} passes them to the next one. One thread offers, one reads; a full ring refuses.
 * Allocates when it is opened.
 */
final class CheckpointRing implements SnapshotSink, AutoCloseable {
    /** A {@link SavedFlow}. */
    static final int FLOW = 1;
    /** A {@link SavedFlow} as it ended. */
    static final int LAST = 2;
    /** The id of a flow that has ended. */
    static final int ENDED = 3;
    /** The time at which a round was complete. */
    static final int ROUND = 4;

    private static final int CAPACITY_BYTES = 8 << 20;
    private static final int LENGTH_BYTES = CAPACITY_BYTES + RingBufferDescriptor.TRAILER_LENGTH;

    private final Path path;
    private final MappedByteBuffer mapped;
    private final UnsafeBuffer octets;
    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SavedFlow.LENGTH_BYTES]);
    private final UnsafeBuffer word = new UnsafeBuffer(new byte[Long.BYTES]);
    private final int stateLengthBytes;
    private OneToOneRingBuffer ring;
    private volatile boolean isLost;

    private CheckpointRing(final Path path, final MappedByteBuffer mapped, final int stateLengthBytes) {
        this.path = path;
        this.mapped = mapped;
        this.stateLengthBytes = stateLengthBytes;
        octets = new UnsafeBuffer(mapped);
    }

    /**
     * Opens a ring, with the unread copies of a former process.
     *
     * @param path             of its file; a file of another length is replaced.
     * @param stateLengthBytes of other stages in the cache.
     * @return the ring; {@link #begin} makes it ready.
     * @throws IOException if the file cannot be created.
     */
    static CheckpointRing open(final Path path, final int stateLengthBytes) throws IOException {
        if (Files.exists(path) && Files.size(path) != LENGTH_BYTES) {
            Files.delete(path);
        }
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(LENGTH_BYTES);
            return new CheckpointRing(
                path, file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, LENGTH_BYTES), stateLengthBytes);
        }
    }

    /** {@return octets off the heap} */
    static long memoryBytes() {
        return LENGTH_BYTES;
    }

    /**
     * Reads the copies that the former process did not. The octets are checked, because they come from a file. Reading stops at
     * the first message that is invalid or was incomplete at the end.
     *
     * @param handler takes messages whose type and length fit each other.
     */
    void replay(final MessageHandler handler) {
        final long tail = octets.getLong(CAPACITY_BYTES + RingBufferDescriptor.TAIL_POSITION_OFFSET);
        long head = octets.getLong(CAPACITY_BYTES + RingBufferDescriptor.HEAD_POSITION_OFFSET);
        while (head >= 0 && head < tail && tail - head <= CAPACITY_BYTES && BitUtil.isAligned(head, RecordDescriptor.ALIGNMENT)) {
            final int index = (int)head & CAPACITY_BYTES - 1;
            final int length = octets.getInt(RecordDescriptor.lengthOffset(index));
            final int type = octets.getInt(RecordDescriptor.typeOffset(index));
            final boolean isPadding = type == RingBuffer.PADDING_MSG_TYPE_ID;
            if (length < RecordDescriptor.HEADER_LENGTH || length > CAPACITY_BYTES - index ||
                !isPadding && length - RecordDescriptor.HEADER_LENGTH != messageLength(type)) {
                return;
            }
            if (!isPadding) {
                handler.onMessage(
                    type, octets, RecordDescriptor.encodedMsgOffset(index), length - RecordDescriptor.HEADER_LENGTH);
            }
            head += BitUtil.align(length, RecordDescriptor.ALIGNMENT);
        }
    }

    /** Writes into a file the copies that were on their way to it, each valid flow as of its last message. */
    void replayInto(final CheckpointFile file) {
        replay((type, buffer, index, length) -> {
            if (type == ENDED) {
                file.markEnded(buffer.getLong(index));
            } else if (type != ROUND) {
                flow.putBytes(0, buffer, index, length);
                file.putIfSound(flow);
            }
        });
    }

    private static int messageLength(final int type) {
        return switch (type) {
            case FLOW, LAST -> SavedFlow.LENGTH_BYTES;
            case ENDED, ROUND -> Long.BYTES;
            default -> -1;
        };
    }

    /** Begins with an empty ring. */
    void begin() {
        octets.setMemory(0, octets.capacity(), (byte)0);
        ring = new OneToOneRingBuffer(octets);
    }

    @Override
    public boolean onFlow(final DirectBuffer buffer, final int offset) {
        SavedFlow.copy(flow, 0, buffer, offset, stateLengthBytes);
        return ring.write(FLOW, flow, 0, SavedFlow.LENGTH_BYTES);
    }

    @Override
    public boolean onLast(final DirectBuffer buffer, final int offset) {
        SavedFlow.copy(flow, 0, buffer, offset, stateLengthBytes);
        SavedFlow.markEnded(flow);
        return ring.write(LAST, flow, 0, SavedFlow.LENGTH_BYTES);
    }

    @Override
    public boolean onEnded(final long flowId) {
        word.putLong(0, flowId);
        return ring.write(ENDED, word, 0, Long.BYTES);
    }

    @Override
    public boolean onSweepEnded(final long nowNs) {
        word.putLong(0, nowNs);
        return ring.write(ROUND, word, 0, Long.BYTES);
    }

    @Override
    public boolean takeLoss() {
        final boolean wasLost = isLost;
        if (wasLost) {
            isLost = false;
        }
        return wasLost;
    }

    /** Declares everything given so far lost. Reading thread only. */
    void lose() {
        isLost = true;
    }

    int read(final MessageHandler handler, final int limit) {
        return ring.read(handler, limit);
    }

    /** Removes the file; the ring stays usable until it is closed. */
    void remove() throws IOException {
        Files.deleteIfExists(path);
    }

    /** Once neither thread uses it. */
    @Override
    public void close() {
        IoUtil.unmap(mapped);
    }
}
