package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.ExchangeSender;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.exchange.link.TestCredentials;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.run.SegmentChange;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two metering stages joined by the exchange over loopback, worked step by step, with time that is the packets'. */
@Tag("slow")
class ExchangeLinkTest {
    private static final long INTERVAL_NS = MeteringPoint.INTERVAL_NS;
    private static final long START_NS = 170_000_000L * INTERVAL_NS;
    private static final long GAP_NS = 50_000_000L;
    private static final long PACKETS_PER_INTERVAL = INTERVAL_NS / GAP_NS;
    private static final int FLOWS = 16;
    private static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(2);
    /** How long a send time waits for others at most. */
    private static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final String NOT_RECONCILED = "reconcile: {enabled: off}\n";
    private static final String RECONCILE = "reconcile: {enabled: on, packets: 1k, cells: 1k, wait: 5s}\n";
    private static final String WEIGHTS = "weights: [\"src=0.0.0.3 port=7-9 weight=5\"]";

    private final UnsafeBuffer batch = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private int port;
    private SegmentFlowHash flowHash;
    private Agent receiverAgent;
    private Agent senderAgent;
    private Point receiver;
    private Point sender;
    private long packetNumber;
    private int flowCount = FLOWS;
    private boolean isPassive;
    /** By how much the sender's timers are ahead of the system's. */
    private long skippedNs;
    private boolean isLive;
    private String senderSection = NOT_RECONCILED;
    private TlsCredentials tls;
    /** Of every other flow. */
    private int dscp;
    /** One packet of so many has another mark at the receiver; 0 for none. */
    private int remarkedOf;
    private final List<Packet> packets = new ArrayList<>();

    /** A packet that arrives. */
    private record Packet(long flow, long arrivedNs, long delayNs) {
    }

    /** A metering stage and what it told of intervals. */
    private static final class Point extends MeteringPoint {
        private final Map<Long, SketchStatistics> intervals = new HashMap<>();

        private Point(final ExporterConfig config, final DelayWiring wiring) {
            super(config, wiring);
        }

        private Point(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
            super(config, wiring, isLive);
        }

        /** The clock shows the packet's time, and everything from before has come. */
        private void advance(final UnsafeBuffer descriptor) {
            nowNs = PacketDescriptor.timestampNs(descriptor, 0);
            agent.onCaptured(nowNs);
            agent.doWork();
        }

        private void packet(final UnsafeBuffer descriptor) {
            agent.onDescriptors(descriptor, 0, 1);
            for (final SketchStatistics sketches : stage.statistics().sketches()) {
                if (sketches.startNs() != null) {
                    intervals.put(sketches.startNs(), sketches);
                }
            }
        }
    }

    @BeforeEach
    void connect() throws IOException {
        port = FreePorts.tcp();
        connect("", "");
    }

    private void connect(final String section, final String exchange) throws IOException {
        final ExporterConfig config = config(
            "role: receiver, ", section + "exchange: {deadline: 20s, listen: " + port + exchange + "}\n");
        final ExchangeReceiver receiverEnd = new ExchangeReceiver(config, new PeerSecurity(tls, null, List.of(), null));
        toClose.add(receiverEnd);
        receiverAgent = receiverEnd;
        flowHash = new SegmentFlowHash(receiverEnd.hash());
        receiver = new Point(config, wiring(Role.RECEIVER, true).withLink(receiverEnd), isLive);
        connectSender();
    }

    private void reconnect(final String section, final String exchange) throws Exception {
        close();
        toClose.clear();
        connect(section, exchange);
    }

    private void connectSender() {
        final ExporterConfig config = new ConfigLoader().text("test",
            senderSection + "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:" + port + "\"}\n").conclude();
        final ExchangeSender senderEnd = new ExchangeSender(
            config, new PeerSecurity(tls, null, List.of(), null), () -> START_NS,
            () -> System.nanoTime() + skippedNs, ClockError.NONE);
        toClose.add(senderEnd);
        senderAgent = senderEnd;
        sender = new Point(config, wiring(Role.SENDER, false).withLink(senderEnd), isLive);
        await(() -> count(senderEnd, "settings_held") > 0);
    }

    private void closeSender() {
        final AutoCloseable end = (AutoCloseable)senderAgent;
        senderAgent = receiverAgent;
        ClosingEnds.close(end, this::work);
    }

    @AfterEach
    void close() throws Exception {
        ClosingEnds.close(toClose);
    }

    @Test
    void shouldTellAnOrderlyEndWithoutAWarning() throws Exception {
        final ByteArrayOutputStream log = new ByteArrayOutputStream();
        Logging.configure("INFO", null,
            new Terminal(System.out, new PrintStream(log, true, StandardCharsets.UTF_8), false));
        try {
            closeSender();
            await(() -> log.toString(StandardCharsets.UTF_8).contains("exchange: sender 1 "));
            final String line = log.toString(StandardCharsets.UTF_8);
            assertTrue(line.endsWith(" INFO  exchange: sender 1 closed the connection\n"), line);
        } finally {
            Logging.configure("WARN", null, Terminal.system());
        }
    }

    /** Sketches, and nothing reconciled, unless a test says otherwise; all that the sender sees is of the segment. */
    private static ExporterConfig config(final String role, final String more) {
        final String exchange = more.contains("mode:") ? more : more.replace("listen:", "mode: sketch, listen:");
        return new ConfigLoader().text("test",
            (more.contains("reconcile:") ? "" : NOT_RECONCILED) + "segment: {" + role + "interval: 10s" +
            (role.contains("source") ? "" : ", source: [0.0.0.0/0]") + "}\n" +
            "lds: {enabled: on, rows: 2, columns: 256, witnesses: 0.5, " + WEIGHTS + "}\n" +
            "metering: {max-flows: 1024}\njoint: {enabled: on}\n" + exchange).conclude();
    }

    private DelayWiring wiring(final Role role, final boolean isSketched) {
        return new DelayWiring(
            role, new DelayWiring.References(isPassive ? ReferenceMode.PASSIVE : ReferenceMode.NONE, List.of()), ClockError.NONE,
            isPassive, false, false, isSketched);
    }

    /** A counter of an end, without the statistics of its stage. */
    private static long count(final Agent end, final String label) {
        final long[] found = new long[1];
        ((SketchLink)end).counters((name, value) -> found[0] += name.equals(label) ? value : 0);
        return found[0];
    }

    private void await(final BooleanSupplier condition) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, () -> "not in time: " + sender.stage.statistics().counters() +
                receiver.stage.statistics().counters());
            work();
        }
    }

    private void work() {
        try {
            senderAgent.doWork();
            receiverAgent.doWork();
        } catch (final Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Whatever was shipped is with the receiver, and came back. Passive send times do not wait for more to go with them. */
    private void settle() {
        if (isPassive) {
            work();
            skippedNs += BATCH_NS;
        }
        await(() -> count(senderAgent, "intervals_answered") == sender.count("lds_intervals_shipped") &&
            count(senderAgent, "send_times_offered") == count(receiverAgent, "send_times_received"));
    }

    private void describe(final long number, final int observationPoint, final long timestampNs) {
        batch.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(batch, 0, timestampNs);
        PacketDescriptor.ipVersion(batch, 0, 4);
        PacketDescriptor.protocol(batch, 0, 17);
        PacketDescriptor.sourceLow(batch, 0, number % flowCount);
        final boolean isRemarked = observationPoint == 1 && remarkedOf > 0 && number % remarkedOf == 1;
        PacketDescriptor.ipClassOfService(batch, 0, number % flowCount % 2 == 0 || isRemarked ? 0 : dscp << 2);
        PacketDescriptor.sourcePort(batch, 0, 7);
        PacketDescriptor.destinationLow(batch, 0, 1);
        PacketDescriptor.segmentCount(batch, 0, 1);
        PacketDescriptor.ipLengthBytes(batch, 0, 500);
        PacketDescriptor.wireLengthBytes(batch, 0, 514);
        PacketDescriptor.observationPoint(batch, 0, observationPoint);
        PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(batch, 0, number * 0x9E37_79B9_7F4A_7C15L);
        PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, number % flowCount, 0, 1));
    }

    /** Delays differ by flow and go up; one packet of each interval is under way at its end, and some are lost. */
    private void pass(final long intervals, final Point both, final boolean isWorked) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            final long sentNs = START_NS + number * GAP_NS + GAP_NS - 1_000_000;
            final long arrivedNs = sentNs + 2_000_000 + number % FLOWS * 100_000 + number;
            describe(number, 0, sentNs);
            sender.agent.onDescriptors(batch, 0, 1);
            if (both != null) {
                both.packet(batch);
            }
            if (isWorked) {
                settle();
            }
            if (number % 997 != 0) {
                packets.add(new Packet(number % flowCount, arrivedNs, arrivedNs - sentNs));
                describe(number, 1, arrivedNs);
                receiver.packet(batch);
                if (both != null) {
                    both.packet(batch);
                }
            }
        }
    }

    @Test
    void shouldTellOfEachIntervalWhatOneProcessTells() {
        final Point both = new Point(config("role: both, ingress: a, egress: b, exact: off, ", ""), wiring(Role.BOTH, true));
        pass(12, both, true);
        // The packets in flight at the start of the first interval are unknown, so it reports no loss.
        final SketchStatistics first = receiver.intervals.remove(Collections.min(receiver.intervals.keySet()));
        assertNull(first.unexplainedLost());
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final SketchStatistics here = each.getValue();
            final SketchStatistics there = both.intervals.get(each.getKey());
            assertEquals(there.interval(), here.interval());
            assertEquals(there.usableCells(), here.usableCells());
            assertEquals(there.occupiedCells(), here.occupiedCells());
            assertEquals(there.unexplainedLost(), here.unexplainedLost());
            compared++;
        }
        assertTrue(receiver.count("lds_witnesses_exact") > 0, "of few flows many are witnesses");
        assertTrue(receiver.count("lds_witnesses") >= receiver.count("lds_witnesses_exact"));
        assertEquals(receiver.count("lds_witnesses"), sender.count("exchange_flow_sums_shipped"), FLOWS);
        assertEquals(0, receiver.count("lds_flow_sums_overflow"));
        assertTrue(compared >= 6, "intervals: " + receiver.intervals.keySet());
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** What is asked has been answered, and what follows from it has been asked. */
    private void settleRequests() {
        for (int i = 0; i < 4; i++) {
            work();
        }
        await(() -> count(receiverAgent, "synopsis_requests_sent") ==
            count(receiverAgent, "synopses_received") + count(senderAgent, "synopsis_requests_denied"));
    }

    /** Both points of one process, and two points with the exchange between them, list the same packets for as many octets. */
    @Test
    void shouldReconcileAsOneProcessDoes() throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(14, both);

        assertTrue(receiver.count("reconcile_complete") >= 6, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertTrue(receiver.count("reconcile_unanswered") <= 1, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("reconcile_lost") > 10, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("exchange_synopses_refused") + receiver.count("exchange_synopses_unverified"));
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final SketchStatistics there = both.intervals.get(each.getKey());
            final ReconcileStatistics here = each.getValue().reconcile();
            if (here != null && here.startNs() == each.getKey() && here.interval().get(0).lostPackets() != null) {
                assertEquals(there.reconcile().interval(), here.interval());
                assertEquals(there.reconcile().octets(), here.octets());
                assertEquals(each.getValue().occupiedCells(), each.getValue().usableCells());
                compared++;
            }
        }
        assertTrue(compared >= 5, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** Marks change on the way: packets and losses are the same as without, in the class in which the packets were sent. */
    @Test
    void shouldKnowRemarkedPacketsAgain() throws Exception {
        final String section = RECONCILE + "rli: {classes: [0, 46]}\n";
        dscp = 46;
        remarkedOf = 7;
        senderSection = section;
        reconnect(section, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", section), wiring(Role.BOTH, true));
        passReconciled(9, both);

        assertTrue(receiver.count("reconcile_complete") >= 4, receiver.stage.statistics()::toString);
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertTrue(receiver.count("reconcile_unexpected") <= 1, "of what was under way when the first interval began");
        assertTrue(receiver.count("reconcile_remarked") > 20, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("lds_intervals_remarked") > 0, "it is told of");
        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final ReconcileStatistics here = each.getValue().reconcile();
            if (here != null && here.startNs() == each.getKey() && here.interval().get(0).lostPackets() != null) {
                assertEquals(both.intervals.get(each.getKey()).reconcile().interval(), here.interval());
                for (int i = 0; i < 2; i++) {
                    assertEquals(lostOfClass(each.getKey(), i), here.interval().get(i).lostPackets(), here::toString);
                    assertEquals(PACKETS_PER_INTERVAL / 2 - lostOfClass(each.getKey(), i), here.interval().get(i).samples());
                }
                compared++;
            }
        }
        assertTrue(compared >= 3, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    private static long lostOfClass(final long startNs, final int classIndex) {
        final long first = (startNs - START_NS) / GAP_NS;
        return LongStream.range(first, first + PACKETS_PER_INTERVAL)
            .filter((number) -> number % 61 == 0 && number % FLOWS % 2 == classIndex).count();
    }

    /** Seven packets of a flow of which nothing arrives. */
    private void loseFlow(final Point both) {
        final long unseenNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            describe(1_000_000 + i, 0, unseenNs + i);
            PacketDescriptor.sourceLow(batch, 0, 99);
            PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, 99, 0, 1));
            sender.agent.onDescriptors(batch, 0, 1);
            if (both != null) {
                both.packet(batch);
            }
        }
    }

    /** A flow that only the sender point saw has a record where packets are reconciled: no packets, no delay, all of it lost. */
    @Test
    void shouldNameAFlowOfWhichNothingArrives() throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(4, both);
        loseFlow(both);
        passReconciled(5, both);

        for (final Point point : List.of(receiver, both)) {
            final List<UnsafeBuffer> unseen =
                point.records.stream().filter((each) -> FlowEntry.packetCount(each, 0) == 0).toList();
            assertEquals(1, unseen.size());
            final UnsafeBuffer record = unseen.get(0);
            assertEquals(99, FlowEntry.sourceLow(record, 0));
            assertEquals(7, FlowEntry.sourcePort(record, 0));
            assertEquals(17, FlowEntry.protocol(record, 0));
            assertEquals(7, lost(record));
            assertEquals(0, FlowDelay.estimator(record, FlowEntry.BASE_LENGTH_BYTES), "no delay");
            assertEquals(1, point.count("reconcile_flows_unseen"));
            assertEquals(0, point.count("reconcile_incomplete") + point.count("reconcile_keys_overflow"));
            assertTrue(point.stage.statistics().isAccountedFor(), () -> point.stage.statistics().toString());
        }
        assertEquals(0, receiver.count("exchange_synopses_unverified") + sender.count("exchange_synopsis_requests_excess"));
        assertEquals(0, sender.count("reconcile_keys_overflow"));
    }

    /**
     * The receiver's kernel joins packets of two flows, of one of them all. They are in no sketch there, so no loss of the flows
     * is known, and neither of them is one of which nothing arrives.
     */
    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldNotTellTheLossOfFlowsWithJoinedPackets(final String mode) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, ", mode: " + mode);
        final Point both =
            new Point(config("role: both, ingress: a, egress: b, exact: off, ", RECONCILE), wiring(Role.BOTH, true));
        passReconciled(4, both);
        final long joinedNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            for (int flow = 98; flow < 100; flow++) {
                joinable(flow, i, 0, joinedNs + i);
                sender.agent.onDescriptors(batch, 0, 1);
                both.packet(batch);
            }
        }
        for (int i = 0; i < 7; i += 3) {
            for (int flow = 98; flow < 100; flow++) {
                joinable(flow, i, 1, joinedNs + 2_000_000 + i);
                if (flow == 98 || i == 0) {
                    PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_OVERSIZE);
                }
                receiver.packet(batch);
                both.packet(batch);
            }
        }
        passReconciled(5, both);

        for (final Point point : List.of(receiver, both)) {
            assertEquals(0, point.records.stream().filter((each) -> FlowEntry.packetCount(each, 0) == 0).count());
            for (int flow = 98; flow < 100; flow++) {
                final int source = flow;
                final List<UnsafeBuffer> joined =
                    point.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) == source).toList();
                assertEquals(1, joined.size());
                assertFalse(FlowDelay.has(joined.get(0), FlowEntry.BASE_LENGTH_BYTES, FlowDelay.FLAG_LOSS), "flow " + flow);
            }
            assertTrue(point.stage.statistics().isAccountedFor(), () -> point.stage.statistics().toString());
        }
    }

    /** Three of seven packets are rewritten on the way: they may be lost, so the loss is no more than a bound. */
    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldBoundTheLossOfAFlowWithRewrittenPackets(final String mode) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, ", mode: " + mode);
        passReconciled(4, null);
        final long sentNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            joinable(99, i, 0, sentNs + i);
            sender.agent.onDescriptors(batch, 0, 1);
        }
        for (int i = 0; i < 7; i++) {
            joinable(99, i < 3 ? 100 + i : i, 1, sentNs + 2_000_000 + i);
            receiver.packet(batch);
        }
        passReconciled(5, null);

        final UnsafeBuffer record =
            receiver.records.stream().filter((each) -> FlowEntry.sourceLow(each, 0) == 99).findFirst().orElseThrow();
        assertEquals(FlowDelay.LOSS_UPPER_BOUND, FlowDelay.lossKind(record, FlowEntry.BASE_LENGTH_BYTES));
        assertEquals(3, FlowDelay.lostPackets(record, FlowEntry.BASE_LENGTH_BYTES));
    }

    private void joinable(final int flow, final int number, final int observationPoint, final long timestampNs) {
        describe(1_000_000 + 10 * flow + number, observationPoint, timestampNs);
        PacketDescriptor.sourceLow(batch, 0, flow);
        PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, flow, 0, 1));
    }

    /** Other sketches from a time on: every interval of both settings is reconciled, and the last lost flow has its name. */
    /** A longer wait for packets changes at both ends as other settings do. */
    @ParameterizedTest
    @ValueSource(strings = {"", "max-delay: 60ms, "})
    void shouldReconcileOnBothSidesOfAChange(final String segment) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        passReconciled(5, null);
        final long unanswered = receiver.count("reconcile_unanswered");
        final long fromNs = changeTo(newer(segment, RECONCILE, ""), true);
        passReconciled(4, null);
        loseFlow(null);
        passReconciled(5, null);

        assertFalse(receiver.stage.isChanging());
        int before = 0;
        int after = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            if (each.reconcile() != null && each.reconcile().startNs() == each.startNs()) {
                before += each.startNs() < fromNs ? 1 : 0;
                after += each.startNs() < fromNs ? 0 : 1;
            }
        }
        assertTrue(before >= 3 && after >= 3, "intervals: " + receiver.intervals.keySet());
        assertEquals(unanswered, receiver.count("reconcile_unanswered"));
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertEquals(receiver.count("reconcile_intervals"), receiver.count("reconcile_complete") + unanswered);
        assertEquals(1, receiver.count("reconcile_flows_unseen"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    @Test
    void shouldReconcileOverTls(@TempDir final Path directory) throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("point", "ip:127.0.0.1");
        tls = credentials.credentials("point", "point");
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        passReconciled(3, null);
        loseFlow(null);
        passReconciled(3, null);

        assertTrue(receiver.count("reconcile_complete") >= 2, receiver.stage.statistics()::toString);
        assertTrue(receiver.count("reconcile_lost") > 5, receiver.stage.statistics()::toString);
        assertEquals(1, receiver.count("reconcile_flows_unseen"));
        assertEquals(0, receiver.count("exchange_synopses_refused") + receiver.count("exchange_synopses_unverified"));
    }

    /** Settings of sketches that cannot be built are refused before the sender receives them. */
    @Test
    void shouldRefuseSettingsBeforeAnybodyIsTold() {
        final ExporterConfig newer = newer("", "", "");
        final ExporterConfig impossible = newer.with(newer.lds().withShape(16, 1 << 20));
        assertThrows(IllegalArgumentException.class, () -> receiver.stage.check(impossible));
        receiver.stage.check(newer("source: [0.0.0.0/29], ", "", ""));
        pass(1, null, true);
        assertEquals(1, sender.count("exchange_settings_held"));
    }

    /** A sender that remembers nothing says so, and intervals are compared as without. */
    @Test
    void shouldGoOnWhenTheSenderRemembersNothing() throws Exception {
        reconnect(RECONCILE, "");
        passReconciled(8, null);

        assertTrue(receiver.count("lds_intervals") >= 4, receiver.stage.statistics()::toString);
        assertEquals(receiver.count("reconcile_intervals"), receiver.count("reconcile_unanswered"));
        assertTrue(receiver.count("reconcile_unanswered") >= 4);
        assertEquals(0, receiver.count("reconcile_lost"));
    }

    /** As {@link #pass}, and one packet of 61 is lost. */
    private void passReconciled(final long intervals, final Point both) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            final long sentNs = START_NS + number * GAP_NS + GAP_NS - 1_000_000;
            describe(number, 0, sentNs);
            sender.agent.onDescriptors(batch, 0, 1);
            if (both != null) {
                both.packet(batch);
            }
            settle();
            if (number % 61 != 0) {
                describe(number, 1, sentNs + 2_000_000 + number % FLOWS * 100_000 + number);
                receiver.packet(batch);
                if (both != null) {
                    both.packet(batch);
                }
            }
            settleRequests();
        }
    }

    /**
     * A receiver's clock that lags or leads, drifts and jitters: packets just before and after the end of an interval count in
     * the interval in which they were sent, whatever is compared.
     */
    @ParameterizedTest
    @CsvSource({
        "-5000, cells", "-5000, flows", "-5000, reconcile", "-700, cells", "-700, flows", "-700, reconcile", "5000, cells",
        "5000, flows", "5000, reconcile"})
    void shouldTellLossesByClocksThatAreApart(final long offsetUs, final String kind) throws Exception {
        final String section = kind.equals("reconcile") ? RECONCILE : NOT_RECONCILED;
        senderSection = section;
        reconnect(section, kind.equals("flows") ? ", mode: flows" : "");
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final Map<Long, Long> lostByInterval = new HashMap<>();
        final Map<Long, Set<Long>> lossyFlows = new HashMap<>();
        long receivedNs = 0;
        // How many packets it took to connect depends on the machine, and must not move the clock.
        final long begin = packetNumber;
        for (long i = 0; i < 9 * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            // The packets of an interval are sent in its first and its last 10 ms.
            final long placeNs = number % PACKETS_PER_INTERVAL * 100_000;
            final long sentNs = START_NS + number / PACKETS_PER_INTERVAL * INTERVAL_NS +
                (placeNs < 10_000_000 ? placeNs : INTERVAL_NS - 20_000_000 + placeNs);
            final boolean isLost = random.nextInt(50) == 0;
            describe(number, 0, sentNs);
            sender.agent.onDescriptors(batch, 0, 1);
            settle();
            if (isLost) {
                final long startNs = Math.floorDiv(sentNs, INTERVAL_NS) * INTERVAL_NS;
                lostByInterval.merge(startNs, 1L, Long::sum);
                lossyFlows.computeIfAbsent(startNs, (each) -> new HashSet<>()).add(number % flowCount);
            } else {
                receivedNs = Math.max(receivedNs + 1,
                    sentNs + 150_000 + offsetUs * 1000 + driftNs(number - begin) + random.nextInt(100_000));
                describe(number, 1, receivedNs);
                receiver.packet(batch);
            }
            settleRequests();
        }

        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final Long told = each.getValue().interval().get(0).lostPackets();
            if (told != null) {
                assertEquals(lostByInterval.getOrDefault(each.getKey(), 0L), told, "seed " + seed);
                compared++;
            }
        }
        assertTrue(compared >= 4 || kind.equals("flows"), "intervals: " + compared + ", seed " + seed);
        assertEquals(0, receiver.count("lds_clocks_apart"), "seed " + seed);
        // What was sent around the start of the first interval is unknown; it reports no loss.
        assertTrue(receiver.count("lds_flows_different") <= (offsetUs > 0 ? FLOWS : 0), "seed " + seed);
        if (kind.equals("flows")) {
            final long first = Collections.min(receiver.intervals.keySet());
            final long last = Collections.max(receiver.intervals.keySet());
            final long least = lossyFlows.entrySet().stream().filter((each) -> each.getKey() > first && each.getKey() <= last)
                .mapToLong((each) -> each.getValue().size()).sum();
            final long told = receiver.count("lds_flows_with_loss");
            assertTrue(
                least > 0 && told >= least && told <= least + FLOWS + lossyFlows.getOrDefault(first, Set.of()).size(),
                told + " of " + least + ", " + receiver.intervals.keySet() + ", seed " + seed);
        }
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first, seed " + seed);
        assertEquals(offsetUs < 0, receiver.count("lds_booked_later") > 0, "seed " + seed);
        if (kind.equals("reconcile")) {
            assertTrue(receiver.count("reconcile_complete") >= 4, receiver.stage.statistics()::toString);
            assertTrue(receiver.count("reconcile_unexpected") <= (offsetUs > 0 ? 60 : 0), "seed " + seed);
        }
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    /** Two in a million. */
    private static long driftNs(final long packets) {
        return packets * (INTERVAL_NS / PACKETS_PER_INTERVAL) / 500_000;
    }

    /** Mean of the packets of a record, by what the test sent. */
    private double meanNs(final UnsafeBuffer record) {
        return packets.stream().filter((each) -> each.flow == FlowEntry.sourceLow(record, 0) &&
            each.arrivedNs >= FlowEntry.startNs(record, 0) && each.arrivedNs <= FlowEntry.endNs(record, 0))
            .mapToLong(Packet::delayNs).average().orElseThrow();
    }

    private static long lost(final UnsafeBuffer record) {
        assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, FlowEntry.BASE_LENGTH_BYTES));
        return FlowDelay.lostPackets(record, FlowEntry.BASE_LENGTH_BYTES);
    }

    @Test
    void shouldKnowEveryFlowByItsSumsAndThoseThatNeverArrived() throws Exception {
        reconnect("", ", mode: flows");
        pass(6, null, true);
        final long unseenNs = START_NS + packetNumber * GAP_NS;
        for (int i = 0; i < 7; i++) {
            describe(1_000_000 + i, 0, unseenNs + i);
            PacketDescriptor.sourceLow(batch, 0, 99);
            PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, 99, 0, 1));
            sender.agent.onDescriptors(batch, 0, 1);
        }
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals_of_flows") >= 6);
        assertEquals(receiver.count("lds_intervals"), receiver.count("lds_intervals_of_flows"));
        assertEquals(receiver.count("lds_flows_unseen"), 1);
        assertTrue(receiver.count("lds_flows_different") <= 1, "what was under way when the sender began");
        int exact = 0;
        long lost = 0;
        final List<UnsafeBuffer> unseen = new ArrayList<>();
        for (final UnsafeBuffer record : receiver.records) {
            final int offset = FlowEntry.BASE_LENGTH_BYTES;
            if (FlowEntry.packetCount(record, 0) == 0) {
                unseen.add(record);
                assertEquals(0, FlowDelay.estimator(record, offset), "no delay");
            } else if (FlowDelay.has(record, offset, FlowDelay.FLAG_LOSS)) {
                lost += lost(record);
            }
            assertNotEquals(FlowDelay.ESTIMATOR_SKETCH, FlowDelay.estimator(record, offset), "no cells");
            if (FlowDelay.estimator(record, offset) != 0) {
                assertTrue(FlowDelay.has(record, offset, FlowDelay.FLAG_ERROR_BOUND), "no sums go without a bound");
                assertTrue(Math.abs(FlowDelay.meanNs(record, offset) - meanNs(record)) <=
                    FlowDelay.errorBoundNs(record, offset));
            }
            if (FlowDelay.has(record, offset, FlowDelay.FLAG_ERROR_BOUND) && FlowDelay.errorBoundNs(record, offset) <= 1) {
                assertEquals(FlowEntry.packetCount(record, 0), FlowDelay.meanPackets(record, offset));
                assertEquals(FlowDelay.ESTIMATOR_FLOW_SUMS, FlowDelay.estimator(record, offset));
                assertEquals(meanNs(record), FlowSketch.meanNs(record, FlowDelay.sketchOffset(offset)), 0.5001);
                assertEquals(1, FlowDelay.errorBoundNs(record, offset), "what the timestamps are good for");
                assertEquals(0, lost(record));
                exact++;
            }
        }
        assertTrue(exact > 2 * FLOWS, "exact means: " + exact);
        assertEquals(1, unseen.size());
        assertEquals(99, FlowEntry.sourceLow(unseen.get(0), 0));
        assertEquals(7, lost(unseen.get(0)));
        assertEquals(receiver.count("lds_flows_with_loss"), lost, "each lost packet is of another flow and interval");
        assertTrue(lost > 0);
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertEquals(0, AccountingIdentity.unexplainedRecords(receiver.counters) - receiver.records.size(),
            "no sink counts what it takes here");
    }

    @Test
    void shouldTakeSumsWhileTheyFitAndSketchesWhileTheyDoNot() throws Exception {
        reconnect("", ", mode: auto, bandwidth: 8k");
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals_of_flows") >= 3);
        assertEquals(0, sender.count("exchange_mode_changes"));
        flowCount = 199;
        pass(6, null, true);
        assertEquals(1, sender.count("exchange_mode_changes"));
        assertTrue(sender.count("exchange_flow_sums_overflow") > 0);
        final long ofFlows = receiver.count("lds_intervals_of_flows");
        assertTrue(receiver.count("lds_intervals") >= ofFlows + 3);
        flowCount = FLOWS;
        pass(8, null, true);
        assertEquals(2, sender.count("exchange_mode_changes"), "and back");
        assertTrue(receiver.count("lds_intervals_of_flows") >= ofFlows + 2);
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldInterpolateBetweenPacketsOfTheTrafficAsOneProcessDoes() throws Exception {
        isPassive = true;
        final String rli = "rli: {policy: passive, passive-share: 0.3}\n";
        reconnect(rli, "");
        final Point both = new Point(
            config("role: both, ingress: a, egress: b, exact: off, ", rli), wiring(Role.BOTH, true));
        pass(8, both, true);
        assertEquals(sender.count("exchange_send_times_offered"), receiver.count("send_times_used"));
        assertEquals(0, receiver.count("send_times_unused"));
        assertEquals(0, receiver.count("rli_references_lost") + receiver.count("passive_refused"));
        assertTrue(receiver.count("passive_matched") > 0.2 * packetNumber - 100);
        assertTrue(receiver.count("rli_estimated") > 0.6 * packetNumber);
        int compared = 0;
        for (final UnsafeBuffer record : receiver.records) {
            final int offset = FlowEntry.BASE_LENGTH_BYTES;
            final UnsafeBuffer twin = both.records.stream().filter((each) ->
                FlowEntry.sourceLow(each, 0) == FlowEntry.sourceLow(record, 0) &&
                FlowEntry.startNs(each, 0) == FlowEntry.startNs(record, 0)).findFirst().orElse(null);
            if (twin != null && DelayCounters.count(twin, offset) == DelayCounters.count(record, offset) &&
                DelayCounters.count(twin, offset) > 0) {
                assertEquals(DelayCounters.sumNs(twin, offset), DelayCounters.sumNs(record, offset));
                compared++;
            }
        }
        assertTrue(compared > FLOWS, "records compared: " + compared + " of " + receiver.records.size());
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldSettleAReferenceByTheSendTimeThatTheExchangeBrings() {
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, false, false, true).withLink((SketchLink)receiverAgent);
        final Point point =
            new Point(config("role: receiver, ", "exchange: {deadline: 20s, listen: " + port + "}\n"), wiring);
        for (int number = 0; number < 2; number++) {
            describe(number, 1, START_NS + number * 1_000_000);
            DecodedReference.encode(batch, 0, 0, number, START_NS - 700_000 + number * 1_000_000);
            point.packet(batch);
            describe(10 + number, 1, START_NS + 500_000 + number * 1_000_000);
            point.packet(batch);
        }
        assertEquals(2, point.count("rli_references_waiting"));
        final SenderLink link = (SenderLink)senderAgent;
        link.shipSendTime(0, 0, START_NS - 400_000, 2);
        link.shipSendTime(0, 1, START_NS + 600_000, 2);
        link.shipSendTime(9, 1, START_NS, 2);
        await(() -> receiver.count("exchange_send_times_received") == 3);
        describe(20, 1, START_NS + 1_600_000);
        point.packet(batch);
        assertEquals(2, point.count("send_times_used"));
        assertEquals(1, point.count("send_times_unused"), "no such stream");
        assertEquals(2, point.count("rli_references_by_follow_up"));
        assertEquals(1, point.count("rli_estimated"), "between the two, without a later reference");
    }

    @Test
    void shouldTellNoLossWhereTheSenderDropped() {
        pass(5, null, true);
        final long beforeNs = START_NS + packetNumber * GAP_NS;
        sender.counters.increment(CounterId.DROPPED_AT_PACKET_RING);
        pass(5, null, true);
        assertTrue(receiver.count("lds_intervals_damaged") > 0);
        assertTrue(receiver.count("lds_intervals") > receiver.count("lds_intervals_damaged"), "it heals");
        assertNull(receiver.intervals.get(beforeNs).unexplainedLost());
        assertFalse(receiver.intervals.get(beforeNs).interval().isEmpty());
    }

    @Test
    void shouldGoOnAfterTheSenderWasSilent() {
        pass(5, null, true);
        final long compared = receiver.count("lds_intervals");
        pass(6, null, false);
        assertTrue(receiver.count("lds_intervals_unanswered") >= 3, "deadlines go by");
        settle();
        pass(6, null, true);
        assertTrue(receiver.count("lds_intervals") >= compared + 4, "it goes on");
        assertEquals(0, receiver.count("lds_intervals_refused"));
    }

    /** Live, as many packets as fill some intervals; the clocks of the points are ahead, or not. */
    private void passLive(final long intervals, final long senderAheadNs, final long receiverAheadNs) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            final long sentNs = START_NS + number * GAP_NS;
            describe(number, 0, sentNs + senderAheadNs);
            sender.advance(batch);
            sender.agent.onDescriptors(batch, 0, 1);
            settle();
            describe(number, 1, sentNs + 2_000_000 + receiverAheadNs);
            receiver.advance(batch);
            receiver.packet(batch);
        }
    }

    /** One clock or both were ahead, from the start or later, and are set right. */
    @ParameterizedTest
    @CsvSource({"0, 0, 3600", "0, 3600, 0", "0, 3600, 3600", "5, 0, 3600", "5, 3600, 0", "5, 3600, 3600", "5, 25, 25", "5, 0, 9"})
    void shouldGoOnWhenAClockIsSetBack(final int before, final long senderAheadS, final long receiverAheadS) throws Exception {
        isLive = true;
        reconnect("", "");
        passLive(before, 0, 0);
        passLive(6, TimeUnit.SECONDS.toNanos(senderAheadS), TimeUnit.SECONDS.toNanos(receiverAheadS));
        final long setNs = START_NS + packetNumber * GAP_NS;
        receiver.intervals.clear();
        passLive(10, 0, 0);
        int told = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            if (each.startNs() > setNs && each.startNs() < START_NS + 1000 * INTERVAL_NS) {
                assertEquals(2_000_000, each.interval().get(0).meanNs(), 1);
                assertEquals(PACKETS_PER_INTERVAL, each.interval().get(0).samples());
                told++;
            }
        }
        assertTrue(told >= 5, () -> "intervals from " + setNs + " on: " + receiver.intervals.keySet());
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    @Test
    void shouldGoOnWithAnotherRunOfTheSender() throws Exception {
        pass(5, null, true);
        final long compared = receiver.count("lds_intervals");
        closeSender();
        connectSender();
        pass(8, null, true);
        assertTrue(receiver.count("lds_intervals") >= compared + 4, "it goes on");
        assertTrue(receiver.count("lds_intervals_unanswered") > 0, "nobody made up what is missing");
        assertEquals(0, receiver.count("lds_intervals_refused"));
    }

    private ExporterConfig newer(final String segment, final String section, final String exchange) {
        return config("role: receiver, " + segment, section + "exchange: {deadline: 20s, listen: " + port + exchange + "}\n");
    }

    /** {@return when other settings hold, which both ends know by then} */
    private long changeTo(final ExporterConfig newer, final boolean isSameWay) {
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, INTERVAL_NS, START_NS + packetNumber * GAP_NS);
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        receiver.stage.change(new SketchChange(newer, fromNs, end.change(newer, fromNs), isSameWay));
        await(() -> sender.count("exchange_settings_held") == 2);
        return fromNs;
    }

    private static List<Integer> dscps(final List<AggregateDelay> aggregates) {
        return aggregates.stream().map(AggregateDelay::dscp).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldTellEachClassAndChangeClassesAtBothEndsAtOnce(final String mode) throws Exception {
        dscp = 46;
        reconnect("rli: {classes: [0, 46]}\n", ", mode: " + mode);
        pass(6, null, true);
        final long fromNs = changeTo(newer("", "rli: {classes: [0, 12]}\n", ", mode: " + mode), true);
        pass(10, null, true);
        assertFalse(receiver.stage.isChanging());
        int before = 0;
        int after = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            final List<AggregateDelay> classes = each.interval();
            if (each.startNs() < fromNs) {
                assertEquals(List.of(0, 46), dscps(classes));
                assertEquals(classes.get(0).samples(), classes.get(1).samples(), PACKETS_PER_INTERVAL / 4.0);
                assertTrue(classes.get(1).samples() > 0);
                before++;
            } else {
                assertEquals(List.of(0, 12), dscps(classes), "marks that no class has are of the first");
                assertEquals(0, classes.get(1).samples());
                assertTrue(classes.get(0).samples() > PACKETS_PER_INTERVAL / 4, classes::toString);
                after++;
            }
        }
        assertTrue(before >= 3 && after >= 4, "intervals: " + receiver.intervals.keySet());
        final SketchStatistics last = receiver.intervals.get(Collections.max(receiver.intervals.keySet()));
        assertEquals(List.of(0, 12), dscps(last.total()));
        assertEquals(0, receiver.count("exchange_intervals_refused") + receiver.count("lds_intervals_refused"));
        assertEquals(0, receiver.count("lds_intervals_remarked"), "marks do not change on the way");
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first of all");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldSelectOtherPacketsAtBothEndsAtOnce() {
        pass(6, null, true);
        final long refusedBefore = receiver.count("exchange_intervals_refused");
        final long fromNs = changeTo(newer("source: [0.0.0.0/29], ", "", ""), false);
        pass(10, null, true);
        assertFalse(receiver.stage.isChanging());
        int selected = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            final long packets = each.interval().get(0).samples();
            if (each.startNs() == fromNs || each.startNs() == fromNs - INTERVAL_NS) {
                assertNull(each.unexplainedLost(), "nobody knows which packets under way belong where");
            } else if (each.startNs() > fromNs) {
                assertTrue(packets <= PACKETS_PER_INTERVAL / 2 + FLOWS, "packets of half of the flows: " + packets);
                assertTrue(packets > 0);
                assertNotNull(each.unexplainedLost(), "the loss is known");
                selected++;
            }
        }
        assertTrue(selected >= 3, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.counters.get(CounterId.OUTSIDE_SEGMENT) >= 3 * PACKETS_PER_INTERVAL);
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(refusedBefore, receiver.count("exchange_intervals_refused"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** What SIGHUP does at a receiver: other sketches, weights and intervals of another length, at both ends at the same time. */
    @Test
    void shouldChangeOverAtBothEndsAtOnce() {
        pass(5, null, true);
        final long unanswered = receiver.count("lds_intervals_unanswered");
        final long nowNs = START_NS + packetNumber * GAP_NS;
        final long lengthNs = INTERVAL_NS / 2;
        final ExporterConfig newer = new ConfigLoader().text("test",
            NOT_RECONCILED + "segment: {role: receiver, interval: 5s, source: [0.0.0.0/0]}\n" +
            "lds: {enabled: on, rows: 3, columns: 512, " +
            "weights: [\"src=0.0.0.4 weight=50\"]}\nmetering: {max-flows: 1024}\n" +
            "exchange: {deadline: 20s, mode: sketch, listen: " + port + "}\n").conclude();
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, lengthNs, nowNs);
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        receiver.stage.change(new SketchChange(newer, fromNs, end.change(newer, fromNs), true));
        assertTrue(receiver.stage.isChanging());
        await(() -> sender.count("exchange_settings_held") == 2);
        pass(12, null, true);
        assertFalse(receiver.stage.isChanging());
        final SketchStatistics last = receiver.intervals.get(Collections.max(receiver.intervals.keySet()));
        assertEquals(lengthNs, last.endNs() - last.startNs());
        assertTrue(last.geometry().startsWith("3 rows of 512 cells"), last.geometry());
        for (final SketchStatistics each : receiver.intervals.values()) {
            assertEquals(each.startNs() < fromNs ? INTERVAL_NS : lengthNs, each.endNs() - each.startNs());
        }
        final long firstNs = Collections.min(receiver.intervals.keySet());
        assertEquals((fromNs - firstNs) / INTERVAL_NS + (last.endNs() - fromNs) / lengthNs, receiver.count("lds_intervals"),
            "every interval of both lengths was compared");
        assertEquals(0, receiver.count("exchange_intervals_refused"));
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(unanswered, receiver.count("lds_intervals_unanswered"), "before the sender had begun");
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first of all");
        assertEquals(0, receiver.count("lds_received_late"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }
}
