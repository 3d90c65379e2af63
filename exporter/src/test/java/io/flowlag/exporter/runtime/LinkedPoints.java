package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.ExchangeSender;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.run.SegmentChange;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two metering stages joined by the exchange in memory, worked step by step, with time that is the packets'. */
@Tag("slow")
abstract class LinkedPoints {
    static final long INTERVAL_NS = MeteringPoint.INTERVAL_NS;
    static final long START_NS = 170_000_000L * INTERVAL_NS;
    static final long GAP_NS = 50_000_000L;
    static final long PACKETS_PER_INTERVAL = INTERVAL_NS / GAP_NS;
    static final int FLOWS = 16;
    static final int PORT = 8621;
    static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(2);
    /** How long a send time waits for others at most. */
    static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(20);
    static final String NOT_RECONCILED = "reconcile: {enabled: off}\n";
    static final String RECONCILE = "reconcile: {enabled: on, packets: 1k, cells: 1k, wait: 5s}\n";
    static final String WEIGHTS = "weights: [\"src=0.0.0.3 port=7-9 weight=5\"]";

    final UnsafeBuffer batch = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    final List<AutoCloseable> toClose = new ArrayList<>();
    /** Of both ends. It stands still, but for what a test lets go by. */
    final CachedNanoClock timer = new CachedNanoClock();
    final MemoryNetwork network = new MemoryNetwork(timer);
    SegmentFlowHash flowHash;
    Agent receiverAgent;
    Agent senderAgent;
    Point receiver;
    Point sender;
    long packetNumber;
    int flowCount = FLOWS;
    boolean isPassive;
    boolean isLive;
    String senderSection = NOT_RECONCILED;
    TlsCredentials tls;
    /** Of every other flow. */
    int dscp;
    /** One packet of so many has another mark at the receiver; 0 for none. */
    int remarkedOf;
    final List<Packet> packets = new ArrayList<>();

    /** A packet that arrives. */
    record Packet(long flow, long arrivedNs, long delayNs) {
    }

    /** A metering stage and what it told of intervals. */
    static final class Point extends MeteringPoint {
        final Map<Long, SketchStatistics> intervals = new HashMap<>();

        Point(final ExporterConfig config, final DelayWiring wiring) {
            super(config, wiring);
        }

        Point(final ExporterConfig config, final DelayWiring wiring, final boolean isLive) {
            super(config, wiring, isLive);
        }

        /** The clock shows the packet's time, and everything from before has come. */
        void advance(final UnsafeBuffer descriptor) {
            nowNs = PacketDescriptor.timestampNs(descriptor, 0);
            agent.onCaptured(nowNs);
            agent.doWork();
        }

        void packet(final UnsafeBuffer descriptor) {
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
        connect("", "");
    }

    void connect(final String section, final String exchange) throws IOException {
        final ExporterConfig config = config(
            "role: receiver, ", section + "exchange: {deadline: 20s, listen: " + PORT + exchange + "}\n");
        final ExchangeReceiver receiverEnd = network.receiver(config, new PeerSecurity(tls, null, List.of(), List.of()));
        toClose.add(receiverEnd);
        receiverAgent = receiverEnd;
        flowHash = new SegmentFlowHash(receiverEnd.hash());
        receiver = new Point(config, wiring(Role.RECEIVER, true).withLink(receiverEnd), isLive);
        toClose.add(receiver.stage);
        connectSender();
    }

    void reconnect(final String section, final String exchange) throws Exception {
        close();
        toClose.clear();
        connect(section, exchange);
    }

    void connectSender() {
        final ExporterConfig config = new ConfigLoader().text("test",
            senderSection + "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:" + PORT + "\"}\n").conclude();
        final ExchangeSender senderEnd =
            network.sender(config, new PeerSecurity(tls, null, List.of(), List.of()), () -> START_NS, ClockError.NONE);
        toClose.add(senderEnd);
        senderAgent = senderEnd;
        sender = new Point(config, wiring(Role.SENDER, false).withLink(senderEnd), isLive);
        toClose.add(sender.stage);
        await(() -> count(senderEnd, "settings_held") > 0);
    }

    void closeSender() throws Exception {
        final AutoCloseable end = (AutoCloseable)senderAgent;
        senderAgent = receiverAgent;
        network.close(end, this::work);
    }

    @AfterEach
    void close() {
        network.close(toClose);
    }

    /** Sketches, and nothing reconciled, unless a test says otherwise; all that the sender sees is of the segment. */
    static ExporterConfig config(final String role, final String more) {
        final String exchange = more.contains("mode:") ? more : more.replace("listen:", "mode: sketch, listen:");
        return new ConfigLoader().text("test",
            (more.contains("reconcile:") ? "" : NOT_RECONCILED) + "segment: {" + role + "interval: 10s" +
            (role.contains("source") ? "" : ", source: [0.0.0.0/0]") + "}\n" +
            "lds: {enabled: on, rows: 2, columns: 256, witnesses: 0.5, " + WEIGHTS + "}\n" +
            "metering: {max-flows: 1024}\njoint: {enabled: on}\n" + exchange).conclude();
    }

    DelayWiring wiring(final Role role, final boolean isSketched) {
        return new DelayWiring(
            role, new DelayWiring.References(isPassive ? ReferenceMode.PASSIVE : ReferenceMode.NONE, List.of()), ClockError.NONE,
            isPassive, false, false, isSketched);
    }

    /** A counter of an end, without the statistics of its stage. */
    static long count(final Agent end, final String label) {
        final long[] found = new long[1];
        ((SketchLink)end).counters((name, value) -> found[0] += name.equals(label) ? value : 0);
        return found[0];
    }

    void await(final BooleanSupplier condition) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, () -> "not in time: " + sender.stage.statistics().counters() +
                receiver.stage.statistics().counters());
            work();
        }
    }

    /** A duty cycle of both ends; returns a count of what there was to do. */
    int work() {
        try {
            return senderAgent.doWork() + receiverAgent.doWork();
        } catch (final Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** Works until there is nothing to do. Returns whether there was anything: counters are the same as before otherwise. */
    private boolean workToEnd() {
        boolean isAny = false;
        while (work() > 0) {
            isAny = true;
        }
        return isAny;
    }

    /** Whatever was shipped is with the receiver, and came back. Passive send times do not wait for more to go with them. */
    void settle() {
        if (isPassive) {
            work();
            timer.advance(BATCH_NS);
        }
        if (workToEnd()) {
            await(() -> count(senderAgent, "intervals_answered") == sender.count("lds_intervals_shipped") &&
                count(senderAgent, "send_times_offered") == count(receiverAgent, "send_times_received"));
        }
    }

    void describe(final long number, final int observationPoint, final long timestampNs) {
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
    void pass(final long intervals, final Point both, final boolean isWorked) {
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

    /** What is asked has been answered, and what follows from it has been asked. */
    void settleRequests() {
        if (workToEnd()) {
            await(() -> count(receiverAgent, "synopsis_requests_sent") ==
                count(receiverAgent, "synopses_received") + count(senderAgent, "synopsis_requests_denied"));
        }
    }

    /** Seven packets of a flow of which nothing arrives. */
    void loseFlow(final Point both) {
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

    void joinable(final int flow, final int number, final int observationPoint, final long timestampNs) {
        describe(1_000_000 + 10 * flow + number, observationPoint, timestampNs);
        PacketDescriptor.sourceLow(batch, 0, flow);
        PacketDescriptor.segmentFlowHash(batch, 0, flowHash.flow(4, 17, 7, 0).hash(0, flow, 0, 1));
    }

    /** As {@link #pass}, and one packet of 61 is lost. */
    void passReconciled(final long intervals, final Point both) {
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

    /** Mean of the packets of a record, by what the test sent. */
    double meanNs(final UnsafeBuffer record) {
        return packets.stream().filter((each) -> each.flow == FlowEntry.sourceLow(record, 0) &&
            each.arrivedNs >= FlowEntry.startNs(record, 0) && each.arrivedNs <= FlowEntry.endNs(record, 0))
            .mapToLong(Packet::delayNs).average().orElseThrow();
    }

    static long lost(final UnsafeBuffer record) {
        assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(record, FlowEntry.BASE_LENGTH_BYTES));
        return FlowDelay.lostPackets(record, FlowEntry.BASE_LENGTH_BYTES);
    }

    ExporterConfig newer(final String segment, final String section, final String exchange) {
        return config("role: receiver, " + segment, section + "exchange: {deadline: 20s, listen: " + PORT + exchange + "}\n");
    }

    /** {@return when other settings hold, which both ends know by then} */
    long changeTo(final ExporterConfig newer, final boolean isSameWay) {
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, INTERVAL_NS, START_NS + packetNumber * GAP_NS);
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        receiver.stage.change(new SketchChange(newer, fromNs, end.change(newer, fromNs), isSameWay));
        await(() -> sender.count("exchange_settings_held") == 2);
        return fromNs;
    }
}
