package io.flowlag.exporter.capture.file;

import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * Unpacks gzip (RFC 1952), all members in turn, as one stream. Unlike the JDK's, it never takes a pause of a pipe for the end,
 * nor a cut member for trailing garbage. Cut or invalid input raises an {@link IOException} with its position, after everything
 * before it was returned. Zero octets behind the last member are padding. One thread owns it; allocates at construction.
 */
final class GzipInput extends InputStream implements StreamWindow.StoredLength {
    static final int MAGIC_FIRST = 0x1f;
    static final int MAGIC_SECOND = 0x8b;

    private static final int DEFLATE = 8;
    private static final int FLAG_HEADER_CRC = 0x02;
    private static final int FLAG_EXTRA = 0x04;
    private static final int FLAG_NAME = 0x08;
    private static final int FLAG_COMMENT = 0x10;
    private static final int FLAGS_RESERVED = 0xe0;
    private static final int TIME_SYSTEM_LENGTH_BYTES = 6;
    private static final int PACKED_LENGTH_BYTES = 1 << 16;

    private final InputStream packed;
    private final long totalBytes;
    private final byte[] octets = new byte[PACKED_LENGTH_BYTES];
    private final byte[] single = new byte[1];
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    /** The number of octets before those in the buffer. */
    private long bufferPosition;
    private int index;
    private int limit;
    private boolean isInMember;
    private boolean hasEnded;

    /** A stream of unpacked octets; it closes the packed one, whose length is -1 if unknown. */
    GzipInput(final InputStream packed, final long totalBytes) {
        this.packed = packed;
        this.totalBytes = totalBytes;
    }

    @Override
    public int read() throws IOException {
        return read(single, 0, 1) < 0 ? -1 : single[0] & 0xff;
    }

    @Override
    public int read(final byte[] target, final int offset, final int lengthBytes) throws IOException {
        while (lengthBytes > 0 && !hasEnded) {
            if (!isInMember) {
                beginMember();
            } else {
                final int readBytes = inflate(target, offset, lengthBytes);
                if (readBytes > 0) {
                    crc.update(target, offset, readBytes);
                    return readBytes;
                }
            }
        }
        return hasEnded ? -1 : 0;
    }

    private int inflate(final byte[] target, final int offset, final int lengthBytes) throws IOException {
        if (inflater.finished()) {
            endMember();
            return 0;
        }
        if (inflater.needsInput()) {
            refill();
            inflater.setInput(octets, index, limit - index);
        }
        try {
            final int readBytes = inflater.inflate(target, offset, lengthBytes);
            index = limit - inflater.getRemaining();
            if (inflater.needsDictionary()) {
                throw damage("gzip that needs a dictionary");
            }
            return readBytes;
        } catch (final DataFormatException ex) {
            throw damage("gzip data that cannot be unpacked");
        }
    }

    private void beginMember() throws IOException {
        if (consumedBytes() > 0 && isOnlyPaddingLeft()) {
            hasEnded = true;
            return;
        }
        if (octet() != MAGIC_FIRST || octet() != MAGIC_SECOND || octet() != DEFLATE) {
            throw damage("no gzip member");
        }
        final int flags = octet();
        if ((flags & FLAGS_RESERVED) != 0) {
            throw damage("gzip with unknown flags");
        }
        skip(TIME_SYSTEM_LENGTH_BYTES);
        skipFields(flags);
        inflater.reset();
        inflater.setInput(octets, index, limit - index);
        crc.reset();
        isInMember = true;
    }

    private void skipFields(final int flags) throws IOException {
        if ((flags & FLAG_EXTRA) != 0) {
            skip(octet() | octet() << 8);
        }
        if ((flags & FLAG_NAME) != 0) {
            skipText();
        }
        if ((flags & FLAG_COMMENT) != 0) {
            skipText();
        }
        if ((flags & FLAG_HEADER_CRC) != 0) {
            skip(2);
        }
    }

    private void endMember() throws IOException {
        if (littleEndianInt() != crc.getValue()) {
            throw damage("gzip data with a wrong checksum");
        }
        if (littleEndianInt() != (inflater.getBytesWritten() & 0xffff_ffffL)) {
            throw damage("gzip data of another length than it says");
        }
        isInMember = false;
    }

    private boolean isOnlyPaddingLeft() throws IOException {
        while (hasMore()) {
            if (octets[index] != 0) {
                return false;
            }
            index++;
        }
        return true;
    }

    private long littleEndianInt() throws IOException {
        return octet() | octet() << 8 | octet() << 16 | (long) octet() << 24;
    }

    private void skipText() throws IOException {
        int octet = octet();
        while (octet != 0) {
            octet = octet();
        }
    }

    private void skip(final int lengthBytes) throws IOException {
        for (int i = 0; i < lengthBytes; i++) {
            octet();
        }
    }

    private int octet() throws IOException {
        refill();
        return octets[index++] & 0xff;
    }

    private void refill() throws IOException {
        if (!hasMore()) {
            throw damage("gzip data is cut");
        }
    }

    private boolean hasMore() throws IOException {
        while (index == limit) {
            bufferPosition += limit;
            index = 0;
            limit = Math.max(packed.read(octets), 0);
            if (limit == 0) {
                return false;
            }
        }
        return true;
    }

    private IOException damage(final String what) {
        return new IOException(what + " (at octet " + consumedBytes() + " of the packed input)");
    }

    @Override
    public int available() throws IOException {
        return isInMember && !inflater.needsInput() || index < limit ? 1 : Math.min(packed.available(), 1);
    }

    @Override
    public long consumedBytes() {
        return bufferPosition + index;
    }

    @Override
    public long totalBytes() {
        return totalBytes;
    }

    @Override
    public void close() throws IOException {
        hasEnded = true;
        inflater.end();
        packed.close();
    }
}
