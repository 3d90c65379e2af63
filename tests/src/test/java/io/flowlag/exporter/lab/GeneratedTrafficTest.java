package io.flowlag.exporter.lab;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.tests.benchmark.Profiles;
import io.flowlag.tests.support.Captures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class GeneratedTrafficTest {
    private static final int PACKETS = 100_000;
    private static final int FLOWS = 4_000;
    private static final int POLL_LIMIT = 64;

    @ParameterizedTest
    @ValueSource(strings = {"min64", "mix", "big", "demo"})
    void shouldKnowTheTruthAboutEveryFlow(final String profileName) {
        final GeneratedTraffic traffic = new GeneratedTraffic(small(profileName));
        final Recount recount = new Recount();

        drain(traffic, recount);

        final TrafficFlows flows = traffic.flows();
        assertEquals(flows.flowCount(), recount.flows.size());
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            final long[] seen = recount.flows.get(keyOf(flows, flow));
            assertEquals(flows.plannedPackets(flow), flows.packets(flow));
            assertEquals(flows.packets(flow), seen[0]);
            assertEquals(flows.octets(flow), seen[1]);
            assertEquals(flows.firstNs(flow), seen[2]);
            assertEquals(flows.lastNs(flow), seen[3]);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"min64", "mix", "big", "demo"})
    void shouldEmitValidChecksums(final String profileName) {
        final TrafficProfile whole = small(profileName).toBuilder().snapLengthBytes(65_535).build();
        final Recount recount = new Recount();

        drain(new GeneratedTraffic(whole), recount);

        assertEquals(0, recount.badChecksums);
    }

    @ParameterizedTest
    @ValueSource(strings = {"min64", "mix", "big", "demo"})
    void shouldEmitExactlyTheProfilesPacketsInOrderOfTime(final String profileName) {
        final TrafficProfile profile = small(profileName);
        final Recount recount = new Recount();
        final GeneratedTraffic traffic = new GeneratedTraffic(profile);

        drain(traffic, recount);

        assertAll(
            () -> assertEquals(profile.packetCount(), recount.packets),
            () -> assertEquals(profile.packetCount(), traffic.capturedCount()),
            () -> assertEquals(recount.wireBytes, traffic.consumedBytes()),
            () -> assertEquals(0, recount.stepsBack),
            () -> assertTrue(recount.firstNs >= profile.startNs()),
            () -> assertTrue(recount.lastNs < profile.startNs() + profile.durationNs()),
            () -> assertEquals(PacketSource.END_OF_SOURCE, traffic.poll(recount, POLL_LIMIT)));
    }

    @Test
    void shouldMakeTheSameOctetsOnEveryMachine() {
        assertEquals(3_150_693_999L, fingerprint(TrafficProfile.demo()));
    }

    @Test
    void shouldMakeOtherOctetsFromAnotherSeed() {
        final TrafficProfile demo = TrafficProfile.demo();

        assertNotEquals(fingerprint(demo), fingerprint(demo.toBuilder().seed(demo.seed() + 1).build()));
    }

    @Test
    void shouldStartTcpWithSynAndEndItWithFin() {
        final TrafficProfile profile = TrafficProfile.demo();
        final Recount recount = new Recount();
        final GeneratedTraffic traffic = new GeneratedTraffic(profile);

        drain(traffic, recount);

        long tcpFlows = 0;
        long longTcpFlows = 0;
        for (int flow = 0; flow < traffic.flows().flowCount(); flow++) {
            if (traffic.flows().protocol(flow) == TrafficFlows.TCP) {
                tcpFlows++;
                longTcpFlows += traffic.flows().packets(flow) > 1 ? 1 : 0;
            }
        }
        assertEquals(tcpFlows, recount.synCount);
        assertEquals(longTcpFlows, recount.finCount);
    }

    @Test
    void shouldMixProtocolsVersionsAndTagsInTheDemo() {
        final TrafficFlows flows = new GeneratedTraffic(TrafficProfile.demo()).flows();
        final Set<Integer> protocols = new HashSet<>();
        boolean tagged = false;
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            protocols.add(flows.protocol(flow));
            tagged |= flows.vlanId(flow) != 0;
        }

        assertEquals(Set.of(TrafficFlows.TCP, TrafficFlows.UDP, TrafficFlows.ICMP, TrafficFlows.ICMPV6), protocols);
        assertTrue(tagged);
    }

    @Test
    void shouldHaveManySmallFlowsAndAHeavyTail() {
        final TrafficFlows flows = new GeneratedTraffic(small("mix")).flows();
        int single = 0;
        int largest = 0;
        long inTopPercent = 0;
        final int[] sizes = new int[flows.flowCount()];
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            sizes[flow] = flows.plannedPackets(flow);
            single += sizes[flow] == 1 ? 1 : 0;
            largest = Math.max(largest, sizes[flow]);
        }
        Arrays.sort(sizes);
        for (int i = sizes.length - sizes.length / 100; i < sizes.length; i++) {
            inTopPercent += sizes[i];
        }

        assertTrue(single >= 0.3 * FLOWS && single < 0.5 * FLOWS, "single-packet flows " + single);
        assertTrue(largest > 50 * PACKETS / FLOWS / 2, "largest " + largest);
        assertTrue(inTopPercent > 0.2 * PACKETS, "packets in the top percent " + inTopPercent);
    }

    @Test
    void shouldOverlapFlows() {
        final GeneratedTraffic traffic = new GeneratedTraffic(small("mix"));
        drain(traffic, new Recount());
        final TrafficFlows flows = traffic.flows();
        final long middleNs = Profiles.mix().startNs() + small("mix").durationNs() / 2;
        int active = 0;
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            active += flows.firstNs(flow) < middleNs && flows.lastNs(flow) > middleNs ? 1 : 0;
        }

        assertTrue(active > FLOWS / 20, "flows active in the middle: " + active);
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        final GeneratedTraffic traffic = new GeneratedTraffic(small("mix"));
        final long[] octets = new long[1];
        final PacketHandler handler = packet ->
            octets[0] += packet.capturedLengthBytes();
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final long self = Thread.currentThread().getId();
        pollTimes(traffic, handler, PACKETS / POLL_LIMIT / 2);
        threads.getThreadAllocatedBytes(self);

        final long before = threads.getThreadAllocatedBytes(self);
        pollTimes(traffic, handler, PACKETS / POLL_LIMIT / 2);
        final long after = threads.getThreadAllocatedBytes(self);

        assertEquals(0, after - before);
    }

    @Test
    void shouldWriteTheTruthInTheOrderOfItsHeader() throws IOException {
        final GeneratedTraffic traffic = new GeneratedTraffic(small("demo"));
        drain(traffic, new Recount());
        final StringBuilder csv = new StringBuilder();

        Captures.writeCsv(traffic.flows(), csv);

        final String[] lines = csv.toString().split("\n");
        final TrafficFlows flows = traffic.flows();
        assertEquals("src,dst,sport,dport,proto,packets,octets,first_ns,last_ns", lines[0]);
        assertEquals(flows.flowCount() + 1, lines.length);
        assertEquals(flows.sourceAddress(0) + "," + flows.destinationAddress(0) + "," + flows.sourcePort(0) + "," +
            flows.destinationPort(0) + "," + flows.protocol(0) + "," + flows.packets(0) + "," + flows.octets(0) + "," +
            flows.firstNs(0) + "," + flows.lastNs(0), lines[1]);
    }

    @Test
    void shouldRefuseAProfileThatContradictsItself() {
        final TrafficProfile.Builder builder = TrafficProfile.builder("bad").packetCount(10).flowCount(11);

        final IllegalArgumentException refusal = assertThrows(IllegalArgumentException.class, builder::build);

        assertEquals("packetCount=10: must be at least flowCount=11", refusal.getMessage());
    }

    @Test
    void shouldFitSizesThatAreNearlyAllOne() {
        final TrafficProfile tight = TrafficProfile.builder("tight").packetCount(1_001).flowCount(1_000).build();
        final Recount recount = new Recount();

        drain(new GeneratedTraffic(tight), recount);

        assertEquals(1_001, recount.packets);
        assertEquals(1_000, recount.flows.size());
    }

    private static TrafficProfile small(final String name) {
        final TrafficProfile profile = Profiles.named(name);
        return "demo".equals(name) ? profile : profile.toBuilder().packetCount(PACKETS).flowCount(FLOWS).build();
    }

    private static void drain(final GeneratedTraffic traffic, final PacketHandler handler) {
        while (traffic.poll(handler, POLL_LIMIT) != PacketSource.END_OF_SOURCE) {
            Thread.onSpinWait();
        }
    }

    private static void pollTimes(final GeneratedTraffic traffic, final PacketHandler handler, final int times) {
        for (int i = 0; i < times; i++) {
            traffic.poll(handler, POLL_LIMIT);
        }
    }

    private static long fingerprint(final TrafficProfile profile) {
        final CRC32 crc = new CRC32();
        final byte[] octets = new byte[2048];
        drain(new GeneratedTraffic(profile), packet -> {
            packet.buffer().getBytes(packet.offset(), octets, 0, packet.capturedLengthBytes());
            crc.update(octets, 0, packet.capturedLengthBytes());
            for (int shift = 0; shift < 64; shift += 8) {
                crc.update((int) (packet.timestampNs() >>> shift) & 0xFF);
            }
        });
        return crc.getValue();
    }

    private static String keyOf(final TrafficFlows flows, final int flow) {
        return flows.sourceAddress(flow) + " " + flows.destinationAddress(flow) + " " + flows.protocol(flow) + " " +
            flows.sourcePort(flow) + " " + flows.destinationPort(flow);
    }

    /** Reads the frames again by the RFCs, knowing nothing of how they were made. */
    private static final class Recount implements PacketHandler {
        private final Map<String, long[]> flows = new HashMap<>();
        private long packets;
        private long wireBytes;
        private long stepsBack;
        private long firstNs = Long.MAX_VALUE;
        private long lastNs = Long.MIN_VALUE;
        private long synCount;
        private long finCount;
        private long badChecksums;

        @Override
        public void onPacket(final CapturedPacket packet) {
            assertEquals(LinkType.ETHERNET, packet.linkType());
            assertTrue(packet.capturedLengthBytes() <= packet.wireLengthBytes());
            assertTrue(packet.wireLengthBytes() >= 60 && packet.wireLengthBytes() <= 1518);
            stepsBack += packet.timestampNs() < lastNs ? 1 : 0;
            firstNs = Math.min(firstNs, packet.timestampNs());
            lastNs = packet.timestampNs();
            packets++;
            wireBytes += packet.wireLengthBytes();
            final byte[] frame = new byte[packet.capturedLengthBytes()];
            packet.buffer().getBytes(packet.offset(), frame);
            onFrame(frame, packet.capturedLengthBytes() == packet.wireLengthBytes(), packet.timestampNs());
        }

        private void onFrame(final byte[] frame, final boolean whole, final long timestampNs) {
            final int ip = u16(frame, 12) == 0x8100 ? 18 : 14;
            final boolean v6 = u16(frame, ip - 2) == 0x86DD;
            final int protocol = frame[ip + (v6 ? 6 : 9)] & 0xFF;
            final int transport = ip + (v6 ? 40 : 20);
            final int ipLength = v6 ? 40 + u16(frame, ip + 4) : u16(frame, ip + 2);
            final boolean ports = protocol == 6 || protocol == 17;
            final String key = address(frame, ip + (v6 ? 8 : 12), v6) + " " + address(frame, ip + (v6 ? 24 : 16), v6) + " " +
                protocol + " " + (ports ? u16(frame, transport) : 0) + " " + (ports ? u16(frame, transport + 2) : 0);
            final long[] totals = flows.computeIfAbsent(key, k -> new long[] {0, 0, timestampNs, 0});
            totals[0]++;
            totals[1] += ipLength;
            totals[3] = timestampNs;
            if (protocol == 6) {
                synCount += frame[transport + 13] >>> 1 & 0x01;
                finCount += frame[transport + 13] & 0x01;
            }
            if (whole && !checksumsHold(frame, ip, transport, ipLength, protocol, v6)) {
                badChecksums++;
            }
        }

        private static boolean checksumsHold(
            final byte[] frame, final int ip, final int transport, final int ipLength, final int protocol, final boolean v6) {
            final int transportLength = ipLength - (transport - ip);
            long sum = sum(frame, transport, transportLength);
            if (protocol != 1) {
                sum += sum(frame, ip + (v6 ? 8 : 12), v6 ? 32 : 8) + protocol + transportLength;
            }
            return fold(sum) == 0xFFFF && (v6 || fold(sum(frame, ip, 20)) == 0xFFFF);
        }

        private static long sum(final byte[] frame, final int offset, final int length) {
            long sum = 0;
            for (int i = 0; i < length; i++) {
                sum += (long) (frame[offset + i] & 0xFF) << ((i & 1) == 0 ? 8 : 0);
            }
            return sum;
        }

        private static long fold(final long sum) {
            return sum >>> 16 == 0 ? sum : fold((sum & 0xFFFF) + (sum >>> 16));
        }

        private static int u16(final byte[] frame, final int offset) {
            return (frame[offset] & 0xFF) << 8 | frame[offset + 1] & 0xFF;
        }

        private static String address(final byte[] frame, final int offset, final boolean v6) {
            try {
                return InetAddress.getByAddress(
                    Arrays.copyOfRange(frame, offset, offset + (v6 ? 16 : 4))).getHostAddress();
            } catch (final UnknownHostException ex) {
                throw new AssertionError(ex);
            }
        }
    }
}
