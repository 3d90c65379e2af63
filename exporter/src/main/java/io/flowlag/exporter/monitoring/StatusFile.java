package io.flowlag.exporter.monitoring;

import org.agrona.concurrent.UnsafeBuffer;

import java.util.zip.CRC32C;

/**
 * The layout of the status file: a header, and two buffers of equal length that are written in turn. Little-endian on every
 * machine
 * that the JVM maps it on; aligned to 8 octets.
 * <pre>
 *   0  magic            8   "flowlag" and a line feed
 *   8  version          4   of header and contents; readers of another version refuse
 *  12  headerLength     4   256
 *  16  bufferLength     8   octets of each buffer, its head among them
 *  24  pid              8   of the writer
 *  32  startTimeMs      8   of the writer, since 1970
 *  40  intervalMs       8   between two snapshots
 *  64  activityMs       8   the writer's last sign of life; five times a second
 * 128  snapshotNumber   8   of the newest whole snapshot, from 1; it lies in buffer (number and 1); 0 for none yet
 * 192  endedMs          8   0, or when the writer ended normally
 * 256  buffer 0
 *  ..  buffer 1
 *
 * a buffer:
 *   0  number           8   of the snapshot
 *   8  contentLength    4   octets of the contents
 *  12  checksum         4   CRC-32C of the contents
 *  16  contents             see SnapshotCodec
 * </pre>
 * The one writer writes snapshot n + 1 into the buffer that does not hold n, then stores its number with release order. A
 * reader loads the number with acquire order, copies that buffer, and takes the copy if the number is still the same: the
 * writer does not touch this buffer before it has stored the next number. Neither side waits, a reader that dies has no effect,
 * and a writer that dies leaves the last whole snapshot. Constants, for any thread.
 */
public final class StatusFile {
    /** Of header and contents. */
    public static final int VERSION = 11;

    static final long MAGIC = 0x0A67_616C_776F_6C66L;
    static final int MAGIC_OFFSET = 0;
    static final int VERSION_OFFSET = MAGIC_OFFSET + 8;
    static final int HEADER_LENGTH_OFFSET = VERSION_OFFSET + 4;
    static final int BUFFER_LENGTH_OFFSET = HEADER_LENGTH_OFFSET + 4;
    static final int PID_OFFSET = BUFFER_LENGTH_OFFSET + 8;
    static final int START_TIME_OFFSET = PID_OFFSET + 8;
    static final int INTERVAL_OFFSET = START_TIME_OFFSET + 8;
    static final int ACTIVITY_OFFSET = 64;
    static final int SNAPSHOT_NUMBER_OFFSET = 128;
    static final int ENDED_OFFSET = 192;
    static final int HEADER_LENGTH = 256;

    static final int NUMBER_OFFSET = 0;
    static final int CONTENT_LENGTH_OFFSET = NUMBER_OFFSET + 8;
    static final int CHECKSUM_OFFSET = CONTENT_LENGTH_OFFSET + 4;
    static final int CONTENT_OFFSET = CHECKSUM_OFFSET + 4;

    private StatusFile() {
    }

    static int bufferOffset(final long snapshotNumber, final int bufferLength) {
        return HEADER_LENGTH + (int)(snapshotNumber & 1) * bufferLength;
    }

    static int checksum(final UnsafeBuffer buffer, final int offset, final int lengthBytes) {
        final CRC32C checksum = new CRC32C();
        final byte[] octets = new byte[lengthBytes];
        buffer.getBytes(offset, octets);
        checksum.update(octets);
        return (int)checksum.getValue();
    }
}
