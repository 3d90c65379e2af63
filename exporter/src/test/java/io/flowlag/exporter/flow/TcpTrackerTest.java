package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.Counters;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TcpTrackerTest {
    private static final long MS = 1_000_000;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int ACK = 16;
    private static final int CLIENT = 1;
    private static final int SERVER = 2;
    /** Sequence numbers pass 0. */
    private static final int ISN = -3000;
    private static final int LENGTH = 1000;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final Map<Integer, Row> rows = new HashMap<>();
    private final FlowCache cache = cache(new FlowCacheSettingsBuilder().maxFlows(64));
    private int window = 1;
    private int pointOfServer;
    private int flagsOfServer;

    /** What is said of the flow from a host; null for absent. */
    private record Row(
        Long handshakeNs, Long synNs, int roundTrips, Long leastNs, Long mostNs, long again, long octetsAgain, long late,
        long closed) {
    }

    /** A packet as the observation point sees it. */
    private record Seen(long ns, int host, int sequence, int acknowledgement, int bits, int payloadBytes) {
    }

    private FlowCache cache(final FlowCacheSettingsBuilder settings) {
        return new FlowCache(settings.additions(true, false).idleTimeoutNs(60_000 * MS).build(), (entry, offset, length) -> {
            final int at = FlowAdditions.knownTcp(entry, offset, length);
            rows.put((int)FlowEntry.sourceLow(entry, offset), at < 0 ? null : new Row(
                FlowTcp.has(entry, at, FlowTcp.FLAG_HANDSHAKE) ? FlowTcp.handshakeNs(entry, at) : null,
                FlowTcp.has(entry, at, FlowTcp.FLAG_SYN_ROUND_TRIP) ? FlowTcp.synRoundTripNs(entry, at) : null,
                FlowTcp.roundTrips(entry, at),
                FlowTcp.roundTrips(entry, at) > 0 ? FlowTcp.minimumRoundTripNs(entry, at) : null,
                FlowTcp.roundTrips(entry, at) > 0 ? FlowTcp.maximumRoundTripNs(entry, at) : null,
                FlowTcp.retransmittedPackets(entry, at), FlowTcp.retransmittedOctets(entry, at),
                FlowTcp.outOfOrderPackets(entry, at), FlowTcp.zeroWindowPackets(entry, at)));
        }, new Counters());
    }

    private UnsafeBuffer packet(final Seen seen) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, START_NS + seen.ns);
        PacketDescriptor.sourceLow(descriptor, 0, seen.host);
        PacketDescriptor.destinationLow(descriptor, 0, CLIENT + SERVER - seen.host);
        PacketDescriptor.sourcePort(descriptor, 0, seen.host == SERVER ? 443 : 5000);
        PacketDescriptor.destinationPort(descriptor, 0, seen.host == SERVER ? 5000 : 443);
        PacketDescriptor.protocol(descriptor, 0, 6);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.tcpControlBits(descriptor, 0, seen.bits);
        PacketDescriptor.ipLengthBytes(descriptor, 0, 40 + seen.payloadBytes);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.observationPoint(descriptor, 0, seen.host == SERVER ? pointOfServer : 0);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_TCP |
            (window == 0 ? PacketDescriptor.FLAG_ZERO_WINDOW : 0) | (seen.host == SERVER ? flagsOfServer : 0));
        PacketDescriptor.tcp(descriptor, 0, seen.sequence, seen.acknowledgement, seen.payloadBytes);
        return descriptor;
    }

    private void see(
        final long ns, final int host, final int sequence, final int acknowledgement, final int bits, final int payloadBytes) {
        cache.update(packet(new Seen(ns, host, sequence, acknowledgement, bits, payloadBytes)), 0);
    }

    private void handshake() {
        see(0, CLIENT, ISN, 0, SYN, 0);
        see(30 * MS, SERVER, 7000, ISN + 1, SYN | ACK, 0);
        see(50 * MS, CLIENT, ISN + 1, 7001, ACK, 0);
    }

    private Row row(final int host) {
        while (cache.flush(16)) {
            // goes on to the end
        }
        return rows.get(host);
    }

    @Test
    void shouldTimeTheHandshakeAndItsHalves() {
        handshake();
        assertEquals(new Row(50 * MS, 30 * MS, 0, null, null, 0, 0, 0, 0), row(CLIENT));
        assertEquals(new Row(null, 20 * MS, 0, null, null, 0, 0, 0, 0), row(SERVER));
    }

    @Test
    void shouldTimeRoundTripsAtOnePointOrBothWaysThroughAnInterfaceAlone() {
        pointOfServer = 1;
        handshake();
        assertEquals(new Row(50 * MS, null, 0, null, null, 0, 0, 0, 0), row(CLIENT));
        flagsOfServer = PacketDescriptor.FLAG_LEAVING;
        handshake();
        assertEquals(30 * MS, row(CLIENT).synNs);
    }

    @Test
    void shouldNotTakeAPacketAtAnotherPointForARetransmission() {
        see(0, SERVER, 7000, 0, ACK, LENGTH);
        pointOfServer = 1;
        see(1, SERVER, 7000, 0, ACK, LENGTH);
        assertEquals(0, row(SERVER).again);
    }

    @Test
    void shouldTimeTheWholeHandshakeInOneDirectionAlone() {
        see(0, CLIENT, ISN, 0, SYN, 0);
        see(50 * MS, CLIENT, ISN + 1, 7001, ACK, 0);
        assertEquals(new Row(50 * MS, null, 0, null, null, 0, 0, 0, 0), row(CLIENT));
    }

    @Test
    void shouldNotTimeASynThatWasSentAgain() {
        see(-1000 * MS, CLIENT, ISN, 0, SYN, 0);
        handshake();
        assertEquals(new Row(null, null, 0, null, null, 1, 0, 0, 0), row(CLIENT));
        assertEquals(20 * MS, row(SERVER).synNs);
    }

    @Test
    void shouldBeginAnewWithANewConnectionOfTheSamePorts() {
        handshake();
        see(60 * MS, CLIENT, 9000, 0, SYN, 0);
        see(61 * MS, SERVER, 123, 9001, SYN | ACK, 0);
        see(62 * MS, CLIENT, 9001, 124, ACK, 0);
        see(63 * MS, CLIENT, 9001, 124, ACK, LENGTH);
        see(68 * MS, SERVER, 124, 9001 + LENGTH, ACK, 0);
        assertEquals(new Row(50 * MS, MS, 1, 5 * MS, 5 * MS, 0, 0, 0, 0), row(CLIENT));
    }

    @Test
    void shouldTellLateOctetsFromRetransmissionsAndQuestions() {
        handshake();
        see(100 * MS, CLIENT, ISN + 1, 7001, ACK, LENGTH);
        see(101 * MS, CLIENT, ISN + 1 + 2 * LENGTH, 7001, ACK, LENGTH);
        see(102 * MS, CLIENT, ISN + 1 + LENGTH, 7001, ACK, LENGTH);
        see(103 * MS, CLIENT, ISN + 1 + 4 * LENGTH, 7001, ACK, LENGTH);
        see(153 * MS, CLIENT, ISN + 1 + 3 * LENGTH, 7001, ACK, LENGTH);
        see(154 * MS, CLIENT, ISN + 1 + LENGTH, 7001, ACK, LENGTH);
        see(155 * MS, CLIENT, ISN + 1 + 5 * LENGTH, 7001, ACK | FIN, 0);
        see(156 * MS, CLIENT, ISN + 1 + 5 * LENGTH, 7001, ACK | FIN, 0);
        see(157 * MS, SERVER, 7001, ISN + 2 + 5 * LENGTH, ACK, 0);
        see(158 * MS, CLIENT, ISN + 1 + 5 * LENGTH, 7001, ACK, 1);
        see(159 * MS, CLIENT, ISN + 1 + 5 * LENGTH, 7001, ACK, 0);
        assertEquals(new Row(50 * MS, 30 * MS, 1, 57 * MS, 57 * MS, 3, 2 * LENGTH, 1, 0), row(CLIENT));
    }

    @Test
    void shouldCountClosedWindowsAndNoneOfASyn() {
        window = 0;
        handshake();
        see(60 * MS, SERVER, 7001, ISN + 1, ACK, 0);
        assertEquals(1, row(SERVER).closed);
        assertEquals(1, row(CLIENT).closed);
    }

    @Test
    void shouldSayNothingOfAFlowOfAFormerProcess() {
        handshake();
        final UnsafeBuffer saved = new UnsafeBuffer(new byte[256]);
        saved.putBytes(0, cache.entries(), cache.stateOffset(0) - FlowEntry.BASE_LENGTH_BYTES, FlowEntry.BASE_LENGTH_BYTES);
        row(CLIENT);
        assertTrue(cache.takeUp(saved, 0, 0, START_NS + 60 * MS));
        see(70 * MS, CLIENT, ISN + 1, 7001, ACK, LENGTH);
        assertNull(row(CLIENT));
        assertTrue(rows.containsKey(CLIENT));
    }

    @Test
    void shouldNotMistakeAnotherFlowForTheOtherDirection() {
        final FlowCache tiny = cache(new FlowCacheSettingsBuilder().maxFlows(2));
        tiny.update(packet(new Seen(0, CLIENT, ISN, 0, ACK, LENGTH)), 0);
        tiny.update(packet(new Seen(1, SERVER, 7000, ISN, ACK, 0)), 0);
        final UnsafeBuffer other = packet(new Seen(2, 77, 5, 0, ACK, LENGTH));
        PacketDescriptor.destinationPort(other, 0, 9);
        tiny.update(other, 0);
        tiny.update(packet(new Seen(3, SERVER, 7000, 6 + LENGTH, ACK, 0)), 0);
        while (tiny.flush(16)) {
            // goes on to the end
        }
        assertEquals(0, rows.get(77).roundTrips);
    }

    /** Losses behind the point: each is seen again, and every round trip that is said is the true one. */
    @Property(edgeCases = EdgeCasesMode.NONE, tries = 200)
    void shouldSayOnlyTrueRoundTripsAndEveryRetransmission(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 40) final int halfMs, @ForAll final boolean isServerFirst) {
        final Random random = new Random(seed);
        final int count = 60;
        final List<Seen> seen = new ArrayList<>();
        final long[] arrivals = new long[count];
        int lost = 0;
        for (int i = 0; i < count; i++) {
            final boolean isLost = random.nextInt(8) == 0;
            lost += isLost ? 1 : 0;
            final long sentNs = i * 3 * MS;
            final long againNs = sentNs + 200 * MS;
            seen.add(data(sentNs, i));
            if (isLost) {
                seen.add(data(againNs, i));
            }
            arrivals[i] = (isLost ? againNs : sentNs) + halfMs * MS;
        }
        for (int i = 0; i < count; i++) {
            int whole = 0;
            while (whole < count && arrivals[whole] <= arrivals[i]) {
                whole++;
            }
            seen.add(new Seen(arrivals[i] + halfMs * MS, SERVER, 7001, ISN + whole * LENGTH, ACK, 0));
        }
        if (isServerFirst) {
            seen.add(new Seen(-MS, SERVER, 7001, ISN, ACK, 0));
        }
        seen.sort(Comparator.comparingLong(Seen::ns));
        seen.forEach((each) -> cache.update(packet(each), 0));

        final Row row = row(CLIENT);
        rows.clear();
        assertEquals(lost, row.again);
        assertEquals((long)lost * LENGTH, row.octetsAgain);
        assertEquals(0, row.late);
        assertTrue(lost > 0 || row.roundTrips > 0);
        if (row.roundTrips > 0) {
            assertEquals(2 * halfMs * MS, row.leastNs);
            assertEquals(2 * halfMs * MS, row.mostNs);
        }
    }

    private static Seen data(final long ns, final int number) {
        return new Seen(ns, CLIENT, ISN + number * LENGTH, 7001, ACK, LENGTH);
    }

    /** Any octets: no more packets than came, and a mean between the extremes. */
    @Property(edgeCases = EdgeCasesMode.NONE, tries = 200)
    void shouldStandAnySequence(@ForAll final long seed) {
        final Random random = new Random(seed);
        final long[] packets = new long[3];
        for (int i = 0; i < 300; i++) {
            final int host = 1 + random.nextInt(2);
            packets[host]++;
            window = random.nextInt(3);
            see(i * MS - random.nextInt(3) * MS, host, random.nextInt() >> random.nextInt(32),
                random.nextInt() >> random.nextInt(32), random.nextInt(32) & ~4, random.nextInt(2000));
        }
        for (int host = 1; host <= 2; host++) {
            final Row row = row(host);
            assertTrue(row.again + row.late <= packets[host], row::toString);
            assertTrue(row.roundTrips == 0 || row.leastNs >= 0 && row.leastNs <= row.mostNs, row::toString);
            assertFalse(row.handshakeNs != null && row.handshakeNs < 0);
        }
        rows.clear();
    }
}
