package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;

class FlowSamplerTest {
    private static final int FLOWS = 20_000;

    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private void describe(final long[] source, final long[] destination, final int[] ports, final int protocol) {
        PacketDescriptor.sourceHigh(packet, 0, source[0]);
        PacketDescriptor.sourceLow(packet, 0, source[1]);
        PacketDescriptor.destinationHigh(packet, 0, destination[0]);
        PacketDescriptor.destinationLow(packet, 0, destination[1]);
        PacketDescriptor.sourcePort(packet, 0, ports[0]);
        PacketDescriptor.destinationPort(packet, 0, ports[1]);
        PacketDescriptor.protocol(packet, 0, protocol);
    }

    /** Also of neighbours, whose keys differ in a port: the share is within six deviations, and both directions are alike. */
    @Property(tries = 40)
    void shouldTakeTheShareOfConversationsInBothDirections(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 200) final int oneIn, @ForAll final boolean isScan) {
        final FlowSampler sampler = new FlowSampler(oneIn, seed);
        final Random random = new Random(seed);
        int taken = 0;
        for (int i = 0; i < FLOWS; i++) {
            final long[] source = {0, isScan ? 0x0A00_0001 : random.nextInt() & 0xFFFF_FFFFL};
            final long[] destination = isScan ? new long[] {0, 0x0A00_0002} : new long[] {random.nextLong(), random.nextLong()};
            final int[] ports = {isScan ? i : random.nextInt(1 << 16), 443};
            describe(source, destination, ports, 6);
            final boolean isTaken = sampler.takes(packet, 0);
            describe(destination, source, new int[] {ports[1], ports[0]}, 6);
            assertEquals(isTaken, sampler.takes(packet, 0));
            taken += isTaken ? 1 : 0;
        }
        final double mean = (double)FLOWS / oneIn;
        assertEquals(mean, taken, 6 * Math.sqrt(mean), "one in " + oneIn + ", seed " + seed);
    }
}
