package io.flowlag.exporter.lab;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

import static io.flowlag.exporter.lab.InternetChecksum.checksum;
import static io.flowlag.exporter.lab.InternetChecksum.sum;
import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Builds the next frame of a flow in a buffer of its own, over and over: Ethernet, a VLAN tag if the flow has one, IPv4 or
 * IPv6, TCP, UDP or ICMP echo, and a payload of the flow's index and the packet's number in the flow followed by zeros. All
 * checksums are valid over the whole frame. Used by the thread that polls the traffic. Allocates at construction.
 * <pre>
 *   0        12  14     18            38 / 58           46 .. 78
 *   +--------+---+ - - -+-------------+-----------------+---------+
 *   | MACs   |tag, type | IPv4 / IPv6 | TCP / UDP / ICMP| payload |
 *   +--------+---+ - - -+-------------+-----------------+---------+
 * </pre>
 */
final class FrameEncoder {
    /** Ethernet's minimum without the frame check sequence. */
    static final int MINIMUM_FRAME_BYTES = 60;

    private static final int FRAME_BYTES_AT_MOST = 2048;
    private static final int MAC_ADDRESSES_BYTES = 12;
    private static final int ETHERNET_HEADER_BYTES = MAC_ADDRESSES_BYTES + 2;
    private static final int VLAN_TAG_BYTES = 4;
    private static final int IPV4_HEADER_BYTES = 20;
    private static final int IPV6_HEADER_BYTES = 40;
    private static final int TCP_HEADER_BYTES = 20;
    private static final int SHORT_HEADER_BYTES = 8;
    private static final int LABEL_BYTES = 8;
    private static final int HEADERS_BYTES_AT_MOST =
        ETHERNET_HEADER_BYTES + VLAN_TAG_BYTES + IPV6_HEADER_BYTES + TCP_HEADER_BYTES + LABEL_BYTES;

    private static final int ETHERTYPE_IPV4 = 0x0800;
    private static final int ETHERTYPE_IPV6 = 0x86DD;
    private static final int ETHERTYPE_VLAN = 0x8100;
    private static final long DESTINATION_MAC = 0x0200_0000_0002L;
    private static final long SOURCE_MAC = 0x0200_0000_0001L;
    private static final int DO_NOT_FRAGMENT = 0x4000;
    private static final int DSCP_SHIFT = 2;
    private static final int IPV6_TRAFFIC_CLASS_SHIFT = 4;
    private static final int HOP_LIMIT = 64;
    private static final int TCP_WINDOW = 64_240;
    private static final int FIRST_ACKNOWLEDGED = 0x1000_0001;
    private static final int ACKNOWLEDGED_PER_PACKET = 1448;
    private static final int FIN = 0x01;
    private static final int SYN = 0x02;
    private static final int PSH = 0x08;
    private static final int ACK = 0x10;
    private static final int ICMP_ECHO_REQUEST = 8;
    private static final int ICMPV6_ECHO_REQUEST = 128;

    private final UnsafeBuffer frame = new UnsafeBuffer(ByteBuffer.allocateDirect(FRAME_BYTES_AT_MOST));
    private final TrafficFlows flows;

    private int ipLengthBytes;
    private int packetNumber;
    private int tcpSequence;
    private int trafficClass;

    FrameEncoder(final TrafficFlows flows) {
        this.flows = flows;
    }

    DirectBuffer buffer() {
        return frame;
    }

    /** {@return the length of the last frame's IP packet} */
    int ipLengthBytes() {
        return ipLengthBytes;
    }

    /**
     * Builds the next frame of a flow, as its truth says which that is.
     *
     * @param wantedLengthBytes of the frame without a tag; TCP's first and last segment are minimum-sized whatever is wanted.
     */
    int encode(final int flow, final int wantedLengthBytes) {
        final int number = flows.packets(flow);
        final int sequence = flows.sequence(flow);
        final int lengthBytes = encode(flow, number, sequence, wantedLengthBytes, 0);
        if (flows.protocol(flow) == TrafficFlows.TCP) {
            flows.advanceSequence(flow, sequenceAdvance(flow, number, wantedLengthBytes));
        }
        return lengthBytes;
    }

    /**
     * Builds a frame of a flow.
     *
     * @param number            of the packet in the flow, from 0.
     * @param sequence          number of the TCP segment.
     * @param wantedLengthBytes of the frame without a tag; TCP's first and last segment are minimum-sized whatever is wanted.
     */
    int encode(final int flow, final int number, final int sequence, final int wantedLengthBytes, final int dscp) {
        final boolean ipv6 = flows.isIpv6(flow);
        final int protocol = flows.protocol(flow);
        final int ipHeaderBytes = ipv6 ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES;
        final int transportHeaderBytes = transportHeaderBytes(flow);
        final int payloadBytes = payloadBytes(flow, number, wantedLengthBytes);
        packetNumber = number;
        tcpSequence = sequence;
        trafficClass = dscp << DSCP_SHIFT;
        ipLengthBytes = ipHeaderBytes + transportHeaderBytes + payloadBytes;
        frame.setMemory(0, HEADERS_BYTES_AT_MOST, (byte) 0);

        final int ipOffset = putLinkHeader(flow, ipv6);
        final int transportOffset = ipOffset + ipHeaderBytes;
        final int pseudoHeaderSum = ipv6 ? putIpv6Header(flow, ipOffset) : putIpv4Header(flow, ipOffset);
        if (payloadBytes >= LABEL_BYTES) {
            frame.putInt(transportOffset + transportHeaderBytes, flow, BIG_ENDIAN);
            frame.putInt(transportOffset + transportHeaderBytes + 4, packetNumber, BIG_ENDIAN);
        }
        switch (protocol) {
            case TrafficFlows.TCP -> putTcp(flow, transportOffset, payloadBytes, pseudoHeaderSum);
            case TrafficFlows.UDP -> putUdp(flow, transportOffset, payloadBytes, pseudoHeaderSum);
            default -> putEcho(flow, transportOffset, payloadBytes, pseudoHeaderSum);
        }
        return Math.max(MINIMUM_FRAME_BYTES, ETHERNET_HEADER_BYTES + ipLengthBytes) + (ipOffset - ETHERNET_HEADER_BYTES);
    }

    /** {@return the length of the frame that {@link #encode(int, int, int, int, int)} would build} */
    int lengthBytes(final int flow, final int number, final int wantedLengthBytes) {
        final int ipBytes = (flows.isIpv6(flow) ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES) + transportHeaderBytes(flow) +
            payloadBytes(flow, number, wantedLengthBytes);
        return Math.max(MINIMUM_FRAME_BYTES, ETHERNET_HEADER_BYTES + ipBytes) + (flows.vlanId(flow) != 0 ? VLAN_TAG_BYTES : 0);
    }

    /** {@return by how much a segment advances its flow's TCP sequence number; meaningless for other protocols} */
    int sequenceAdvance(final int flow, final int number, final int wantedLengthBytes) {
        return payloadBytes(flow, number, wantedLengthBytes) + (isFirst(number) || isLast(flow, number) ? 1 : 0);
    }

    private int transportHeaderBytes(final int flow) {
        return flows.protocol(flow) == TrafficFlows.TCP ? TCP_HEADER_BYTES : SHORT_HEADER_BYTES;
    }

    private int payloadBytes(final int flow, final int number, final int wantedLengthBytes) {
        final boolean tcp = flows.protocol(flow) == TrafficFlows.TCP;
        if (tcp && (wantedLengthBytes == MINIMUM_FRAME_BYTES || isFirst(number) || isLast(flow, number))) {
            return 0;
        }
        final int ipHeaderBytes = flows.isIpv6(flow) ? IPV6_HEADER_BYTES : IPV4_HEADER_BYTES;
        final int smallest = flows.isIpv6(flow) ? LABEL_BYTES + 4 : LABEL_BYTES;
        return Math.max(
            smallest, wantedLengthBytes - ETHERNET_HEADER_BYTES - ipHeaderBytes - transportHeaderBytes(flow));
    }

    private static boolean isFirst(final int number) {
        return number == 0;
    }

    private boolean isLast(final int flow, final int number) {
        return number + 1 == flows.plannedPackets(flow);
    }

    private int putLinkHeader(final int flow, final boolean ipv6) {
        frame.putLong(0, DESTINATION_MAC << 16 | SOURCE_MAC >>> 32, BIG_ENDIAN);
        frame.putInt(8, (int) SOURCE_MAC, BIG_ENDIAN);
        int typeOffset = MAC_ADDRESSES_BYTES;
        if (flows.vlanId(flow) != 0) {
            putShort(typeOffset, ETHERTYPE_VLAN);
            putShort(typeOffset + 2, flows.vlanId(flow));
            typeOffset += VLAN_TAG_BYTES;
        }
        putShort(typeOffset, ipv6 ? ETHERTYPE_IPV6 : ETHERTYPE_IPV4);
        return typeOffset + 2;
    }

    /** Returns the pseudo header's sum without the length (RFC 9293 section 3.1). */
    private int putIpv4Header(final int flow, final int offset) {
        frame.putByte(offset, (byte) 0x45);
        frame.putByte(offset + 1, (byte) trafficClass);
        putShort(offset + 2, ipLengthBytes);
        putShort(offset + 4, flow + packetNumber);
        putShort(offset + 6, DO_NOT_FRAGMENT);
        frame.putByte(offset + 8, (byte) HOP_LIMIT);
        frame.putByte(offset + 9, (byte) flows.protocol(flow));
        flows.putSourceAddress(flow, frame, offset + 12);
        flows.putDestinationAddress(flow, frame, offset + 16);
        putShort(offset + 10, checksum(sum(frame, offset, IPV4_HEADER_BYTES)));
        return sum(frame, offset + 12, 8) + flows.protocol(flow);
    }

    private int putIpv6Header(final int flow, final int offset) {
        putShort(offset, 0x6000 | trafficClass << IPV6_TRAFFIC_CLASS_SHIFT);
        putShort(offset + 4, ipLengthBytes - IPV6_HEADER_BYTES);
        frame.putByte(offset + 6, (byte) flows.protocol(flow));
        frame.putByte(offset + 7, (byte) HOP_LIMIT);
        flows.putSourceAddress(flow, frame, offset + 8);
        flows.putDestinationAddress(flow, frame, offset + 24);
        return sum(frame, offset + 8, 32) + flows.protocol(flow);
    }

    private void putTcp(final int flow, final int offset, final int payloadBytes, final int pseudoHeaderSum) {
        final boolean first = isFirst(packetNumber);
        final boolean last = isLast(flow, packetNumber);
        putPorts(flow, offset);
        frame.putInt(offset + 4, tcpSequence, BIG_ENDIAN);
        frame.putInt(offset + 8, first ? 0 : FIRST_ACKNOWLEDGED + packetNumber * ACKNOWLEDGED_PER_PACKET, BIG_ENDIAN);
        frame.putByte(offset + 12, (byte) (TCP_HEADER_BYTES / 4 << 4));
        frame.putByte(offset + 13, (byte) tcpFlags(flow, first, last, payloadBytes));
        putShort(offset + 14, TCP_WINDOW);
        final int length = TCP_HEADER_BYTES + payloadBytes;
        putShort(offset + 16, checksum(
            pseudoHeaderSum + length + sum(frame, offset, TCP_HEADER_BYTES + labelBytes(payloadBytes))));
    }

    private int tcpFlags(final int flow, final boolean first, final boolean last, final int payloadBytes) {
        if (first) {
            return SYN;
        }
        if (last) {
            return FIN | ACK;
        }
        return payloadBytes > 0 && (packetNumber & 3) == 3 ? PSH | ACK : ACK;
    }

    private void putUdp(final int flow, final int offset, final int payloadBytes, final int pseudoHeaderSum) {
        final int length = SHORT_HEADER_BYTES + payloadBytes;
        putPorts(flow, offset);
        putShort(offset + 4, length);
        final int checksum = checksum(
            pseudoHeaderSum + length + sum(frame, offset, SHORT_HEADER_BYTES + labelBytes(payloadBytes)));
        putShort(offset + 6, checksum == 0 ? 0xFFFF : checksum);
    }

    private void putEcho(final int flow, final int offset, final int payloadBytes, final int pseudoHeaderSum) {
        final boolean ipv6 = flows.isIpv6(flow);
        frame.putByte(offset, (byte) (ipv6 ? ICMPV6_ECHO_REQUEST : ICMP_ECHO_REQUEST));
        putShort(offset + 4, flow);
        putShort(offset + 6, packetNumber);
        final int sum = sum(frame, offset, SHORT_HEADER_BYTES + labelBytes(payloadBytes));
        putShort(offset + 2, checksum(ipv6 ? pseudoHeaderSum + SHORT_HEADER_BYTES + payloadBytes + sum : sum));
    }

    private void putPorts(final int flow, final int offset) {
        putShort(offset, flows.sourcePort(flow));
        putShort(offset + 2, flows.destinationPort(flow));
    }

    private void putShort(final int offset, final int value) {
        frame.putShort(offset, (short) value, BIG_ENDIAN);
    }

    /** Of the payload only the label is not zero. */
    private static int labelBytes(final int payloadBytes) {
        return payloadBytes >= LABEL_BYTES ? LABEL_BYTES : 0;
    }
}
