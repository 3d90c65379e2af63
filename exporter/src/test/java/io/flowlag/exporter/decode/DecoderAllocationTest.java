package io.flowlag.exporter.decode;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DecoderAllocationTest {
    private static final int WARM_UP_ROUNDS = 3_000;
    private static final int MEASURED_ROUNDS = 1_000;
    private static final int REPETITIONS = 5;
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final Counters counters = new Counters();
    private final PacketDecoder decoder = new PacketDecoder(
        new PacketDecoder.Context().innerTunnels(true).digest(new SipHash(1, 2)).fragmentTableEntries(64).tcp(true).mac(true),
        counters);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final UnsafeBuffer[] packets = Stream.of(
        TunnelTest.tunnelsOfIpv4(), TunnelTest.tunnelsOfIpv6(), TunnelTest.brokenTunnels(), Stream.of(
            ipv4(6, tcp(1, 2, 0x10, payload(40))),
            ipv6(0, extension(58, icmp(128, 0, payload(40)))),
            ipv4(7, 0x2000, 17, udp(1, 2, payload(16))),
            ipv4(7, 3, 17, payload(16)),
            ipv4(8, 3, 17, payload(16)),
            hex("44"),
            hex("46")))
        .flatMap(packet -> packet).map(UnsafeBuffer::new).toArray(UnsafeBuffer[]::new);
    private final CapturedPacket captured = new CapturedPacket(packets[0], LinkType.RAW, 1);
    private int identification;

    private void decodeAll(final int rounds) {
        for (int round = 0; round < rounds; round++) {
            for (final UnsafeBuffer packet : packets) {
                final int result = decoder.decode(
                    captured.wrap(packet, 0, packet.capacity(), packet.capacity(), round), descriptor, 0);
                counters.increment(CounterId.of(result));
            }
            identification++;
            for (int i = packets.length - 7 + 2; i < packets.length - 2; i++) {
                packets[i].putShort(4, (short)identification);
            }
        }
    }

    private long bytesAllocatedIn(final int rounds) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        final long idleBytes = THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
        decodeAll(rounds);
        return THREADS.getCurrentThreadAllocatedBytes() - beforeBytes - 2 * idleBytes;
    }

    /** Every round has every kind of packet; the JVM itself may once need a few octets to change compiled code. */
    @Test
    void shouldAllocateNothingPerPacket() {
        decodeAll(WARM_UP_ROUNDS);
        final long leastBytes = LongStream.generate(() -> bytesAllocatedIn(MEASURED_ROUNDS)).limit(REPETITIONS).min()
            .getAsLong();
        assertEquals(0, leastBytes, "bytes allocated");
        assertEquals(
            (WARM_UP_ROUNDS + REPETITIONS * MEASURED_ROUNDS) * (long)packets.length,
            counters.get(CounterId.DECODED) + counters.refused());
        assertTrue(counters.get(CounterId.FRAGMENT_PORTS_FOUND) > 0);
        assertTrue(counters.get(CounterId.TUNNEL_BROKEN) > 0);
        assertTrue(counters.refused() > 0);
    }
}
