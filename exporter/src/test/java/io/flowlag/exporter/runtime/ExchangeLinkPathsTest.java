package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.path.PathFinder;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two paths between two points that the exchange joins: injected references, and packets sampled beside them. */
class ExchangeLinkPathsTest extends LinkedPoints {
    private static final int PATHS = 2;
    private static final long[] LEAST_NS = {1_000_000, 3_000_000};
    private static final long MOST_QUEUE_NS = 400_000;
    private static final long STEP_NS = 1_000_000;
    private static final int STEPS = 28_000;
    private static final long FIRST_NUMBER = 1_000_000;
    private static final int FIRST_PORT = 40_000;
    private static final int INTERPOLATED = 1;
    private static final int MIXED_PATHS = 7;
    private static final int COUNTED_PACKETS = 100;

    @TempDir
    private Path directory;
    private final Random random = new Random(4);
    private final long[] delaysNs = LEAST_NS.clone();
    private final List<Integer> order = IntStream.range(0, PathFinder.LANES).boxed().collect(Collectors.toList());
    private final List<Integer> ports = new ArrayList<>();
    private final Queue<UnderWay> underWay = new PriorityQueue<>(Comparator.comparingLong(UnderWay::arrivalNs));
    private double searchedUntilNs;
    /** Every flow is in all cells of a row, so that they tell nothing of a single one. */
    private String cells = "columns: 16, vlda: 16";

    /** A packet or reference under way. */
    private record UnderWay(long number, boolean isReference, long sentNs, long arrivalNs) {
    }

    @BeforeEach
    @Override
    void connect() throws IOException {
        flowCount = 40;
        connect("", "");
    }

    /** The section is of more for the references. */
    @Override
    void connect(final String section, final String exchange) throws IOException {
        final ExporterConfig config = new ConfigLoader().text("test", NOT_RECONCILED +
            "segment: {role: receiver, interval: 10s, source: [0.0.0.0/0]}\nlds: {enabled: on, rows: 2, " + cells +
            "}\njoint: {enabled: off}\nmetering: {max-flows: 1024}\nrli: {every-n: 10" + section + "}\n" +
            "exchange: {mode: sketch, deadline: 20s, listen: " + PORT + "}\n").conclude();
        final ExchangeReceiver end = network.receiver(config, new PeerSecurity(tls, null, List.of(), List.of()));
        toClose.add(end);
        receiverAgent = end;
        flowHash = new SegmentFlowHash(end.hash());
        receiver = new Point(config, new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of()), ClockError.NONE, true, false, false, true)
            .withLink(end));
        toClose.add(receiver.stage);
        connectSender();
    }

    private void ship() {
        work();
        timer.advance(BATCH_NS);
        int idle = 0;
        while (idle < 3) {
            idle = work() > 0 ? 0 : idle + 1;
        }
    }

    /** A packet of one of the flows and a reference in each step; queues change slowly and are short. */
    private void passOverTwoPaths() {
        pass(3, null, true);
        receiver.records.clear();
        packets.clear();
        final long beginNs = START_NS + 3 * INTERVAL_NS;
        searchedUntilNs = beginNs + 10e9;
        for (int i = 0; i < STEPS; i++) {
            final long sentNs = beginNs + i * STEP_NS;
            arrive(sentNs);
            for (int path = 0; path < PATHS; path++) {
                final long queueNs = Math.abs(delaysNs[path] - LEAST_NS[path] + Math.round(10_000 * random.nextGaussian()));
                delaysNs[path] = LEAST_NS[path] + Math.min(MOST_QUEUE_NS, queueNs);
            }
            if (i % PathFinder.LANES == 0) {
                Collections.shuffle(order, random);
            }
            ports.add(order.get(i % PathFinder.LANES));
            underWay.add(new UnderWay(i, true, sentNs, sentNs + delaysNs[order.get(i % PathFinder.LANES) % PATHS]));
            final long number = FIRST_NUMBER + random.nextInt(Integer.MAX_VALUE);
            describe(number, 0, sentNs + STEP_NS / 2);
            sender.agent.onDescriptors(batch, 0, 1);
            underWay.add(new UnderWay(
                number, false, sentNs + STEP_NS / 2, sentNs + STEP_NS / 2 + delaysNs[(int)(number % flowCount % PATHS)]));
            if (i % 64 == 0) {
                ship();
            }
        }
        arrive(Long.MAX_VALUE);
        ship();
        packetNumber += STEPS * STEP_NS / GAP_NS;
        for (int i = 0; i < 6; i++) {
            pass(1, null, false);
            ship();
        }
    }

    private void arrive(final long untilNs) {
        while (!underWay.isEmpty() && underWay.peek().arrivalNs < untilNs) {
            final UnderWay one = underWay.remove();
            describe(one.number, 1, one.arrivalNs);
            if (one.isReference) {
                PacketDescriptor.sourcePort(batch, 0, FIRST_PORT + ports.get((int)one.number));
                DecodedReference.encode(batch, 0, 0, (int)one.number, one.sentNs);
                DecodedReference.followUp(batch, 0, (int)one.number, one.sentNs);
            } else {
                packets.add(new Packet(one.number % flowCount, one.arrivalNs, one.arrivalNs - one.sentNs));
            }
            receiver.agent.onDescriptors(batch, 0, 1);
        }
    }

    /** Records of flows that began when paths were found. */
    private List<UnsafeBuffer> counted() {
        return receiver.records.stream().filter((record) ->
            FlowEntry.startNs(record, 0) >= searchedUntilNs && FlowEntry.packetCount(record, 0) >= COUNTED_PACKETS &&
            FlowEntry.startNs(record, 0) < START_NS + 3 * INTERVAL_NS + STEPS * STEP_NS).toList();
    }

    private static long number(final Map<String, List<String>> record, final String element) {
        return Long.parseLong(record.get(element).get(0));
    }

    /** The errors of the records of an estimator, as shares of the truth, in order; their bounds hold. */
    private double[] errors(final int estimator) throws IOException {
        final List<UnsafeBuffer> records = counted();
        final List<Map<String, List<String>>> exported = IpfixRecords.exported(directory.resolve("paths.ipfix"), records);
        assertTrue(records.size() >= flowCount && exported.size() == records.size(), () -> "records " + records.size());
        int held = 0;
        final double[] errors = new double[records.size()];
        int count = 0;
        for (int i = 0; i < errors.length; i++) {
            if (number(exported.get(i), "flowlagDelayEstimator") == estimator) {
                final double errorNs = Math.abs(
                    number(exported.get(i), "flowlagDelayMeanNanoseconds") - meanNs(records.get(i)));
                held += errorNs <= number(exported.get(i), "flowlagDelayErrorBoundNanoseconds") ? 1 : 0;
                errors[count++] = errorNs / meanNs(records.get(i));
            }
        }
        assertTrue(held >= 0.95 * count, held + " of " + count);
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        return Arrays.stream(errors, 0, count).sorted().toArray();
    }

    @Test
    void shouldSayThatAFlowMayTakeSeveralPathsWhileNothingTells() throws IOException {
        passOverTwoPaths();
        final double[] mixed = errors(MIXED_PATHS);
        assertTrue(mixed.length > 0 && mixed[3 * mixed.length / 4] > 0.05, Arrays.toString(mixed));
        assertEquals(0, errors(INTERPOLATED).length, "no flow's path is known");
        assertEquals(0, sender.count("exchange_send_times_sent"));
    }

    @Test
    void shouldKnowThePathOfAFlowByPacketsThatBothPointsSample() throws Exception {
        reconnect(", passive-share: 0.03", "");
        isPassive = true;
        passOverTwoPaths();
        final double[] known = errors(INTERPOLATED);
        final int records = counted().size();
        assertTrue(known.length >= 0.9 * records, known.length + " of " + records);
        assertTrue(known[known.length / 2] < 0.005, Arrays.toString(known));
        assertEquals(0.03 * receiver.count("lds_received"), receiver.count("passive_matched"), 150);
        assertEquals(receiver.count("send_times_used"),
            receiver.count("passive_matched") + receiver.count("passive_unarrived"));
        assertEquals(0, receiver.count("passive_refused"));
    }

    @Test
    void shouldKnowThePathOfAFlowByItsMeanInCells() throws Exception {
        cells = "columns: 128";
        reconnect("", "");
        passOverTwoPaths();
        final double[] known = errors(INTERPOLATED);
        assertTrue(known.length > 0 && known[known.length - 1] < 0.05, Arrays.toString(known));
        assertTrue(errors(MIXED_PATHS).length < counted().size() / 2, "fewer are unknown");
        assertEquals(0, sender.count("exchange_send_times_sent"));
    }
}
