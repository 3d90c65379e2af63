package io.flowlag.tests.system;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.DigestAgreement;
import io.flowlag.exporter.delay.exact.ExactMatcher;
import io.flowlag.exporter.delay.exact.ExactMatcherSettings;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.exact.MatchHandler;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.delay.exact.TruthWriter;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.tests.support.SharedData;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Exact matching of real and simulated captures of two points, packet by packet against their truth files. */
class TwoPointTruthTest {
    private static final int ALL = Integer.MAX_VALUE;
    private static final int PACKETS = 1_000_000;
    private static final ExactMatcherSettings SETTINGS = new ExactMatcherSettings(
        PACKETS, PACKETS, 200_000_000, ExactMatcherSettings.MAXIMUM_DELAY, 0, 0, Integer.MAX_VALUE);

    private final SegmentFlows flows = new SegmentFlows(16, SegmentFlows.NEVER_NS);
    private final List<String> matched = new ArrayList<>();
    private final ExactMatcher matcher = new ExactMatcher(SETTINGS, flows, new MatchHandler() {
        @Override
        public void onMatched(
            final int flow, final long senderTag, final long receiverTag, final long sentNs, final long receivedNs) {
            matched.add(sentNs + "," + receivedNs + "," + (receivedNs - sentNs));
        }
    });

    /** A decoded packet of one of the points. */
    private record Sighting(boolean isSent, UnsafeBuffer descriptor) {
        long timeNs() {
            return PacketDescriptor.timestampNs(descriptor, 0);
        }
    }

    /** Feeds the packets from one source port, or all with 0, of both captures in the order of their times. */
    private void match(final String sender, final String receiver, final int sourcePort) {
        final List<Sighting> sightings = new ArrayList<>();
        read(sender, true, sightings);
        read(receiver, false, sightings);
        sightings.removeIf(one -> sourcePort != 0 && PacketDescriptor.sourcePort(one.descriptor, 0) != sourcePort);
        sightings.sort(Comparator.comparingLong(Sighting::timeNs));
        for (final Sighting sighting : sightings) {
            matcher.onTime(sighting.timeNs(), ALL);
            if (sighting.isSent) {
                matcher.onSent(sighting.descriptor, 0);
            } else {
                matcher.onReceived(sighting.descriptor, 0);
            }
        }
        assertFalse(matcher.finish(Long.MAX_VALUE, ALL));
        assertEquals(0, matcher.counters().unexplainedSent());
        assertEquals(0, matcher.counters().unexplainedReceived());
    }

    private static void read(final String capture, final boolean isSent, final List<Sighting> to) {
        final PacketDecoder decoder = new PacketDecoder(new PacketDecoder.Context().digest(new SipHash(1, 2)), new Counters());
        final PacketHandler handler = packet -> decode(decoder, packet, isSent, to);
        try (PacketSource source =
            CaptureFiles.open(List.of(SharedData.capture("twopoint/" + capture).toString()), FilterSupplier.ALL)) {
            int polled = 0;
            while (polled != PacketSource.END_OF_SOURCE) {
                polled = source.poll(handler, 1000);
            }
        }
    }

    private static void decode(
        final PacketDecoder decoder, final CapturedPacket packet, final boolean isSent, final List<Sighting> to) {
        final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        final int result = decoder.decode(packet, descriptor, 0);
        if (result == PacketDecoder.DECODED) {
            to.add(new Sighting(isSent, descriptor));
        } else {
            assertEquals(CounterId.REFUSED_NOT_IP.ordinal(), result, "the switch sends ARP, LLDP and STP");
        }
    }

    private long count(final MatchCounter counter) {
        return matcher.counters().get(counter);
    }

    private static List<String[]> truth(final String file) throws IOException {
        return Files.readAllLines(SharedData.capture("twopoint/" + file)).stream().skip(1)
            .map(line -> line.split(",", -1)).toList();
    }

    @Test
    void shouldFindTheTruthOfARealSwitchToTheNanosecond() throws IOException {
        final List<String> expected = truth("det6g_tsn_untagged.truth.csv").stream()
            .map(row -> row[1] + "," + row[2] + "," + row[3]).toList();
        final DigestAgreement agreement =
            new DigestAgreement(matcher.counters(), DigestAgreement.DEFAULT_MINIMUM_PACKETS);

        match("det6g_tsn_untagged_ingress.pcap", "det6g_tsn_untagged_egress.pcap", 0);

        assertEquals(expected, matched);
        assertEquals(1000, count(MatchCounter.MATCHED));
        assertEquals(0, count(MatchCounter.LOST) + count(MatchCounter.UNEXPECTED) + count(MatchCounter.DUPLICATES));
        assertEquals(DigestAgreement.Verdict.AGREES, agreement.judge());
        final List<Long> delaysNs = expected.stream().map(row -> Long.parseLong(row.split(",")[2])).toList();
        final double meanNs = delaysNs.stream().mapToLong(Long::longValue).sum() / 1000.0;
        final double squares = DoubleStream.of(delaysNs.stream().mapToDouble(delayNs -> delayNs - meanNs).toArray())
            .map(deviation -> deviation * deviation).sum();
        assertEquals("4546.4 45.2", String.format(Locale.ROOT, "%.1f %.1f", meanNs, Math.sqrt(squares / 999)));
        final StringBuilder csv = new StringBuilder();
        TruthWriter.write(flows, csv);
        assertEquals(
            TruthWriter.HEADER + "\n" + String.format(Locale.ROOT, "10.2.0.1,10.2.0.2,17,6666,6666,1000,1000,%.3f,%.3f,%d,%d\n",
                meanNs, Math.sqrt(squares / 999), 4410, 4670),
            csv.toString());
    }

    @Test
    void shouldFindTheLossOfASimulatedConnectionToTheServer() throws IOException {
        shouldFindTruth("c2s", "trex_tcp2_http_drop_client.pcap", "trex_tcp2_http_drop_server.pcap", 1025);
    }

    @Test
    void shouldFindTheLossOfASimulatedConnectionToTheClient() throws IOException {
        shouldFindTruth("s2c", "trex_tcp2_http_drop_server.pcap", "trex_tcp2_http_drop_client.pcap", 80);
    }

    private void shouldFindTruth(
        final String direction, final String sender, final String receiver, final int sourcePort) throws IOException {
        final List<String[]> rows =
            truth("trex_tcp2_http_drop.truth.csv").stream().filter(row -> direction.equals(row[0])).toList();

        match(sender, receiver, sourcePort);

        assertEquals(
            rows.stream().filter(row -> !row[3].isEmpty()).map(row -> row[1] + "," + row[2] + "," + row[3]).toList(), matched);
        assertEquals(rows.stream().filter(row -> row[3].isEmpty()).count(), count(MatchCounter.LOST));
        assertEquals(rows.size(), count(MatchCounter.SENT));
        assertEquals(0, count(MatchCounter.UNEXPECTED) + count(MatchCounter.DUPLICATES));
        assertEquals(1, LongStream.range(0, flows.limit()).filter(flow -> flows.isLive((int)flow)).count());
    }
}
