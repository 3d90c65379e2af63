package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.CapturedPacket;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The fast path for most packets: Ethernet II without tags in the frame, IPv4 without options, TCP or UDP, not a fragment, and
 * no requested octets cut off. It reads a few words and gives the same result as {@link PacketDecoder}, which decodes every
 * other packet. One for each decoder. Allocates at construction.
 */
final class PlainPacket {
    /** Type, version, header length, class of service, length and identification. */
    private static final int HEAD_OFFSET = Ethernet.TYPE_OFFSET;
    /** Type 0x0800, version 4, header of 20 octets. */
    private static final int PLAIN_IPV4 = 0x0800_45;
    static final int IP_OFFSET = Ethernet.HEADER_LENGTH_BYTES;
    private static final int LENGTH_OFFSET = IP_OFFSET + 2;
    private static final int FRAGMENT_OFFSET = IP_OFFSET + 6;
    private static final int PROTOCOL_OFFSET = IP_OFFSET + 9;
    private static final int ADDRESSES_OFFSET = IP_OFFSET + 12;
    private static final int TRANSPORT_OFFSET = IP_OFFSET + 20;
    private static final int TCP_CONTROL_BITS_OFFSET = TRANSPORT_OFFSET + 12;
    static final int IP_HEADER_BYTES = 20;
    private static final int PORTS_BYTES = 4;
    private static final int TCP_NEEDED_BYTES = 14;
    private static final int TCP_CONTROL_BITS_MASK = 0x0FFF;
    /** More fragments, or an offset. */
    private static final int FRAGMENT_MASK = 0x3FFF;
    private static final int VLAN_ID_MASK = 0xFFF;
    private static final int UDP_HEADER_BYTES = 8;

    private final boolean innerTunnels;
    private final boolean isFlowHashLeft;
    private final int observationPoint;
    private final boolean hasTcp;
    private final boolean hasMac;
    private int udpPayloadOffset;
    private int udpPayloadLengthBytes;
    private int udpPayloadWholeBytes;

    PlainPacket(
        final boolean innerTunnels, final boolean isFlowHashLeft, final int observationPoint, final boolean hasTcp,
        final boolean hasMac) {
        this.innerTunnels = innerTunnels;
        this.isFlowHashLeft = isFlowHashLeft;
        this.observationPoint = observationPoint;
        this.hasTcp = hasTcp;
        this.hasMac = hasMac;
    }

    /** Writes the descriptor of a plain packet; returns false and writes nothing for any other. */
    boolean decode(
        final CapturedPacket captured, final PacketDigest digest, final MutableDirectBuffer descriptor,
        final int descriptorOffset) {
        final DirectBuffer buffer = captured.buffer();
        final int offset = captured.offset();
        final int capturedLengthBytes = captured.capturedLengthBytes();
        if (capturedLengthBytes < TRANSPORT_OFFSET + PORTS_BYTES) {
            return false;
        }
        final long head = buffer.getLong(offset + HEAD_OFFSET, BIG_ENDIAN);
        final int fragmentAndProtocol = buffer.getInt(offset + FRAGMENT_OFFSET, BIG_ENDIAN);
        final int protocol = fragmentAndProtocol & 0xFF;
        final int ipLengthBytes = (int)(head >>> 16) & 0xFFFF;
        final boolean isTcp = protocol == IpProtocol.TCP;
        final int payloadBytes = ipLengthBytes - IP_HEADER_BYTES;
        final int capturedBytes = Math.min(payloadBytes, capturedLengthBytes - TRANSPORT_OFFSET);
        if ((int)(head >>> 40) != PLAIN_IPV4 || (fragmentAndProtocol >>> 16 & FRAGMENT_MASK) != 0 ||
            capturedBytes < (isTcp ? TCP_NEEDED_BYTES : PORTS_BYTES) ||
            !isTcp && (protocol != IpProtocol.UDP || innerTunnels)) {
            return false;
        }
        long packetDigest = 0;
        long flowHash = 0;
        final int vlanTag = captured.vlanTag();
        int flags = vlanTag == CapturedPacket.NO_VLAN_TAG ? 0 : PacketDescriptor.FLAG_VLAN;
        final int ports = buffer.getInt(offset + TRANSPORT_OFFSET, BIG_ENDIAN);
        if (digest != null) {
            final int coveredBytes =
                digest.plainCoveredBytes(buffer, offset + TRANSPORT_OFFSET, protocol, payloadBytes, capturedBytes);
            if (coveredBytes < 0) {
                return false;
            }
            if (isFlowHashLeft) {
                packetDigest = digest.plainDigestAlone(buffer, offset + IP_OFFSET, protocol, coveredBytes);
                flags |= PacketDescriptor.FLAG_DIGEST | PacketDescriptor.FLAG_FLOW_HASH_LEFT;
            } else {
                packetDigest = digest.plainDigest(buffer, offset + IP_OFFSET, protocol, coveredBytes);
                flowHash = digest.plainFlowHash();
                flags |= PacketDescriptor.FLAG_DIGEST;
            }
        }
        if (hasTcp && isTcp) {
            flags |= TransportLayer.describeTcp(
                buffer, offset + TRANSPORT_OFFSET, capturedBytes, payloadBytes, descriptor, descriptorOffset);
        }
        if (hasMac) {
            flags |= PacketDescriptor.FLAG_MAC;
            PacketDescriptor.mac(descriptor, descriptorOffset, buffer, offset);
        }
        udpPayloadOffset = offset + TRANSPORT_OFFSET + UDP_HEADER_BYTES;
        udpPayloadLengthBytes = isTcp ? 0 : capturedBytes - UDP_HEADER_BYTES;
        udpPayloadWholeBytes = payloadBytes - UDP_HEADER_BYTES;
        PacketDescriptor.timestampNs(descriptor, descriptorOffset, captured.timestampNs());
        PacketDescriptor.addressesIpv4(descriptor, descriptorOffset, buffer.getLong(offset + ADDRESSES_OFFSET, BIG_ENDIAN));
        PacketDescriptor.transportIpv4(
            descriptor, descriptorOffset, ports, protocol, (int)(head >>> 32) & 0xFF, fragmentAndProtocol >>> 8 & 0xFF);
        PacketDescriptor.bits(
            descriptor, descriptorOffset,
            isTcp ? buffer.getShort(offset + TCP_CONTROL_BITS_OFFSET, BIG_ENDIAN) & TCP_CONTROL_BITS_MASK : 0, 0,
            vlanTag == CapturedPacket.NO_VLAN_TAG ? 0 : vlanTag & VLAN_ID_MASK, flags);
        PacketDescriptor.interfaceId(descriptor, descriptorOffset, captured.interfaceId());
        PacketDescriptor.ipLengthBytes(descriptor, descriptorOffset, ipLengthBytes);
        PacketDescriptor.wireLengthBytes(descriptor, descriptorOffset, captured.wireLengthBytes());
        PacketDescriptor.origin(descriptor, descriptorOffset, 1, observationPoint, PacketDescriptor.KIND_REGULAR);
        PacketDescriptor.digest(descriptor, descriptorOffset, packetDigest);
        PacketDescriptor.segmentFlowHash(descriptor, descriptorOffset, flowHash);
        return true;
    }

    /** How many octets behind the header a digest of the last plain packet covers, see {@link PacketDigest#plainCoveredBytes}. */
    static int coveredBytes(final CapturedPacket captured, final PacketDigest digest) {
        final DirectBuffer buffer = captured.buffer();
        final int offset = captured.offset();
        final int payloadBytes = (buffer.getShort(offset + LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF) - IP_HEADER_BYTES;
        return digest.plainCoveredBytes(buffer, offset + TRANSPORT_OFFSET, protocol(captured), payloadBytes,
            Math.min(payloadBytes, captured.capturedLengthBytes() - TRANSPORT_OFFSET));
    }

    /** The protocol of the last plain packet. */
    static int protocol(final CapturedPacket captured) {
        return captured.buffer().getByte(captured.offset() + PROTOCOL_OFFSET) & 0xFF;
    }

    /** The position of the payload of the last plain packet, if it was UDP. */
    int udpPayloadOffset() {
        return udpPayloadOffset;
    }

    /** The captured octets of it; 0 or less for none, and for TCP. */
    int udpPayloadLengthBytes() {
        return udpPayloadLengthBytes;
    }

    /** Octets of it, captured or not. */
    int udpPayloadWholeBytes() {
        return udpPayloadWholeBytes;
    }
}
