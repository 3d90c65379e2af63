package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.common.hash.SipHashPair;
import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * The identity of a packet at two measurement points: its digest, and the hash of its flow. Both are SipHash-2-4 of a canonical
 * form of fields that do not change on the way. {@code docs/digest.md} specifies it octet by octet, with test vectors. {@link
 * SegmentFlowHash} has the form of the flow; the digest's form is:
 * <pre>
 *   0  version               1   4 or 6
 *   1  protocol              1
 *   2  fragment offset       2   in 8 octets
 *   4  identification        4
 *   8  source           4 | 16
 *      destination      4 | 16
 *      transport header  0..92   checksum 0
 *      and payload
 * </pre>
 * All fields are big-endian. One thread. Allocates at construction.
 */
final class PacketDigest {
    /** The most payload octets that a digest may cover, and the default. */
    static final int MAX_PAYLOAD_BYTES = 32;

    /** Fewer octets behind the IP header do not distinguish packets well enough. */
    private static final int LEAST_BYTES = 8;

    private static final int VERSION_OFFSET = 0;
    private static final int PROTOCOL_OFFSET = VERSION_OFFSET + 1;
    private static final int FRAGMENT_OFFSET = PROTOCOL_OFFSET + 1;
    private static final int IDENTIFICATION_OFFSET = FRAGMENT_OFFSET + 2;
    private static final int ADDRESSES_OFFSET = IDENTIFICATION_OFFSET + 4;

    private static final int MAX_TRANSPORT_HEADER_LENGTH_BYTES = 60;
    private static final int MAX_LENGTH_BYTES =
        ADDRESSES_OFFSET + 32 + MAX_TRANSPORT_HEADER_LENGTH_BYTES + MAX_PAYLOAD_BYTES;

    /** Position of the TCP checksum: at the beginning of a word of the transport header. */
    private static final int TCP_CHECKSUM_OFFSET = 16;
    private static final long TCP_CHECKSUM_MASK = ~0xFFFFL;
    /** The UDP checksum is at the end of the first word. */
    private static final long UDP_CHECKSUM_MASK = -1L >>> 16;
    private static final int UDP_HEADER_LENGTH_BYTES = 8;
    private static final int TCP_MIN_HEADER_LENGTH_BYTES = 20;
    private static final int TCP_DATA_OFFSET_OFFSET = 12;

    /** In a header of IPv4. */
    private static final int PLAIN_IDENTIFICATION_OFFSET = 4;
    private static final int PLAIN_ADDRESSES_OFFSET = 12;

    private final OffHeapBuffer canonical = OffHeapBuffer.allocate(MAX_LENGTH_BYTES + 8);
    private final SipHash hash;
    private final SipHashPair pair;
    private final SegmentFlowHash flowHash;
    private final int payloadBytes;
    private final int mostBytes;

    /** A digest of so many octets of payload, that looks at most at so many octets from the IP header on. */
    PacketDigest(final SipHash hash, final int payloadBytes, final int mostBytes) {
        this.mostBytes = mostBytes;
        this.hash = hash;
        pair = new SipHashPair(hash);
        flowHash = new SegmentFlowHash(hash);
        this.payloadBytes = payloadBytes;
    }

    /**
     * How many octets after the IP header the digest covers.
     *
     * @param end after the last captured octet.
     * @return the count, or -1 if the capture cut some of them off.
     */
    int coveredBytes(final DirectBuffer buffer, final int end, final IpPacket packet) {
        if (end < packet.payloadOffset) {
            return -1;
        }
        final int capturedBytes = packet.capturedPayloadBytes(end);
        final int headerBytes = packet.isLaterFragment() ? 0 : transportHeaderBytes(buffer, capturedBytes, packet);
        return covered(
            packet.payloadLengthBytes, headerBytes + payloadBytes, packet.lengthBytes - packet.payloadLengthBytes, capturedBytes);
    }

    /**
     * Limits the covered octets. Both points apply the same limit, so they cover the same octets, whichever of them captured
     * more.
     */
    private int covered(final int wholeBytes, final int wantedBytes, final int ipHeaderBytes, final int capturedBytes) {
        final int seenBytes = mostBytes - ipHeaderBytes;
        final int coveredBytes = Math.min(wholeBytes, Math.min(wantedBytes, seenBytes));
        final boolean isShort = coveredBytes > capturedBytes || seenBytes < LEAST_BYTES && seenBytes < wholeBytes;
        return isShort ? -1 : coveredBytes;
    }

    /** The digest of a packet whose covered octets were all captured. */
    long digest(final DirectBuffer buffer, final IpPacket packet, final int coveredBytes) {
        canonical.putByte(VERSION_OFFSET, (byte)packet.version);
        canonical.putByte(PROTOCOL_OFFSET, (byte)packet.protocol);
        canonical.putShort(FRAGMENT_OFFSET, (short)(packet.fragmentOffset >> 3), ByteOrder.BIG_ENDIAN);
        canonical.putInt(IDENTIFICATION_OFFSET, packet.identification, ByteOrder.BIG_ENDIAN);
        final int transportOffset = putAddresses(packet);
        buffer.getBytes(packet.payloadOffset, canonical, transportOffset, coveredBytes);
        if (!packet.isLaterFragment()) {
            clearChecksum(transportOffset, packet.protocol, coveredBytes);
        }
        return hash.hash(canonical, 0, transportOffset + coveredBytes);
    }

    /** The hash of addresses, protocol and ports; every fragment has ports 0 here, including the first. */
    long segmentFlowHash(final IpPacket packet) {
        return flowHash.flow(
            packet.version, packet.protocol, packet.isFragment ? 0 : packet.sourcePort,
            packet.isFragment ? 0 : packet.destinationPort).hash(
            packet.sourceHigh, packet.sourceLow, packet.destinationHigh, packet.destinationLow);
    }

    /** The same of a decoded packet. */
    long segmentFlowHash(final DirectBuffer descriptor, final int offset) {
        return flowHash.hash(descriptor, offset);
    }

    /**
     * How many octets behind the header of IPv4 the digest of an unfragmented TCP or UDP packet covers.
     *
     * @param offset        of the octets.
     * @param protocol      TCP or UDP.
     * @param payloadBytes  octets behind the header, as the header says.
     * @param capturedBytes how many of them were captured, for TCP at least 14.
     * @return octets; below 0 if they are too few for the headers or were not all captured.
     */
    int plainCoveredBytes(
        final DirectBuffer buffer, final int offset, final int protocol, final int payloadBytes, final int capturedBytes) {
        final int leastBytes = protocol == IpProtocol.TCP ? TCP_MIN_HEADER_LENGTH_BYTES : UDP_HEADER_LENGTH_BYTES;
        final int headerBytes = protocol != IpProtocol.TCP ? UDP_HEADER_LENGTH_BYTES :
            Math.max(TCP_MIN_HEADER_LENGTH_BYTES, (buffer.getByte(offset + TCP_DATA_OFFSET_OFFSET) & 0xF0) >> 2);
        final int coveredBytes =
            covered(payloadBytes, headerBytes + this.payloadBytes, PlainPacket.IP_HEADER_BYTES, capturedBytes);
        return coveredBytes < leastBytes ? -1 : coveredBytes;
    }

    /**
     * The digest of an unfragmented TCP or UDP packet in IPv4 without options, and its segment flow hash. Builds the canonical
     * forms word by word, as little-endian words.
     *
     * @param offset       of the IP header.
     * @param protocol     TCP or UDP.
     * @param coveredBytes from {@link #plainCoveredBytes}.
     * @return the digest; {@link #plainFlowHash} has the other.
     */
    long plainDigest(final DirectBuffer buffer, final int offset, final int protocol, final int coveredBytes) {
        final int transportOffset = offset + PlainPacket.IP_HEADER_BYTES;
        final long addresses = plainAddresses(buffer, offset);
        return pair.hash(
            plainWord(buffer, offset, protocol), addresses, buffer, transportOffset, coveredBytes,
            plainChecksumOffset(protocol), plainChecksumMask(protocol),
            SegmentFlowHash.plainWord(protocol, buffer.getInt(transportOffset, ByteOrder.LITTLE_ENDIAN)), addresses);
    }

    /** {@return the digest alone, as {@link #plainDigest}} */
    long plainDigestAlone(final DirectBuffer buffer, final int offset, final int protocol, final int coveredBytes) {
        return hash.hash(
            plainWord(buffer, offset, protocol), plainAddresses(buffer, offset), buffer, offset + PlainPacket.IP_HEADER_BYTES,
            coveredBytes, plainChecksumOffset(protocol), plainChecksumMask(protocol));
    }

    /** Source and destination. */
    private static long plainAddresses(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + PLAIN_ADDRESSES_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** The first eight octets of the canonical form. */
    private static long plainWord(final DirectBuffer buffer, final int offset, final int protocol) {
        final long identification = buffer.getShort(offset + PLAIN_IDENTIFICATION_OFFSET, ByteOrder.LITTLE_ENDIAN);
        return 4 | (long)protocol << 8 | identification << 48;
    }

    private static int plainChecksumOffset(final int protocol) {
        return protocol == IpProtocol.TCP ? TCP_CHECKSUM_OFFSET : 0;
    }

    private static long plainChecksumMask(final int protocol) {
        return protocol == IpProtocol.TCP ? TCP_CHECKSUM_MASK : UDP_CHECKSUM_MASK;
    }

    /** {@return the segment flow hash of the packet of the last {@link #plainDigest}} */
    long plainFlowHash() {
        return pair.shortHash();
    }

    private int putAddresses(final IpPacket packet) {
        if (packet.version == 4) {
            canonical.putInt(ADDRESSES_OFFSET, (int)packet.sourceLow, ByteOrder.BIG_ENDIAN);
            canonical.putInt(ADDRESSES_OFFSET + 4, (int)packet.destinationLow, ByteOrder.BIG_ENDIAN);
            return ADDRESSES_OFFSET + 8;
        }
        canonical.putLong(ADDRESSES_OFFSET, packet.sourceHigh, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 8, packet.sourceLow, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 16, packet.destinationHigh, ByteOrder.BIG_ENDIAN);
        canonical.putLong(ADDRESSES_OFFSET + 24, packet.destinationLow, ByteOrder.BIG_ENDIAN);
        return ADDRESSES_OFFSET + 32;
    }

    private static int transportHeaderBytes(final DirectBuffer buffer, final int capturedBytes, final IpPacket packet) {
        return switch (packet.protocol) {
            case IpProtocol.TCP -> tcpHeaderBytes(buffer, capturedBytes, packet);
            case IpProtocol.UDP, IpProtocol.UDP_LITE, IpProtocol.ICMP, IpProtocol.ICMPV6 -> 8;
            case IpProtocol.SCTP -> 12;
            case IpProtocol.DCCP -> 16;
            default -> 0;
        };
    }

    private static int tcpHeaderBytes(final DirectBuffer buffer, final int capturedBytes, final IpPacket packet) {
        if (capturedBytes <= TCP_DATA_OFFSET_OFFSET) {
            return TCP_MIN_HEADER_LENGTH_BYTES;
        }
        final int dataOffset = buffer.getByte(packet.payloadOffset + TCP_DATA_OFFSET_OFFSET) & 0xF0;
        return Math.max(TCP_MIN_HEADER_LENGTH_BYTES, dataOffset >> 2);
    }

    private void clearChecksum(final int transportOffset, final int protocol, final int coveredBytes) {
        switch (protocol) {
            case IpProtocol.TCP -> clear(transportOffset, 16, 18, coveredBytes);
            case IpProtocol.UDP, IpProtocol.UDP_LITE, IpProtocol.DCCP -> clear(transportOffset, 6, 8, coveredBytes);
            case IpProtocol.ICMP, IpProtocol.ICMPV6 -> clear(transportOffset, 2, 4, coveredBytes);
            case IpProtocol.SCTP -> clear(transportOffset, 8, 12, coveredBytes);
            default -> {
                // Other protocols have no transport header here: their first octets are payload.
            }
        }
    }

    private void clear(final int transportOffset, final int from, final int until, final int coveredBytes) {
        for (int i = from; i < Math.min(until, coveredBytes); i++) {
            canonical.putByte(transportOffset + i, (byte)0);
        }
    }
}
