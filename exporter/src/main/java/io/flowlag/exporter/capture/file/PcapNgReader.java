package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Walks the packets of a pcapng file: see {@link PcapNgFormat}. The interface of a packet is its number within its section.
 * Blocks without packets are skipped by their length, including unknown types. Allocates when an interface is described, never
 * per packet.
 * <p>
 * The length at the end of a block, for reading backwards, may be wrong if the one at its head leads to another block or to the
 * end of the input; else the file is damaged there.
 * <p>
 * A simple packet has no time: it gets that of the packet before it in the file, or 0 if there is none. As in pcap files, a
 * captured length beyond the one on the wire raises that.
 */
final class PcapNgReader extends CaptureReader {
    /** The longest block that is read; skipped blocks may be longer. The bound of libpcap and Wireshark. */
    static final int MAX_BLOCK_LENGTH_BYTES = 16 << 20;
    /** The most interfaces that a section may describe. */
    static final int MAX_INTERFACES = 1 << 16;

    private int interfaceCount;
    private int[] linkTypes = new int[4];
    private long[] snapshotLengthsBytes = new long[4];
    private TimestampUnit[] units = new TimestampUnit[4];
    private int timeResolution;
    private long timeOffsetSeconds;
    /** Length of the block that {@link #requireBlock} brought into view. */
    private int blockLengthBytes;

    /**
     * Reads the first section header.
     *
     * @param name   of the input, for messages.
     * @param window on the input, which is known to begin as a section header does.
     * @throws CaptureException if that is no section header, is damaged, or is of an unknown version.
     */
    PcapNgReader(final String name, final ByteWindow window) {
        super(name, window);
        final int index = window.require(0, PcapNgFormat.MIN_SECTION_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            cutAt(0, "the section header", PcapNgFormat.MIN_SECTION_LENGTH_BYTES);
            throw new CaptureException(Kind.DAMAGED, damage());
        }
        final DirectBuffer buffer = window.buffer();
        order = PcapNgFormat.byteOrder(buffer, index);
        if (order == null) {
            throw new CaptureException(Kind.NO_INPUT, name + ": begins like pcapng, but has no byte-order magic");
        }
        final int majorVersion = uint16(buffer, index + PcapNgFormat.MAJOR_VERSION_OFFSET);
        if (majorVersion != PcapNgFormat.MAJOR_VERSION) {
            throw new CaptureException(Kind.NO_INPUT, name + ": pcapng version " + majorVersion
                + " is not known; only version 1 is");
        }
        if (!onSectionHeader()) {
            throw new CaptureException(Kind.DAMAGED, damage());
        }
    }

    @Override
    boolean next() {
        while (!isDamaged()) {
            final int index = window.require(position, PcapNgFormat.BLOCK_HEADER_LENGTH_BYTES);
            if (index == ByteWindow.NOT_THERE) {
                return endsAt("the header of a block", PcapNgFormat.BLOCK_HEADER_LENGTH_BYTES);
            }
            switch (int32(window.buffer(), index + PcapNgFormat.TYPE_OFFSET)) {
                case PcapNgFormat.ENHANCED_PACKET:
                    return onTimedPacket(index, false);
                case PcapNgFormat.OBSOLETE_PACKET:
                    return onTimedPacket(index, true);
                case PcapNgFormat.SIMPLE_PACKET:
                    return onSimplePacket(index);
                case PcapNgFormat.INTERFACE_DESCRIPTION:
                    onInterface(index);
                    break;
                case PcapNgFormat.SECTION_HEADER:
                    onSectionHeader();
                    break;
                default:
                    skipBlock(index);
                    break;
            }
        }
        return false;
    }

    private boolean onSectionHeader() {
        final int index = window.require(position, PcapNgFormat.MIN_SECTION_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            return cutAt(position, "a section header", PcapNgFormat.MIN_SECTION_LENGTH_BYTES);
        }
        final ByteOrder sectionOrder = PcapNgFormat.byteOrder(window.buffer(), index);
        if (sectionOrder == null) {
            return damagedAt(position, "a section header without byte-order magic");
        }
        order = sectionOrder;
        final int majorVersion = uint16(window.buffer(), index + PcapNgFormat.MAJOR_VERSION_OFFSET);
        if (majorVersion != PcapNgFormat.MAJOR_VERSION) {
            return damagedAt(position, "a section of unknown version " + majorVersion);
        }
        interfaceCount = 0;
        return requireBlock(index, PcapNgFormat.MIN_SECTION_LENGTH_BYTES) != ByteWindow.NOT_THERE && passBlock();
    }

    private boolean onInterface(final int headerIndex) {
        final int index = requireBlock(headerIndex, PcapNgFormat.MIN_INTERFACE_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            return false;
        }
        if (interfaceCount == MAX_INTERFACES) {
            return damagedAt(position, "more than " + MAX_INTERFACES + " interfaces in a section");
        }
        if (!readInterfaceOptions(index)) {
            return false;
        }
        addInterface(index);
        return passBlock();
    }

    private void addInterface(final int index) {
        if (interfaceCount == linkTypes.length) {
            linkTypes = Arrays.copyOf(linkTypes, interfaceCount * 2);
            snapshotLengthsBytes = Arrays.copyOf(snapshotLengthsBytes, interfaceCount * 2);
            units = Arrays.copyOf(units, interfaceCount * 2);
        }
        linkTypes[interfaceCount] = uint16(window.buffer(), index + PcapNgFormat.LINK_TYPE_OFFSET);
        snapshotLengthsBytes[interfaceCount] = uint32(window.buffer(), index + PcapNgFormat.SNAPSHOT_LENGTH_OFFSET);
        units[interfaceCount] = new TimestampUnit(timeResolution, timeOffsetSeconds);
        interfaceCount++;
    }

    private boolean readInterfaceOptions(final int index) {
        timeResolution = TimestampUnit.MICROSECONDS;
        timeOffsetSeconds = 0;
        final DirectBuffer buffer = window.buffer();
        final int endIndex = index + blockLengthBytes - PcapNgFormat.TRAILER_LENGTH_BYTES;
        int optionIndex = index + PcapNgFormat.INTERFACE_OPTIONS_OFFSET;
        while (optionIndex <= endIndex - PcapNgFormat.OPTION_VALUE_OFFSET) {
            final int code = uint16(buffer, optionIndex + PcapNgFormat.OPTION_CODE_OFFSET);
            if (code == PcapNgFormat.OPTION_END) {
                return true;
            }
            final int lengthBytes = uint16(buffer, optionIndex + PcapNgFormat.OPTION_LENGTH_OFFSET);
            final int nextIndex = optionIndex + PcapNgFormat.OPTION_VALUE_OFFSET + (lengthBytes + 3 & ~3);
            if (nextIndex > endIndex || !readTimeOption(code, optionIndex, lengthBytes)) {
                return damagedAt(position, "option " + code + " of an interface has the impossible length " + lengthBytes);
            }
            optionIndex = nextIndex;
        }
        return true;
    }

    private boolean readTimeOption(final int code, final int optionIndex, final int lengthBytes) {
        if (code == PcapNgFormat.OPTION_TIME_RESOLUTION) {
            timeResolution = window.buffer().getByte(optionIndex + PcapNgFormat.OPTION_VALUE_OFFSET) & 0xff;
            return lengthBytes == PcapNgFormat.TIME_RESOLUTION_LENGTH_BYTES;
        }
        if (code == PcapNgFormat.OPTION_TIME_OFFSET && lengthBytes == PcapNgFormat.TIME_OFFSET_LENGTH_BYTES) {
            timeOffsetSeconds = window.buffer().getLong(optionIndex + PcapNgFormat.OPTION_VALUE_OFFSET, order);
        }
        return code != PcapNgFormat.OPTION_TIME_OFFSET || lengthBytes == PcapNgFormat.TIME_OFFSET_LENGTH_BYTES;
    }

    private boolean onTimedPacket(final int headerIndex, final boolean isObsolete) {
        final int index = requireBlock(headerIndex, PcapNgFormat.MIN_PACKET_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            return false;
        }
        final DirectBuffer buffer = window.buffer();
        final long id = isObsolete
            ? uint16(buffer, index + PcapNgFormat.INTERFACE_ID_OFFSET) : uint32(buffer, index + PcapNgFormat.INTERFACE_ID_OFFSET);
        if (id >= interfaceCount) {
            return damagedAt(position, "a packet of interface " + id + ", which is not described");
        }
        final long capturedBytes = uint32(buffer, index + PcapNgFormat.CAPTURED_LENGTH_OFFSET);
        if (!takePacket(index + PcapNgFormat.PACKET_OFFSET, capturedBytes,
            uint32(buffer, index + PcapNgFormat.WIRE_LENGTH_OFFSET), PcapNgFormat.MIN_PACKET_LENGTH_BYTES, (int) id)) {
            return false;
        }
        timestampNs = units[(int) id].toNs(
            uint32(buffer, index + PcapNgFormat.TIME_UPPER_OFFSET) << 32
                | uint32(buffer, index + PcapNgFormat.TIME_LOWER_OFFSET));
        countClampedTimestamp();
        return passBlock();
    }

    private boolean onSimplePacket(final int headerIndex) {
        final int index = requireBlock(headerIndex, PcapNgFormat.MIN_SIMPLE_LENGTH_BYTES);
        if (index == ByteWindow.NOT_THERE) {
            return false;
        }
        if (interfaceCount == 0) {
            return damagedAt(position, "a simple packet before any interface is described");
        }
        final long wireBytes = uint32(window.buffer(), index + PcapNgFormat.SIMPLE_WIRE_LENGTH_OFFSET);
        final long snapshotBytes = snapshotLengthsBytes[0];
        final long capturedBytes = snapshotBytes == 0 ? wireBytes : Math.min(wireBytes, snapshotBytes);
        return takePacket(index + PcapNgFormat.SIMPLE_PACKET_OFFSET, capturedBytes, wireBytes,
            PcapNgFormat.MIN_SIMPLE_LENGTH_BYTES, 0) && passBlock();
    }

    private boolean takePacket(
        final int index, final long capturedBytes, final long wireBytes, final int overheadBytes, final int id) {
        if (capturedBytes > MAX_CAPTURED_LENGTH_BYTES) {
            return damagedAt(position, "a packet of " + capturedBytes + " captured octets, more than "
                + MAX_CAPTURED_LENGTH_BYTES);
        }
        if (capturedBytes > blockLengthBytes - overheadBytes) {
            return damagedAt(position, "a packet of " + capturedBytes + " captured octets in a block of " + blockLengthBytes);
        }
        offset = index;
        capturedLengthBytes = (int) capturedBytes;
        wireLengthBytes = (int) Math.min(Math.max(wireBytes, capturedBytes), Integer.MAX_VALUE);
        interfaceId = id;
        linkType = linkTypes[id];
        return true;
    }

    /** Brings the block at the position into view, whole and checked; {@link ByteWindow#NOT_THERE} if it is damaged. */
    private int requireBlock(final int headerIndex, final int minLengthBytes) {
        final long lengthBytes = uint32(window.buffer(), headerIndex + PcapNgFormat.TOTAL_LENGTH_OFFSET);
        if (!isPossible(lengthBytes, minLengthBytes)) {
            return ByteWindow.NOT_THERE;
        }
        if (lengthBytes > MAX_BLOCK_LENGTH_BYTES) {
            damagedAt(position, "a block of " + lengthBytes + " octets, more than " + MAX_BLOCK_LENGTH_BYTES);
            return ByteWindow.NOT_THERE;
        }
        blockLengthBytes = (int) lengthBytes;
        final int index = window.require(position, blockLengthBytes);
        if (index == ByteWindow.NOT_THERE) {
            cutAt(position, "a block", lengthBytes);
            return ByteWindow.NOT_THERE;
        }
        final int trailerIndex = index + blockLengthBytes - PcapNgFormat.TRAILER_LENGTH_BYTES;
        if (uint32(window.buffer(), trailerIndex) == lengthBytes) {
            return index;
        }
        return isFollowedWell(position, blockLengthBytes)
            ? window.require(position, blockLengthBytes) : ByteWindow.NOT_THERE;
    }

    private boolean skipBlock(final int headerIndex) {
        final long lengthBytes = uint32(window.buffer(), headerIndex + PcapNgFormat.TOTAL_LENGTH_OFFSET);
        if (!isPossible(lengthBytes, PcapNgFormat.MIN_BLOCK_LENGTH_BYTES)) {
            return false;
        }
        final long trailerPosition = position + lengthBytes - PcapNgFormat.TRAILER_LENGTH_BYTES;
        final int trailerIndex = window.require(trailerPosition, PcapNgFormat.TRAILER_LENGTH_BYTES);
        if (trailerIndex == ByteWindow.NOT_THERE) {
            return cutAt(position, "a block", lengthBytes);
        }
        if (uint32(window.buffer(), trailerIndex) != lengthBytes
            && !isFollowedWell(trailerPosition, PcapNgFormat.TRAILER_LENGTH_BYTES)) {
            return false;
        }
        position += lengthBytes;
        return true;
    }

    private boolean isPossible(final long lengthBytes, final int minLengthBytes) {
        return lengthBytes >= minLengthBytes && (lengthBytes & 3) == 0
            || damagedAt(position, "a block of the impossible length " + lengthBytes);
    }

    /**
     * Whether a block whose two lengths differ is accepted: the input ends behind it, or another block begins there.
     *
     * @param fromPosition of the octets that must stay in view.
     * @param keptBytes    of it; the block ends behind them.
     */
    private boolean isFollowedWell(final long fromPosition, final int keptBytes) {
        final int index = window.require(fromPosition, keptBytes + PcapNgFormat.BLOCK_HEADER_LENGTH_BYTES);
        final boolean isWell = index == ByteWindow.NOT_THERE
            ? window.failure() == null && window.endPosition() == fromPosition + keptBytes
            : isBlockHeader(index + keptBytes);
        return isWell || damagedAt(position, "a block whose length at its end is not that at its head, with no block behind");
    }

    /** {@return whether the octets here could be the header of a block of a common type} */
    private boolean isBlockHeader(final int index) {
        final int type = int32(window.buffer(), index + PcapNgFormat.TYPE_OFFSET);
        final long lengthBytes = uint32(window.buffer(), index + PcapNgFormat.TOTAL_LENGTH_OFFSET);
        // The section header's own byte order is not known yet.
        return type == PcapNgFormat.SECTION_HEADER || type > 0 && type <= PcapNgFormat.MAX_COMMON_TYPE
            && lengthBytes >= PcapNgFormat.MIN_BLOCK_LENGTH_BYTES && (lengthBytes & 3) == 0;
    }

    private boolean passBlock() {
        position += blockLengthBytes;
        return true;
    }
}
