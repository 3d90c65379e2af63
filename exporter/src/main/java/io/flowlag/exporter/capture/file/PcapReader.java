package io.flowlag.exporter.capture.file;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import org.agrona.DirectBuffer;

/**
 * Walks the packets of a pcap file: see {@link PcapFormat}. The interface of its packets is 0, except in the modified format,
 * which has the kernel's interface index. Like libpcap, it accepts a captured length beyond the file's snapshot length, or
 * beyond the length on the wire, which it then raises. The captured length is limited to 256 KiB.
 */
final class PcapReader extends CaptureReader {
    private final int nsPerFraction;
    private final int headerLengthBytes;
    private final int minorVersion;
    private final boolean areLengthsSwapped;

    /**
     * Reads the file header.
     *
     * @param name   of the input, for messages.
     * @param window on the input, whose magic number is known to be one of pcap.
     * @throws CaptureException if the header is cut or of an unknown version.
     */
    PcapReader(final String name, final ByteWindow window) {
        super(name, window);
        final int index = window.require(0, PcapFormat.FILE_HEADER_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            cutAt(0, "the file header", PcapFormat.FILE_HEADER_LENGTH_BYTES);
            throw new CaptureException(Kind.DAMAGED, damage());
        }
        final DirectBuffer buffer = window.buffer();
        order = PcapFormat.byteOrder(buffer, index);
        final int magic = int32(buffer, index + PcapFormat.MAGIC_OFFSET);
        final int majorVersion = uint16(buffer, index + PcapFormat.MAJOR_VERSION_OFFSET);
        minorVersion = uint16(buffer, index + PcapFormat.MINOR_VERSION_OFFSET);
        if (majorVersion != PcapFormat.MAJOR_VERSION && majorVersion != PcapFormat.DGUX_MAJOR_VERSION) {
            throw new CaptureException(Kind.NO_INPUT, name + ": pcap version " + majorVersion + "." + minorVersion
                + " is not known; only versions 2.x are");
        }
        areLengthsSwapped = majorVersion == PcapFormat.DGUX_MAJOR_VERSION
            || minorVersion < PcapFormat.MIXED_LENGTHS_MINOR_VERSION;
        nsPerFraction = magic == PcapFormat.MAGIC_NANOSECONDS ? 1 : 1000;
        headerLengthBytes = magic == PcapFormat.MAGIC_MODIFIED
            ? PcapFormat.MODIFIED_RECORD_HEADER_LENGTH_BYTES : PcapFormat.RECORD_HEADER_LENGTH_BYTES;
        linkType = int32(buffer, index + PcapFormat.LINK_TYPE_OFFSET) & PcapFormat.LINK_TYPE_MASK;
        position = PcapFormat.FILE_HEADER_LENGTH_BYTES;
    }

    @Override
    boolean next() {
        if (isDamaged()) {
            return false;
        }
        final int index = window.require(position, headerLengthBytes);
        if (index == ByteWindow.NOT_THERE) {
            return endsAt("the header of a record", headerLengthBytes);
        }
        final DirectBuffer buffer = window.buffer();
        final long first = uint32(buffer, index + PcapFormat.CAPTURED_LENGTH_OFFSET);
        final long second = uint32(buffer, index + PcapFormat.WIRE_LENGTH_OFFSET);
        final boolean isSwapped = areLengthsSwapped
            || minorVersion == PcapFormat.MIXED_LENGTHS_MINOR_VERSION && first > second;
        // At most 2^32 s and 2^32 µs: far from the bound of 64 bits.
        timestampNs = uint32(buffer, index + PcapFormat.SECONDS_OFFSET) * Nanoseconds.PER_SECOND
            + uint32(buffer, index + PcapFormat.FRACTION_OFFSET) * nsPerFraction;
        if (headerLengthBytes == PcapFormat.MODIFIED_RECORD_HEADER_LENGTH_BYTES) {
            interfaceId = int32(buffer, index + PcapFormat.MODIFIED_INTERFACE_OFFSET);
        }
        return isSwapped ? takePacket(second, first) : takePacket(first, second);
    }

    private boolean takePacket(final long capturedBytes, final long wireBytes) {
        if (capturedBytes > MAX_CAPTURED_LENGTH_BYTES) {
            return damagedAt(position, "a packet of " + capturedBytes + " captured octets, more than "
                + MAX_CAPTURED_LENGTH_BYTES);
        }
        final int lengthBytes = headerLengthBytes + (int) capturedBytes;
        final int index = window.require(position, lengthBytes);
        if (index == ByteWindow.NOT_THERE) {
            return cutAt(position, "a record", lengthBytes);
        }
        offset = index + headerLengthBytes;
        capturedLengthBytes = (int) capturedBytes;
        wireLengthBytes = (int) Math.min(Math.max(wireBytes, capturedBytes), Integer.MAX_VALUE);
        position += lengthBytes;
        return true;
    }
}
