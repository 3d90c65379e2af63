package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.terminal.OutputFiles;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32C;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The read position of a spool, in a file of two slots that are written in turn, so that one is always whole:
 * <pre>
 *  slot  0 generation (8) | 8 released segment (8) | 16 released offset (8) | 24 handed segment (8) | 32 handed offset (8) |
 *        40 CRC-32C of 0..39 (4) | 44 1 if it is the last of a process that ended in order (4) | 48 boot identifier (16)
 * </pre>
 * Little-endian. Records before the released position have left the process; those from there to the handed position may have.
 * It is not forced while it is used: after a power cut, which another boot identifier tells, any record may have left.
 * Used by one thread at a time. Allocates at construction.
 */
final class SpoolPosition implements AutoCloseable {
    private static final int SLOT_BYTES = 64;
    private static final int RELEASED_SEGMENT_OFFSET = 8;
    private static final int RELEASED_OFFSET_OFFSET = 16;
    private static final int HANDED_SEGMENT_OFFSET = 24;
    private static final int HANDED_OFFSET_OFFSET = 32;
    private static final int CHECKSUM_OFFSET = 40;
    private static final int LAST_OFFSET = 44;
    private static final int BOOT_ID_OFFSET = 48;
    private static final UUID NO_BOOT_ID = new UUID(0, 0);

    private final ByteBuffer slot = ByteBuffer.allocateDirect(SLOT_BYTES);
    private final UnsafeBuffer view = new UnsafeBuffer(slot);
    private final CRC32C checksum = new CRC32C();
    private final Path path;
    private final UUID bootId = Disk.bootId();
    private boolean isAnyHanded;
    private FileChannel channel;
    private long generation;
    private long releasedSegment;
    private long releasedOffset;
    private long handedSegment;
    private long handedOffset;

    /** Opens or creates the file; loads a valid position. */
    SpoolPosition(final Path path) throws IOException {
        this.path = path;
        channel = open(path);
        try {
            for (int i = 0; i < 2; i++) {
                read(i);
            }
        } catch (final IOException ex) {
            CloseHelper.quietClose(channel);
            throw new IOException(path + ": " + OutputFiles.reason(ex), ex);
        }
    }

    private static FileChannel open(final Path path) throws IOException {
        return Disk.open(
            path, SpoolSegment.MODE, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private void read(final int index) throws IOException {
        slot.clear();
        while (slot.hasRemaining() && channel.read(slot, (long)index * SLOT_BYTES + slot.position()) > 0) {
            continue;
        }
        final boolean isWhole = !slot.hasRemaining() && view.getInt(CHECKSUM_OFFSET, LITTLE_ENDIAN) == checksum();
        if (isWhole && view.getLong(0, LITTLE_ENDIAN) > generation) {
            generation = view.getLong(0, LITTLE_ENDIAN);
            releasedSegment = view.getLong(RELEASED_SEGMENT_OFFSET, LITTLE_ENDIAN);
            releasedOffset = view.getLong(RELEASED_OFFSET_OFFSET, LITTLE_ENDIAN);
            handedSegment = view.getLong(HANDED_SEGMENT_OFFSET, LITTLE_ENDIAN);
            handedOffset = view.getLong(HANDED_OFFSET_OFFSET, LITTLE_ENDIAN);
            final UUID formerBootId = new UUID(
                view.getLong(BOOT_ID_OFFSET, LITTLE_ENDIAN), view.getLong(BOOT_ID_OFFSET + Long.BYTES, LITTLE_ENDIAN));
            isAnyHanded = view.getInt(LAST_OFFSET, LITTLE_ENDIAN) == 0 && !formerBootId.equals(NO_BOOT_ID) &&
                !formerBootId.equals(bootId);
        }
    }

    long releasedSegment() {
        return releasedSegment;
    }

    long releasedOffset() {
        return releasedOffset;
    }

    /** Whether the record at a position may have been given to a connection of a former process. */
    boolean isHanded(final long segment, final long offset) {
        return isAnyHanded || segment < handedSegment || segment == handedSegment && offset <= handedOffset;
    }

    /** {@return whether this is the present position} */
    boolean isAt(
        final long ofReleasedSegment, final long ofReleasedOffset, final long ofHandedSegment, final long ofHandedOffset) {
        return ofReleasedSegment == releasedSegment && ofReleasedOffset == releasedOffset &&
            ofHandedSegment == handedSegment && ofHandedOffset == handedOffset;
    }

    /** Writes the position if it has changed. */
    void write(
        final long newReleasedSegment, final long newReleasedOffset, final long newHandedSegment, final long newHandedOffset)
        throws IOException {
        if (isAt(newReleasedSegment, newReleasedOffset, newHandedSegment, newHandedOffset)) {
            return;
        }
        put(newReleasedSegment, newReleasedOffset, newHandedSegment, newHandedOffset, 0);
        releasedSegment = newReleasedSegment;
        releasedOffset = newReleasedOffset;
        handedSegment = newHandedSegment;
        handedOffset = newHandedOffset;
    }

    /** Marks the present position as the last one, and forces it to the disk: the process ends in order. */
    void end(final Disk disk) throws IOException {
        put(releasedSegment, releasedOffset, handedSegment, handedOffset, 1);
        disk.force(channel, path);
    }

    private void put(
        final long newReleasedSegment, final long newReleasedOffset, final long newHandedSegment, final long newHandedOffset,
        final int last) throws IOException {
        if (!channel.isOpen()) {
            channel = open(path); // an interrupt closed it
        }
        view.setMemory(0, SLOT_BYTES, (byte)0);
        view.putLong(0, generation + 1, LITTLE_ENDIAN);
        view.putLong(RELEASED_SEGMENT_OFFSET, newReleasedSegment, LITTLE_ENDIAN);
        view.putLong(RELEASED_OFFSET_OFFSET, newReleasedOffset, LITTLE_ENDIAN);
        view.putLong(HANDED_SEGMENT_OFFSET, newHandedSegment, LITTLE_ENDIAN);
        view.putLong(HANDED_OFFSET_OFFSET, newHandedOffset, LITTLE_ENDIAN);
        view.putInt(CHECKSUM_OFFSET, checksum(), LITTLE_ENDIAN);
        view.putInt(LAST_OFFSET, last, LITTLE_ENDIAN);
        view.putLong(BOOT_ID_OFFSET, bootId.getMostSignificantBits(), LITTLE_ENDIAN);
        view.putLong(BOOT_ID_OFFSET + Long.BYTES, bootId.getLeastSignificantBits(), LITTLE_ENDIAN);
        slot.clear();
        while (slot.hasRemaining()) {
            channel.write(slot, (generation + 1 & 1) * SLOT_BYTES + slot.position());
        }
        generation++;
    }

    private int checksum() {
        checksum.reset();
        final ByteBuffer octets = slot.duplicate();
        octets.limit(CHECKSUM_OFFSET).position(0);
        checksum.update(octets);
        return (int)checksum.getValue();
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
