package io.flowlag.exporter.lab;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import io.flowlag.tests.lab.rli.PaperSegment;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SimulatedSegmentTest {
    private static final int UDP_PORT_OFFSET = 36;
    private static final long DAY_NS = TimeUnit.DAYS.toNanos(1);

    /** What a source emitted: time, length, interface and a hash of the octets. */
    private record Emitted(long timestampNs, int lengthBytes, int hash, int interfaceId) {
    }

    private static List<Emitted> drain(final PacketSource source, final int packetLimit) {
        final List<Emitted> emitted = new ArrayList<>();
        final PacketHandler handler =
            packet ->
                emitted.add(new Emitted(
                    packet.timestampNs(), packet.wireLengthBytes(),
                    hash(packet.buffer(), packet.offset(), packet.capturedLengthBytes()), packet.interfaceId()));
        int before = 0;
        while (source.poll(handler, packetLimit) != PacketSource.END_OF_SOURCE) {
            assertTrue(emitted.size() - before <= packetLimit);
            before = emitted.size();
        }
        assertEquals(emitted.size(), source.capturedCount());
        return emitted;
    }

    private static int hash(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        int hash = 1;
        for (int i = offset; i < offset + lengthBytes; i++) {
            hash = 31 * hash + buffer.getByte(i);
        }
        return hash;
    }

    private static List<Emitted> at(final List<Emitted> emitted, final int interfaceId) {
        return emitted.stream().filter(each -> each.interfaceId == interfaceId).toList();
    }

    @Test
    void shouldGiveEachPointWhatTheMergedSourceGivesInOrderOfTime() {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final List<Emitted> merged = drain(segment.merged(), 100);

        assertEquals(drain(segment.sender(), 7), at(merged, SimulatedSegment.SENDER));
        assertEquals(drain(segment.receiver(), 256), at(merged, SimulatedSegment.RECEIVER));
        final List<Long> times = merged.stream().map(Emitted::timestampNs).toList();
        final List<Long> sorted = new ArrayList<>(times);
        Collections.sort(sorted);
        assertEquals(sorted, times);
    }

    @Test
    void shouldKnowTheTruthOfEveryFlow() {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final SegmentTruth truth = segment.truth();
        final List<Double> meansNs = new ArrayList<>();
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            assertEquals(segment.flows().plannedPackets(flow), truth.sentPackets(flow));
            assertEquals(truth.sentPackets(flow), truth.receivedPackets(flow) + truth.lostPackets(flow));
            if (truth.receivedPackets(flow) > 0) {
                assertTrue(truth.minimumNs(flow) > 0);
                assertTrue(truth.minimumNs(flow) <= truth.meanNs(flow) && truth.meanNs(flow) <= truth.maximumNs(flow));
                meansNs.add(truth.meanNs(flow));
            }
        }
        Collections.sort(meansNs);

        assertTrue(meansNs.size() >= 190, "flows with delay " + meansNs.size());
        assertTrue(
            meansNs.get(meansNs.size() * 9 / 10) > 3 * meansNs.get(meansNs.size() / 10),
            "from " + meansNs.get(meansNs.size() / 10) + " to " + meansNs.get(meansNs.size() * 9 / 10));
    }

    @Test
    void shouldCarryReferencesThatVerifyAndWereStampedAtTheSendersPoint() {
        final byte[] key = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        final ReferenceModel plain = SegmentProfile.demo().references();
        for (final ReferenceModel references : List.of(plain, new ReferenceModel(
            plain.policies(), plain.sharedClass(), plain.maximumGapNs(), plain.ceilingBps(), plain.utilizationWeight(),
            plain.port(), plain.firstSsid(), key))) {
            final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo().with(references));
            final ReferenceVerifier verifier =
                new ReferenceVerifier(List.of(references.session(0)), DAY_NS, 0);
            final List<Long> stampErrorsNs = new ArrayList<>();
            final PacketHandler handler =
                packet -> {
                    if (isReference(packet.buffer(), packet.offset(), packet.capturedLengthBytes())) {
                        final int payloadBytes = packet.capturedLengthBytes() - ReferenceFrame.HEADERS_BYTES;
                        verifier.from(0, ReferenceFrame.SOURCE_ADDRESS & 0xFFFF_FFFFL);
                        assertEquals(ReferenceVerdict.ACCEPTED, verifier.verify(
                            packet.buffer(), packet.offset() + ReferenceFrame.HEADERS_BYTES, payloadBytes, payloadBytes,
                            packet.timestampNs()));
                        stampErrorsNs.add(verifier.decoder().stampNs() - packet.timestampNs());
                    }
                };
            drain(handler, segment.sender());

            assertTrue(stampErrorsNs.size() >= 1000, "references " + stampErrorsNs.size());
            assertTrue(stampErrorsNs.stream().allMatch(errorNs -> errorNs == 0));
        }
    }

    private static boolean isReference(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return lengthBytes >= ReferenceFrame.HEADERS_BYTES && buffer.getShort(offset + 12, ByteOrder.BIG_ENDIAN) == 0x0800 &&
            buffer.getShort(offset + UDP_PORT_OFFSET, ByteOrder.BIG_ENDIAN) == ReferenceModel.DEFAULT_PORT &&
            buffer.getInt(offset + 26, ByteOrder.BIG_ENDIAN) == ReferenceFrame.SOURCE_ADDRESS;
    }

    private static void drain(final PacketHandler handler, final PacketSource source) {
        int count = 0;
        while (count != PacketSource.END_OF_SOURCE) {
            count = source.poll(handler, 1000);
        }
    }

    @Test
    void shouldWriteBothPointsAsCaptures(@TempDir final Path folder) throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = folder.resolve("sender.pcap");
        final Path receiver = folder.resolve("receiver.pcap");
        segment.writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);

        assertEquals(fileBytes(drain(segment.sender(), 100)), Files.size(sender));
        assertEquals(fileBytes(drain(segment.receiver(), 100)), Files.size(receiver));
    }

    private static long fileBytes(final List<Emitted> emitted) {
        return 24 + emitted.stream().mapToLong(each -> 16 + each.lengthBytes).sum();
    }

    @Test
    void shouldCountWhatFaultsDo() {
        final SegmentProfile profile = SegmentProfile.demo().with(new PathFaults(0.1, 0.5, 0.05, 0.05, 0, 0));
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final long[] counts = new long[4];
        final SegmentSimulation simulation = segment.run(new SegmentHandler() {
            @Override
            public void onSent(final SimulatedPacket packet) {
                counts[packet.isReference() ? 1 : 0]++;
            }

            @Override
            public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
                counts[2]++;
            }

            @Override
            public void onLost(final SimulatedPacket packet) {
                counts[3]++;
            }
        });

        assertEquals(profile.traffic().packetCount(), counts[0]);
        assertEquals(counts[3], simulation.lostCount());
        final double twins = counts[2] - (counts[0] + counts[1] - counts[3]);
        assertEquals(0.05, twins / counts[2], 0.01);
        assertTrue(counts[3] > 0.1 * counts[0] + 0.4 * counts[1] - 500, "lost " + counts[3]);
        final PacketSource receiver = segment.receiver();
        assertEquals(counts[2], drain(receiver, 1).size());
    }

    @Test
    void shouldOfferTheLoadThatWasAskedFor() {
        for (final double utilization : new double[] {0.2, 0.7}) {
            final SimulatedSegment segment =
                new SimulatedSegment(PaperSegment.of(utilization, PaperSegment.red(), 300_000, 3));
            final SegmentTruth truth = new SegmentTruth(segment.flows());
            final SegmentSimulation simulation = segment.run(truth);
            final double bits = segment.meanPacketBytes() * 8 * segment.profile().traffic().packetCount();
            final double offered = bits / (segment.profile().capacityBps() * (simulation.elapsedNs() / 1e9));

            assertEquals(utilization, offered, 0.08 * utilization);
        }
    }

    @Test
    void shouldMarkClassesByDscp() {
        final SegmentProfile profile = SegmentProfile.demo().with(QueueModel.strictPriority(100)).withFirstShare(0.3);
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final int[] packets = new int[64];
        final PacketHandler handler =
            packet -> {
                final boolean isTagged = packet.buffer().getShort(packet.offset() + 12, ByteOrder.BIG_ENDIAN) == (short) 0x8100;
                final int word = packet.buffer().getShort(packet.offset() + (isTagged ? 18 : 14), ByteOrder.BIG_ENDIAN);
                packets[(word >>> 12 & 0xF) == 6 ? word >>> 6 & 0x3F : word >>> 2 & 0x3F]++;
            };
        drain(handler, segment.sender());

        assertTrue(packets[SegmentProfile.EXPEDITED_FORWARDING] > 1000);
        assertTrue(packets[SegmentProfile.BEST_EFFORT] > 1000);
        final int references = packets[SegmentProfile.EXPEDITED_FORWARDING] + packets[SegmentProfile.BEST_EFFORT] -
            profile.traffic().packetCount();
        assertEquals(profile.traffic().packetCount() / 20, references, 100);
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final PacketHandler handler =
            packet -> { };
        final SegmentProfile profile = PaperSegment.of(0.7, PaperSegment.red(), 1_000_000, 1)
            .with(SegmentProfile.demo().references());
        final PacketSource source = new SimulatedSegment(profile).merged();
        // The first rounds warm up: what the compiler has not seen often enough may still allocate.
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 50 && least > 0; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20; i++) {
                source.poll(handler, 1000);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }

        final long leastBytes = least;
        // From Java 21 on, StrictMath.cos of the JDK makes an array each time; arrivals need it now and then.
        final long mostBytes = Runtime.version().feature() < 21 ? 0 : 16;
        assertTrue(leastBytes / 20_000 <= mostBytes, () -> leastBytes + " octets for 20 000 packets");
    }
}
