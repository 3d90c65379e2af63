package io.flowlag.exporter.checkpoint;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.flow.SnapshotSink;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;

/**
 * The ring of copies from the metering stage to the thread that writes them. It lies in memory, because a page of a mapped file
 * can block or fail while the stage writes there. The reading thread copies it to a file of the same layout: copies outlive the
 * process after {@link #write}, and a power cut after {@link #force}; {@link #replay} passes them to the next process. A copy
 * stays until {@link #release}, so that a map that was torn by a power cut can be mended. One thread offers, one reads; a full
 * ring refuses. In the byte order of the machine:
 * <pre>
 *    0  magic (8) | 8 boot identifier (16) | 24 version (4) | 28 CRC-32C of 0..27 (4)
 *   64  sequence of the first copy that is not in the map for good (8)
 *  128  sequence behind the last copy that was forced (8)
 *  768  slots: 0 CRC-32C of 4..207 (4) | 4 type (4) | 8 sequence (8) | 16 what it holds (192)
 * </pre>
 * {@link #begin} allocates the file's blocks, so a full disk is an error at the start. Allocates in {@link #open} and there.
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

    static final int BOOT_ID_OFFSET = 8;
    static final int RELEASED_OFFSET = 64;
    static final int FORCED_OFFSET = 128;
    static final int SLOTS_OFFSET = 768;
    static final int TYPE_OFFSET = 4;
    static final int SEQUENCE_OFFSET = 8;
    static final int CONTENT_OFFSET = 16;
    static final int SLOT_BYTES = CONTENT_OFFSET + SavedFlow.LENGTH_BYTES;

    private static final long MAGIC = 0x464c_4f57_4c52_494eL;
    private static final int VERSION = 2;
    private static final int VERSION_OFFSET = 24;
    private static final int HEADER_CHECKSUM_OFFSET = 28;
    private static final int LEAST_SLOTS = 128;
    private static final int MOST_SLOTS = (8 << 20) / SLOT_BYTES;
    private static final int SLOTS_OF_A_FLOW = 2;
    private static final int PIECE_BYTES = 64 << 10;
    private static final UUID NO_BOOT_ID = new UUID(0, 0);

    private final Path path;
    private final Disk disk;
    private final FileChannel channel;
    private final UnsafeBuffer octets = new UnsafeBuffer(0, 0);
    private final UUID bootId = Disk.bootId();
    private final UnsafeBuffer flow = new UnsafeBuffer(new byte[SavedFlow.LENGTH_BYTES]);
    private final int stateLengthBytes;
    private final AtomicLong published = new AtomicLong();
    private final AtomicLong roundEnd = new AtomicLong();
    private final AtomicLong released = new AtomicLong();
    private final boolean isOurs;
    private ByteBuffer memory;
    private Checksum offered;
    private int slots;
    private long head;
    private long written;
    private long forced;
    private volatile boolean isLost;

    /** Of octets in memory, without allocation. Used by one thread. */
    private static final class Checksum {
        private final CRC32C crc = new CRC32C();
        private final ByteBuffer octets;

        private Checksum(final ByteBuffer octets) {
            this.octets = octets.duplicate();
        }

        private int of(final int begin, final int end) {
            crc.reset();
            octets.limit(end).position(begin);
            crc.update(octets);
            return (int)crc.getValue();
        }
    }

    /** With what a file of whole slots holds, in memory. */
    CheckpointRing(
        final Path path, final Disk disk, final FileChannel channel, final ByteBuffer memory, final int stateLengthBytes) {
        this.path = path;
        this.disk = disk;
        this.channel = channel;
        this.stateLengthBytes = stateLengthBytes;
        use(memory);
        isOurs = octets.getLong(0) == MAGIC && octets.getInt(VERSION_OFFSET) == VERSION &&
            octets.getInt(HEADER_CHECKSUM_OFFSET) == offered.of(0, HEADER_CHECKSUM_OFFSET);
    }

    /**
     * Opens a ring, with the copies of a former process.
     *
     * @param path             of its file; a file of another format is replaced.
     * @param stateLengthBytes of other stages in the cache.
     * @return the ring; {@link #begin} makes it ready.
     * @throws IOException if the file cannot be created or read.
     */
    static CheckpointRing open(final Path path, final int stateLengthBytes, final Disk disk) throws IOException {
        final FileChannel channel = Disk.open(path, CheckpointFile.MODE,
            StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            if (!isLength(channel.size())) {
                channel.truncate(0);
            }
            final ByteBuffer memory = ByteBuffer.allocateDirect(Math.max(lengthBytes(0), (int)channel.size()));
            while (memory.hasRemaining() && channel.read(memory, memory.position()) > 0) {
                continue;
            }
            return new CheckpointRing(path, disk, channel, memory, stateLengthBytes);
        } catch (final IOException ex) {
            CloseHelper.quietClose(channel);
            throw ex;
        }
    }

    private void use(final ByteBuffer newMemory) {
        memory = newMemory;
        octets.wrap(newMemory);
        offered = new Checksum(newMemory);
        slots = (newMemory.capacity() - SLOTS_OFFSET) / SLOT_BYTES;
    }

    /** A ring may be of a process with another cache. */
    private static boolean isLength(final long bytes) {
        return bytes >= lengthBytes(0) && bytes <= lengthBytes(Integer.MAX_VALUE) && (bytes - SLOTS_OFFSET) % SLOT_BYTES == 0;
    }

    private static int lengthBytes(final int maxFlows) {
        return SLOTS_OFFSET + (int)Math.max(LEAST_SLOTS, Math.min(MOST_SLOTS, SLOTS_OF_A_FLOW * (long)maxFlows)) * SLOT_BYTES;
    }

    private static void clear(final FileChannel channel, final int lengthBytes) throws IOException {
        channel.truncate(lengthBytes);
        final ByteBuffer zeros = ByteBuffer.allocateDirect(PIECE_BYTES);
        for (long at = 0; at < lengthBytes; at += channel.write(zeros, at)) {
            zeros.position(0).limit((int)Math.min(PIECE_BYTES, lengthBytes - at));
        }
    }

    /** {@return octets off the heap; those of a former process's ring go away when it has begun} */
    static long memoryBytes(final int maxFlows) {
        return lengthBytes(maxFlows);
    }

    /** Whether the former process ran on another run of the system, or cannot be told: what was not forced may be lost. */
    boolean isOfOtherBoot() {
        return !isOurs || bootId.equals(NO_BOOT_ID) ||
            !bootId.equals(new UUID(octets.getLong(BOOT_ID_OFFSET), octets.getLong(BOOT_ID_OFFSET + Long.BYTES)));
    }

    /**
     * Reads the copies that may not be in the map for good, in their order. The octets are checked, because they come from a
     * file. After a kill, reading stops at the first invalid copy, which was incomplete at the end. After a power cut, only what
     * was forced is used, and slots that the next lap had begun to use are left out: their copies are in the map.
     *
     * @param handler takes copies whose type is known.
     */
    void replay(final MessageHandler handler) {
        final Checksum checksum = new Checksum(memory);
        final boolean isCut = isOfOtherBoot();
        final long begin = octets.getLong(RELEASED_OFFSET);
        final long end = Math.min(begin + slots, isCut ? octets.getLong(FORCED_OFFSET) : Long.MAX_VALUE);
        if (!isOurs || begin < 0 || begin > Long.MAX_VALUE - slots) {
            return;
        }
        for (long sequence = begin; sequence < end; sequence++) {
            final int at = at(sequence);
            final int type = octets.getInt(at + TYPE_OFFSET);
            if (octets.getLong(at + SEQUENCE_OFFSET) == sequence && contentBytes(type) > 0 &&
                octets.getInt(at) == checksum.of(at + TYPE_OFFSET, at + SLOT_BYTES)) {
                handler.onMessage(type, octets, at + CONTENT_OFFSET, contentBytes(type));
            } else if (!isCut) {
                return;
            }
        }
    }

    /** Writes into a file the copies that may be missing in it, each valid flow as of its last copy. */
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

    private static int contentBytes(final int type) {
        return switch (type) {
            case FLOW, LAST -> SavedFlow.LENGTH_BYTES;
            case ENDED, ROUND -> Long.BYTES;
            default -> -1;
        };
    }

    private int at(final long sequence) {
        return SLOTS_OFFSET + (int)(sequence % slots) * SLOT_BYTES;
    }

    /**
     * Begins with an empty ring, on the disk too; what it held is in the map for good. An {@link IOException} tells a full disk.
     *
     * @param maxFlows of the cache.
     */
    void begin(final int maxFlows) throws IOException {
        final int lengthBytes = lengthBytes(maxFlows);
        octets.setMemory(0, SLOTS_OFFSET, (byte)0);
        write(0, SLOTS_OFFSET); // the header first: a ring that is half cleared must not be read
        disk.force(channel, path);
        clear(channel, lengthBytes);
        disk.force(channel, path);
        if (memory.capacity() == lengthBytes) {
            octets.setMemory(0, lengthBytes, (byte)0);
        } else {
            use(ByteBuffer.allocateDirect(lengthBytes));
        }
        octets.putLong(0, MAGIC);
        octets.putLong(BOOT_ID_OFFSET, bootId.getMostSignificantBits());
        octets.putLong(BOOT_ID_OFFSET + Long.BYTES, bootId.getLeastSignificantBits());
        octets.putInt(VERSION_OFFSET, VERSION);
        octets.putInt(HEADER_CHECKSUM_OFFSET, offered.of(0, HEADER_CHECKSUM_OFFSET));
        write(0, SLOTS_OFFSET);
        disk.force(channel, path);
        disk.forceDirectory(path.toAbsolutePath().getParent());
    }

    @Override
    public boolean onFlow(final DirectBuffer buffer, final int offset) {
        return hasRoom() && offerFlow(FLOW, buffer, offset);
    }

    @Override
    public boolean onLast(final DirectBuffer buffer, final int offset) {
        return hasRoom() && offerFlow(LAST, buffer, offset);
    }

    @Override
    public boolean onEnded(final long flowId) {
        return hasRoom() && offerWord(ENDED, flowId);
    }

    @Override
    public boolean onSweepEnded(final long nowNs) {
        final boolean isTaken = hasRoom() && offerWord(ROUND, nowNs);
        if (isTaken) {
            roundEnd.setRelease(published.getPlain());
        }
        return isTaken;
    }

    private boolean hasRoom() {
        return published.getPlain() - released.getAcquire() < slots;
    }

    private boolean offerFlow(final int type, final DirectBuffer buffer, final int offset) {
        SavedFlow.copy(flow, 0, buffer, offset, stateLengthBytes);
        if (type == LAST) {
            SavedFlow.markEnded(flow);
        }
        octets.putBytes(at(published.getPlain()) + CONTENT_OFFSET, flow, 0, SavedFlow.LENGTH_BYTES);
        return publish(type);
    }

    private boolean offerWord(final int type, final long word) {
        octets.putLong(at(published.getPlain()) + CONTENT_OFFSET, word);
        return publish(type);
    }

    private boolean publish(final int type) {
        final long sequence = published.getPlain();
        final int at = at(sequence);
        octets.putInt(at + TYPE_OFFSET, type);
        octets.putLong(at + SEQUENCE_OFFSET, sequence);
        octets.putInt(at, offered.of(at + TYPE_OFFSET, at + SLOT_BYTES));
        published.setRelease(sequence + 1);
        return true;
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

    /** Whether a round has ended, or the ring fills: the copies go into the map now. Reading thread only. */
    boolean isDue() {
        return roundEnd.getAcquire() > head || published.getAcquire() - head > slots / 4 * 3;
    }

    /** Writes the copies so far to the file. Returns how many. Reading thread only. */
    int write() throws IOException {
        final int count = (int)(published.getAcquire() - written);
        if (count > 0) {
            final int begin = at(written);
            final int end = Math.min(begin + count * SLOT_BYTES, SLOTS_OFFSET + slots * SLOT_BYTES);
            write(begin, end);
            write(SLOTS_OFFSET, SLOTS_OFFSET + begin + count * SLOT_BYTES - end);
            written += count;
        }
        return count;
    }

    private void write(final int begin, final int end) throws IOException {
        memory.limit(end).position(begin);
        while (memory.hasRemaining()) {
            channel.write(memory, memory.position());
        }
    }

    /** Forces every copy so far to the disk. Reading thread only. */
    void force() throws IOException {
        write();
        octets.putLong(FORCED_OFFSET, written);
        write(RELEASED_OFFSET, FORCED_OFFSET + Long.BYTES);
        disk.force(channel, path);
        forced = written;
    }

    /** Gives up writing the copies so far, which nothing will keep. Reading thread only. */
    void pass() {
        written = published.getAcquire();
        forced = written;
    }

    /** Passes on what was forced or given up. Returns how many copies. Reading thread only. */
    int read(final MessageHandler handler) {
        final int count = (int)(forced - head);
        while (head < forced) {
            final int at = at(head++);
            final int type = octets.getInt(at + TYPE_OFFSET);
            handler.onMessage(type, octets, at + CONTENT_OFFSET, contentBytes(type));
        }
        return count;
    }

    /** What was read is in the map for good: the file says so, and its slots are free. Reading thread only. */
    void release() throws IOException {
        octets.putLong(RELEASED_OFFSET, head);
        write(RELEASED_OFFSET, RELEASED_OFFSET + Long.BYTES);
        free();
    }

    /** Frees the slots of what was read, which is lost. Reading thread only. */
    void free() {
        released.setRelease(head);
    }

    /** Removes the file; the ring stays usable until it is closed. */
    void remove() throws IOException {
        Files.deleteIfExists(path);
    }

    /** Once neither thread uses it. */
    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
