package io.flowlag.exporter.runtime;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Quantiles of packets sampled at two points that the exchange joins, where successive delays have nothing in common. */
class ExchangeLinkQuantilesTest extends LinkedPoints {
    private static final int SAMPLED_ONE_IN = 16;
    private static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99, 0.999};
    private static final long GAP_NS = 500_000;
    private static final int PACKETS = 30_000;
    /** At most, of send times that do not fill one. */
    private static final double MESSAGES_PER_S = 1e9 / BATCH_NS;
    private static final double MESSAGE_BITS = 8 * 64;
    private static final long FIRST_NUMBER = 1_000_000;

    @TempDir
    private Path directory;
    private final SplittableRandom random = new SplittableRandom(8);
    private final Map<Long, List<Packet>> ofFlows = new HashMap<>();

    @BeforeEach
    @Override
    void connect() throws IOException {
        isPassive = true;
        flowCount = 300;
        connect(section(""), "");
    }

    /** The key, which decides what flows are sampled, is always the same. */
    private String section(final String quantiles) throws IOException {
        final Path key = directory.resolve("key");
        if (!Files.exists(key)) {
            Files.createFile(key, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(key, "0123456789abcdef".repeat(2) + "\n");
        }
        return quantiles + "decode: {digest-key-file: " + key + "}\nrli: {policy: passive, passive-share: 0.02}\n";
    }

    private long weibullNs() {
        return 10_000 + (long)(200_000 * Math.pow(-Math.log(1 - random.nextDouble()), 1 / 0.7));
    }

    /** A packet of one of the flows, under way. */
    private record UnderWay(long number, long sentNs, long arrivalNs) {
    }

    /** Send times come, whatever intervals wait for. */
    private void ship() {
        work();
        timer.advance(BATCH_NS);
        int idle = 0;
        while (idle < 3) {
            idle = work() > 0 ? 0 : idle + 1;
        }
    }

    private void passUncorrelated() {
        final Queue<UnderWay> underWay = new PriorityQueue<>(Comparator.comparingLong(UnderWay::arrivalNs));
        final long beginNs = START_NS + 3 * INTERVAL_NS;
        for (int i = 0; i < PACKETS; i++) {
            final long sentNs = beginNs + i * GAP_NS;
            arrive(underWay, sentNs);
            describe(FIRST_NUMBER + i, 0, sentNs);
            sender.agent.onDescriptors(batch, 0, 1);
            underWay.add(new UnderWay(FIRST_NUMBER + i, sentNs, sentNs + weibullNs()));
            if (i % 64 == 0) {
                ship();
            }
        }
        arrive(underWay, Long.MAX_VALUE);
        ship();
    }

    private void arrive(final Queue<UnderWay> underWay, final long untilNs) {
        while (!underWay.isEmpty() && underWay.peek().arrivalNs < untilNs) {
            final UnderWay packet = underWay.remove();
            describe(packet.number, 1, packet.arrivalNs);
            ofFlows.computeIfAbsent(packet.number % flowCount, (flow) -> new ArrayList<>())
                .add(new Packet(packet.number % flowCount, packet.arrivalNs, packet.arrivalNs - packet.sentNs));
            receiver.agent.onDescriptors(batch, 0, 1);
        }
    }

    /** The agreement holds, and flows end. */
    private void begin() {
        pass(3, null, true);
        receiver.records.clear();
    }

    private void end() {
        packetNumber += PACKETS * GAP_NS / LinkedPoints.GAP_NS;
        for (int i = 0; i < 6; i++) {
            pass(1, null, false);
            ship();
        }
    }

    /** Delays of the packets of a record, in order. */
    private long[] delaysNs(final UnsafeBuffer record) {
        return ofFlows.getOrDefault(FlowEntry.sourceLow(record, 0), List.of()).stream()
            .filter((each) -> each.arrivedNs() >= FlowEntry.startNs(record, 0) && each.arrivedNs() <= FlowEntry.endNs(record, 0))
            .mapToLong(Packet::delayNs).sorted().toArray();
    }

    @Test
    void shouldGiveQuantilesOfWholeFlowsOverTheExchangeWithinTheirBounds() throws IOException {
        begin();
        passUncorrelated();
        end();
        int records = 0;
        int given = 0;
        final List<UnsafeBuffer> bounded = new ArrayList<>();
        for (final UnsafeBuffer record : receiver.records) {
            final int at = FlowDelay.quantilesOffset(FlowEntry.BASE_LENGTH_BYTES);
            final long[] delaysNs = delaysNs(record);
            if (delaysNs.length < 20) {
                continue;
            }
            records++;
            final double bound = FlowQuantiles.errorPpm(record, at) / 1e6;
            if (bound > 0) {
                bounded.add(record);
            }
            for (int i = 0; bound > 0 && i < FlowQuantiles.groups(record, at); i++) {
                final long truthNs = delaysNs[(int)Math.ceil(QUANTILES[i] * delaysNs.length - 1e-9) - 1];
                assertEquals(truthNs, FlowQuantiles.quantileNs(record, at, i), bound * FlowQuantiles.quantileNs(record, at, i),
                    "quantile " + i + " of " + delaysNs.length + " packets");
                given++;
            }
        }
        assertTrue(records > 300, "records " + records);
        assertEquals((double)records / SAMPLED_ONE_IN, bounded.size(), 0.6 * records / SAMPLED_ONE_IN,
            "all flows that are sampled have their quantiles");
        assertTrue(given >= bounded.size());
        assertTrue(receiver.count("quantile_samples") >= receiver.count("passive_matched") - 20, "but for ended flows");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        final List<Map<String, List<String>>> exported = IpfixRecords.exported(directory.resolve("sampled.ipfix"), bounded);
        for (final Map<String, List<String>> each : exported) {
            assertTrue(Long.parseLong(each.get("flowlagDelayQuantileErrorPartsPerMillion").get(0)) > 0, each::toString);
            assertTrue(each.containsKey("flowlagDelayP50Nanoseconds"), each::toString);
        }
    }

    /** Octets that the sender wrote while the packets passed, and the send times among them. */
    private long[] shipped(final String bandwidth) throws Exception {
        reconnect(section("quantiles: {bandwidth: " + bandwidth + "}\n"), "");
        packetNumber = 0;
        begin();
        final long octets = sender.count("exchange_octets_sent");
        final long times = sender.count("exchange_send_times_sent");
        passUncorrelated();
        return new long[] {sender.count("exchange_octets_sent") - octets, sender.count("exchange_send_times_sent") - times};
    }

    @Test
    void shouldKeepSendTimesOfSampledFlowsToTheirBandwidth() throws Exception {
        final long[] none = shipped("0");
        final long[] some = shipped("5k");
        final long[] all = shipped("1m");
        final double seconds = PACKETS * GAP_NS / 1e9;
        final double bits = 8.2 * 8 * (some[1] - none[1]);
        assertTrue(bits <= 5_000 * (seconds + 1), "the first second may take twice as much: " + bits);
        assertTrue(bits >= 5_000 * seconds / 2, "and the rest is used: " + bits);
        assertTrue(all[1] - none[1] > 1.2 * (some[1] - none[1]), "with room for all flows: " + all[1]);
        assertTrue(8 * (some[0] - none[0]) <= bits + seconds * MESSAGES_PER_S * MESSAGE_BITS, "on the wire " + some[0]);
    }

    @Test
    void shouldGiveNoQuantilesOfFlowsWhoseSendTimesDoNotCome() throws Exception {
        reconnect(section("quantiles: {bandwidth: 0}\n"), "");
        begin();
        passUncorrelated();
        end();
        final int at = FlowDelay.quantilesOffset(FlowEntry.BASE_LENGTH_BYTES);
        assertTrue(receiver.records.stream().allMatch((record) -> FlowQuantiles.errorPpm(record, at) == 0));
        assertEquals(0, receiver.count("quantile_samples"));
    }
}
