package io.flowlag.exporter.delay.exact;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

/** Descriptors of packets with a digest, of UDP flows identified by a number. */
final class Packets {
    static final int UDP = 17;
    static final int DESTINATION_PORT = 443;
    static final long SOURCE = 0x0A00_0000L;
    static final long DESTINATION = 0x0A01_0000L;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    /** The descriptor is overwritten by the next call. */
    UnsafeBuffer packet(final int flow, final long digest, final long timeNs) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, timeNs);
        PacketDescriptor.sourceLow(descriptor, 0, SOURCE + flow);
        PacketDescriptor.destinationLow(descriptor, 0, DESTINATION);
        PacketDescriptor.sourcePort(descriptor, 0, 1000 + flow);
        PacketDescriptor.destinationPort(descriptor, 0, DESTINATION_PORT);
        PacketDescriptor.protocol(descriptor, 0, UDP);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(descriptor, 0, digest);
        return descriptor;
    }

    UnsafeBuffer packetIpv6(final int flow, final long digest, final long timeNs) {
        packet(flow, digest, timeNs);
        PacketDescriptor.ipVersion(descriptor, 0, 6);
        PacketDescriptor.sourceHigh(descriptor, 0, 0x2001_0db8_0000_0000L);
        PacketDescriptor.destinationHigh(descriptor, 0, 0x2001_0db8_0001_0000L);
        return descriptor;
    }
}
