package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.ExchangeSender;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two senders and one receiver, joined by the exchange in memory, worked step by step in packet time. Each sender's shipment
 * affects its own flows only, and what one sender omits does not affect the other.
 */
class SeveralSendersTest {
    private static final PeerSecurity PLAIN = new PeerSecurity(null, null, List.of(), List.of());
    private static final long INTERVAL_NS = MeteringPoint.INTERVAL_NS;
    private static final long START_NS = 170_000_000L * INTERVAL_NS;
    private static final long GAP_NS = 50_000_000L;
    private static final long PACKETS_PER_INTERVAL = INTERVAL_NS / GAP_NS;
    private static final int FLOWS = 8;
    private static final int PORT = 8621;
    private static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(2);
    private static final int FIRST_ID = 40;
    private static final long CLOCK_ERROR_NS = 70_000;
    /** 10.0.0.0 and 11.0.0.0. */
    private static final long[] NETWORKS = {10L << 24, 11L << 24};

    private final UnsafeBuffer batch = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final ExchangeSender[] ends = new ExchangeSender[NETWORKS.length];
    private final MeteringPoint[] senders = new MeteringPoint[NETWORKS.length];
    private final boolean[] isSilent = new boolean[NETWORKS.length];
    private final Map<Long, long[]> truth = new HashMap<>();
    private final MemoryNetwork network = new MemoryNetwork(new CachedNanoClock());
    private ExchangeReceiver receiverEnd;
    private MeteringPoint receiver;
    private SegmentFlowHash flowHash;
    private long packetNumber;
    /** Sketches as they come; what is asked about packets is not waited for. */
    private String section = "reconcile: {enabled: off}\n";
    private boolean isReconciled;

    @BeforeEach
    void connect() throws IOException {
        connect("sketch");
    }

    private void connect(final String mode) throws IOException {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: receiver, id: " + FIRST_ID + ", interval: 10s, source: [10.0.0.0/7]}\n" +
            "lds: {enabled: on, rows: 2, columns: 1k, witnesses: 0.5}\nmetering: {max-flows: 1024}\njoint: {enabled: off}\n" +
            section + "rli: {senders: [\"1@127.0.0.1?source=10.0.0.0/8\", \"2@127.0.0.1?source=11.0.0.0/8\"]}\n" +
            "exchange: {deadline: 20s, mode: " + mode + ", listen: " + PORT + "}\n").conclude();
        receiverEnd = network.receiver(config, PLAIN);
        toClose.add(receiverEnd);
        flowHash = new SegmentFlowHash(receiverEnd.hash());
        receiver = new MeteringPoint(config, wiring(Role.RECEIVER).withLink(receiverEnd));
        for (int i = 0; i < NETWORKS.length; i++) {
            connectSender(i);
        }
        await(() -> count("exchange_settings_held") == NETWORKS.length);
    }

    private ExchangeSender end(final long id) {
        final ExporterConfig config = new ConfigLoader().text("test",
            section + "segment: {role: sender, id: " + id + "}\nexchange: {connect: \"127.0.0.1:" + PORT + "\"}\n").conclude();
        final ExchangeSender end = network.sender(config, PLAIN, () -> START_NS, ClockError.fixed(CLOCK_ERROR_NS));
        toClose.add(end);
        return end;
    }

    private void connectSender(final int index) {
        ends[index] = end(FIRST_ID + index);
        final ExporterConfig config = new ConfigLoader().text("test",
            section + "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:" + PORT + "\"}\n").conclude();
        senders[index] = new MeteringPoint(config, wiring(Role.SENDER).withLink(ends[index]));
    }

    private static DelayWiring wiring(final Role role) {
        return new DelayWiring(role, DelayWiring.References.NONE, ClockError.NONE, false, false, false, role == Role.RECEIVER);
    }

    @AfterEach
    void close() {
        network.close(toClose);
    }

    /** A counter of an end, without the statistics of its stage. */
    private static long count(final SketchLink end, final String label) {
        final long[] found = new long[1];
        end.counters((name, value) -> found[0] += name.equals(label) ? value : 0);
        return found[0];
    }

    private long count(final String label) {
        return receiver.count(label);
    }

    private int work() {
        int workCount = 0;
        for (int i = 0; i < ends.length; i++) {
            if (!isSilent[i]) {
                workCount += ends[i].doWork();
            }
        }
        return workCount + receiverEnd.doWork();
    }

    /** Works until there is nothing to do. Returns whether there was anything: counters are the same as before otherwise. */
    private boolean workToEnd() {
        boolean isAny = false;
        while (work() > 0) {
            isAny = true;
        }
        return isAny;
    }

    private void await(final BooleanSupplier condition) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, () -> "not in time: " + receiver.statistics().counters());
            work();
        }
    }

    /** What was shipped is with the receiver. */
    private void settle() {
        if (workToEnd()) {
            await(() -> {
                boolean isSettled = true;
                for (int i = 0; i < ends.length; i++) {
                    isSettled &= isSilent[i] ||
                        count(ends[i], "intervals_answered") == senders[i].count("lds_intervals_shipped");
                }
                return isSettled;
            });
        }
    }

    /** What is asked has been answered, and what follows from it has been asked. */
    private void settleRequests() {
        if (workToEnd()) {
            await(() -> count(receiverEnd, "synopsis_requests_sent") == count(receiverEnd, "synopses_received") +
                count(ends[0], "synopsis_requests_denied") + count(ends[1], "synopsis_requests_denied"));
        }
    }

    private void describe(final int index, final long flow, final long number, final int point, final long timestampNs) {
        final long source = NETWORKS[index] + flow;
        batch.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(batch, 0, timestampNs);
        PacketDescriptor.ipVersion(batch, 0, 4);
        PacketDescriptor.protocol(batch, 0, 17);
        PacketDescriptor.sourceLow(batch, 0, source);
        PacketDescriptor.sourcePort(batch, 0, 7);
        PacketDescriptor.destinationLow(batch, 0, 1);
        PacketDescriptor.segmentCount(batch, 0, 1);
        PacketDescriptor.ipLengthBytes(batch, 0, 500);
        PacketDescriptor.wireLengthBytes(batch, 0, 514);
        PacketDescriptor.observationPoint(batch, 0, point);
        PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_DIGEST);
        // The digests of both senders' packets are the same: they must not be taken for one another.
        PacketDescriptor.digest(batch, 0, number * 0x9E37_79B9_7F4A_7C15L);
        PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, source, 0, 1));
    }

    /** A packet of each sender in turn; delays differ by sender and flow. The second sender sees the first one's packets too. */
    private void pass(final long intervals) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            for (int index = 0; index < NETWORKS.length; index++) {
                final long flow = number % FLOWS;
                final long sentNs = START_NS + number * GAP_NS + GAP_NS - 1_000_000 + index;
                final long delayNs = 2_000_000 + index * 40_000_000L + flow * 100_000 + number;
                describe(index, flow, number, 0, sentNs);
                for (int at = index; at < NETWORKS.length; at++) {
                    senders[at].agent.onDescriptors(batch, 0, 1);
                }
                settle();
                if (number % (isReconciled ? 151 : 997) != 0) {
                    final long[] sums = truth.computeIfAbsent(NETWORKS[index] + flow, (key) -> new long[2]);
                    sums[0] += delayNs;
                    sums[1]++;
                    describe(index, flow, number, 1, sentNs + delayNs);
                    receiver.agent.onDescriptors(batch, 0, 1);
                }
                if (isReconciled) {
                    settleRequests();
                }
            }
        }
    }

    private List<UnsafeBuffer> recordsOf(final int index) {
        return receiver.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) >>> 24 == NETWORKS[index] >>> 24).toList();
    }

    private static boolean hasMean(final UnsafeBuffer record) {
        return FlowDelay.estimator(record, FlowEntry.BASE_LENGTH_BYTES) != 0;
    }

    /** Every flow of a sender: its mean within the spread that its packets have, and its sender's segment. */
    private int tellRecords(final int index) {
        int count = 0;
        for (final UnsafeBuffer record : recordsOf(index)) {
            if (hasMean(record)) {
                final int offset = FlowEntry.BASE_LENGTH_BYTES;
                final long leastNs = 2_000_000 + index * 40_000_000L;
                final long meanNs = FlowSketch.meanNs(record, FlowDelay.sketchOffset(offset));
                assertTrue(meanNs >= leastNs && meanNs <= leastNs + 2_000_000, "mean " + meanNs + " of sender " + index);
                assertEquals(FIRST_ID + index, FlowDelay.segmentId(record, offset));
                assertEquals(0, DelayCounters.count(record, offset), "no references");
                assertEquals(CLOCK_ERROR_NS, FlowDelay.clockErrorNs(record, offset), CLOCK_ERROR_NS / 100.0);
                count++;
            }
        }
        return count;
    }

    @Test
    void shouldTellOfEachSenderWhatItAloneShipped() {
        pass(12);
        assertTrue(tellRecords(0) >= 2 * FLOWS, "records of the first sender");
        assertTrue(tellRecords(1) >= 2 * FLOWS, "records of the second sender");
        final List<SketchStatistics> sketches = receiver.statistics().sketches();
        assertEquals(List.of(0, 1), sketches.stream().map(SketchStatistics::senderIndex).toList());
        for (final SketchStatistics each : sketches) {
            assertEquals(each.occupiedCells(), each.usableCells(), "nothing was lost in the last interval");
            assertTrue(each.occupiedCells() >= FLOWS);
            assertEquals(PACKETS_PER_INTERVAL, each.interval().get(0).samples(), 1);
        }
        for (final String label : List.of("lds_intervals", "lds_received", "exchange_intervals_complete")) {
            assertEquals(count(label), count(label + "_session_1") + count(label + "_session_2"), label);
            assertTrue(count(label + "_session_1") > 0, label);
        }
        assertEquals(count("lds_received_session_1"), count("lds_received_session_2"));
        assertEquals(0, count("lds_intervals_refused"));
        // What the second sender saw of the first one's traffic is none of its business.
        assertTrue(senders[1].count("lds_sent") <= packetNumber, "sketched: " + senders[1].count("lds_sent"));
        assertTrue(receiver.statistics().isAccountedFor(), () -> receiver.statistics().toString());
    }

    @Test
    void shouldNotTouchTheOtherSendersFlowsWhenOneIsSilentOrDies() throws Exception {
        pass(5);
        final long before = count("lds_intervals_session_1");
        final long unanswered = count("lds_intervals_unanswered_session_1");
        isSilent[1] = true;
        receiver.records.clear();
        pass(8);
        assertTrue(count("lds_intervals_session_1") >= before + 7, "the first goes on");
        assertEquals(unanswered, count("lds_intervals_unanswered_session_1"));
        assertTrue(count("lds_intervals_unanswered_session_2") >= 3, "the second has no answers");
        assertTrue(tellRecords(0) >= FLOWS);
        final List<UnsafeBuffer> silent = recordsOf(1);
        assertFalse(silent.isEmpty());
        long unmeasured = 0;
        for (final UnsafeBuffer record : silent) {
            if (!hasMean(record)) {
                unmeasured++;
                assertFalse(FlowDelay.has(record, FlowEntry.BASE_LENGTH_BYTES, FlowDelay.FLAG_LOSS), "nobody told of a loss");
            }
        }
        assertTrue(unmeasured >= FLOWS, "records without a mean: " + unmeasured);
        // It comes back late, and then it is started again.
        isSilent[1] = false;
        settle();
        pass(3);
        isSilent[1] = true;
        network.close(ends[1], this::work);
        isSilent[1] = false;
        connectSender(1);
        await(() -> count("exchange_sessions_session_2") == 2);
        receiver.records.clear();
        pass(8);
        assertTrue(tellRecords(1) >= FLOWS, "the second is measured again");
        assertTrue(tellRecords(0) >= FLOWS);
        assertEquals(unanswered, count("lds_intervals_unanswered_session_1"));
        assertEquals(0, count("lds_intervals_damaged_session_1") - 1, "the first of all");
        assertEquals(1, count("exchange_sessions_session_1"));
        assertTrue(receiver.statistics().isAccountedFor(), () -> receiver.statistics().toString());
    }

    @Test
    void shouldKeepOutSendersThatItDoesNotKnowAndThoseWithAnothersId() {
        pass(3);
        final long before = count("lds_intervals_session_1");
        final ExchangeSender unknown = end(FIRST_ID + NETWORKS.length);
        final ExchangeSender twin = end(FIRST_ID);
        await(() -> {
            unknown.doWork();
            twin.doWork();
            return count("exchange_senders_unknown") > 0 && count("exchange_senders_doubled") > 0;
        });
        assertEquals(count("exchange_senders_doubled"), count("exchange_senders_doubled_session_1"));
        assertEquals(0, count("exchange_senders_doubled_session_2"));
        pass(6);
        assertTrue(count("lds_intervals_session_1") >= before + 5);
        assertEquals(1, count("exchange_sessions_session_1"));
        assertEquals(0, count("exchange_ended_replaced"));
        assertTrue(tellRecords(0) >= FLOWS);
    }

    @Test
    void shouldKnowTheSumsOfEachSendersFlows() throws IOException {
        close();
        toClose.clear();
        connect("flows");
        pass(10);
        for (int index = 0; index < NETWORKS.length; index++) {
            assertTrue(tellRecords(index) >= FLOWS);
            assertTrue(count("lds_flows_exact_session_" + (index + 1)) >= 3 * FLOWS);
        }
        assertTrue(count("lds_flows_different") <= 2, "what was under way when the senders began");
        assertEquals(0, count("lds_flows_unseen"));
    }

    /** Each sender is asked for its own packets: the same digests at both, and a flow of each of which nothing arrives. */
    @Test
    void shouldReconcileWithEachSender() throws IOException {
        close();
        toClose.clear();
        section = "reconcile: {enabled: on, packets: 1k, cells: 1k, wait: 5s}\n";
        connect("sketch");
        isReconciled = true;
        pass(4);
        for (int index = 0; index < NETWORKS.length; index++) {
            for (int i = 0; i <= index; i++) {
                describe(index, 99, 1_000_000 + i, 0, START_NS + packetNumber * GAP_NS + i);
                senders[index].agent.onDescriptors(batch, 0, 1);
            }
        }
        pass(5);
        for (int index = 0; index < NETWORKS.length; index++) {
            final String session = "_session_" + (index + 1);
            assertTrue(count("reconcile_complete" + session) >= 3, () -> receiver.statistics().toString());
            assertTrue(count("reconcile_lost" + session) >= 3 + index, () -> receiver.statistics().toString());
            assertEquals(1, count("reconcile_flows_unseen" + session));
            final List<UnsafeBuffer> unseen =
                recordsOf(index).stream().filter((each) -> FlowEntry.packetCount(each, 0) == 0).toList();
            assertEquals(1, unseen.size());
            assertEquals(NETWORKS[index] + 99, FlowEntry.sourceLow(unseen.get(0), 0));
            assertEquals(index + 1, FlowDelay.lostPackets(unseen.get(0), FlowEntry.BASE_LENGTH_BYTES));
            assertEquals(FIRST_ID + index, FlowDelay.segmentId(unseen.get(0), FlowEntry.BASE_LENGTH_BYTES));
        }
        assertEquals(0, count("reconcile_incomplete") + count("reconcile_refused") + count("exchange_synopses_unverified"));
        assertTrue(receiver.statistics().isAccountedFor(), () -> receiver.statistics().toString());
    }
}
