package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.CountingTransmitter;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.ExchangeSender;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.link.PeerSecurity;
import io.flowlag.exporter.runtime.run.SegmentChange;
import org.agrona.CloseHelper;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A sender injects references as its receiver says, from the interval on in which that holds, over an exchange in memory. */
class HandedOutPolicyTest {
    private static final PeerSecurity PLAIN = new PeerSecurity(null, null, List.of(), List.of());
    private static final long INTERVAL_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long START_NS = 1_700_000_000L * INTERVAL_NS;
    private static final long GAP_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int PACKETS_PER_INTERVAL = (int)(INTERVAL_NS / GAP_NS);
    private static final int OWN_N = 50;
    private static final String OWN_GAP = "max-gap: 100ms";
    private static final int PORT = 8621;
    /** The sender begins with the second interval after it has heard. */
    private static final int UNTIL_IT_HOLDS = 2;
    private static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(2);

    private final UnsafeBuffer batch = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final CountingTransmitter transmitter = new CountingTransmitter();
    private final MemoryNetwork network = new MemoryNetwork(new CachedNanoClock());
    private ExchangeReceiver receiver;
    private ExchangeSender link;
    private MeteringPoint sender;
    private long packetNumber;

    @AfterEach
    void close() {
        network.close(List.of(link, receiver));
        CloseHelper.close(sender.stage);
    }

    private ExporterConfig receiverConfig(final String rli) {
        return new ConfigLoader().text("test", "segment: {role: receiver, interval: 1s}\nlds: {enabled: on, columns: 256}\n" +
            "metering: {max-flows: 1024}\nreconcile: {enabled: off}\n" +
            "exchange: {mode: sketch, listen: " + PORT + "}\nrli: {" + rli + "}\n").conclude();
    }

    private void connect(final String receiverRli, final String senderRli) throws IOException {
        receiver = network.receiver(receiverConfig(receiverRli), PLAIN);
        final ExporterConfig config = new ConfigLoader().text("test", "segment: {role: sender}\n" +
            "reconcile: {enabled: off}\nmetering: {max-flows: 1024}\n" +
            "exchange: {connect: \"127.0.0.1:" + PORT + "\"}\n" +
            "rli: {target: 127.0.0.1, every-n: " + OWN_N + ", " + senderRli + "}\n").conclude();
        link = network.sender(config, PLAIN, () -> START_NS, ClockError.NONE);
        sender = new MeteringPoint(config, new DelayWiring(
            Role.SENDER, new DelayWiring.References(ReferenceMode.SENT, ReferenceSessions.of(config.rli()), transmitter),
            ClockError.NONE, true, false, false, false).withLink(link), true);
        await(() -> sender.count("exchange_settings_held") > 0);
    }

    private void await(final BooleanSupplier condition) {
        final long endNs = System.nanoTime() + DEADLINE_NS;
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - endNs < 0, () -> "not in time: " + sender.statistics().counters());
            link.doWork();
            receiver.doWork();
        }
    }

    /** {@return references that were sent while packets of some whole intervals passed the sender point} */
    private int pass(final int intervals) {
        final int before = transmitter.sentCount();
        for (int i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            sender.nowNs = START_NS + packetNumber++ * GAP_NS;
            batch.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
            PacketDescriptor.timestampNs(batch, 0, sender.nowNs);
            PacketDescriptor.ipVersion(batch, 0, 4);
            PacketDescriptor.protocol(batch, 0, 17);
            PacketDescriptor.segmentCount(batch, 0, 1);
            PacketDescriptor.ipLengthBytes(batch, 0, 500);
            PacketDescriptor.wireLengthBytes(batch, 0, 514);
            PacketDescriptor.flags(batch, 0, PacketDescriptor.FLAG_DIGEST);
            PacketDescriptor.digest(batch, 0, packetNumber * 0x9E37_79B9_7F4A_7C15L);
            sender.agent.onCaptured(sender.nowNs);
            sender.agent.doWork();
            sender.agent.onDescriptors(batch, 0, 1);
            link.doWork();
        }
        return transmitter.sentCount() - before;
    }

    private static void assertOneIn(final int packets, final int sentCount, final int intervals) {
        assertEquals(intervals * PACKETS_PER_INTERVAL / (double)packets, sentCount, 2);
    }

    private String policy() {
        return sender.stage.segment().policy();
    }

    @Test
    void shouldSendReferencesAsTheReceiverSays() throws Exception {
        connect("policy: every-n, every-n: 10, max-gap: 100ms", OWN_GAP);
        assertOneIn(OWN_N, pass(UNTIL_IT_HOLDS), UNTIL_IT_HOLDS);
        assertOneIn(10, pass(3), 3);
        assertEquals("every-n", policy());
    }

    @Test
    void shouldSendReferencesAsTheReceiverSaysLater() throws Exception {
        connect("every-n: 10, max-gap: 100ms", OWN_GAP);
        pass(UNTIL_IT_HOLDS + 1);
        final ExporterConfig newer = receiverConfig("policy: every-interval, every-interval: 20ms, max-gap: 100ms");
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, INTERVAL_NS, sender.nowNs);
        receiver.change(newer, fromNs);
        await(() -> sender.count("exchange_settings_held") == 2);
        final int intervals = (int)((fromNs - sender.nowNs) / INTERVAL_NS);
        assertOneIn(10, pass(intervals), intervals);
        assertOneIn(20, pass(3), 3);
        assertEquals("every-interval", policy());
    }

    @Test
    void shouldSendReferencesByItsOwnPolicyWhereTheReceiverSaysNothing() throws Exception {
        connect("", OWN_GAP);
        assertOneIn(OWN_N, pass(5), 5);
        pass(UNTIL_IT_HOLDS);
        assertEquals(0, sender.count("exchange_settings_unusable"));
    }

    @Test
    void shouldSendNoReferencesWherePacketsStandInForThem() throws Exception {
        connect("policy: passive", OWN_GAP);
        assertOneIn(OWN_N, pass(UNTIL_IT_HOLDS), UNTIL_IT_HOLDS);
        assertEquals(0, pass(3), 1);
        assertEquals("passive", policy());
    }

    /** The receiver's adaptive policy; 514 octets each millisecond are 4.1 Mbit/s. */
    @ParameterizedTest
    @CsvSource({"4112k, '', 300", "41120k, '', 10", "4112k, 'capacity: 41120k', 10"})
    void shouldKnowItsOwnQueueBetterThanTheReceiver(final String capacity, final String own, final int oneIn) throws Exception {
        connect("policy: adaptive, capacity: " + capacity + ", ceiling: 1m, max-gap: 900ms", own);
        pass(UNTIL_IT_HOLDS + 2);
        assertOneIn(oneIn, pass(5), 5);
        assertEquals("adaptive", policy());
    }

    /** A share of the receiver's capacity: one reference of 106 octets and more in each 21 ms at 4112k. */
    @Test
    void shouldKeepToTheCeilingOfTheReceiversCapacity() throws Exception {
        connect("policy: every-n, every-n: 5, capacity: 4112k", "capacity: 1g");
        pass(UNTIL_IT_HOLDS + 2);
        final int sent = pass(5);
        assertTrue(sent > 200 && sent < 300, sent + " references");
        assertTrue(sender.count("references_held_by_ceiling") > sent / 2, sender.statistics()::toString);
        assertTrue(sender.stage.isCeilingTooLow());
    }

    /** A reload at the sender changes what is its own affair, and nothing that the receiver says. */
    @Test
    void shouldKeepToTheReceiverOverAReload() throws Exception {
        connect("policy: adaptive, capacity: 41120k, max-gap: 900ms", "");
        pass(UNTIL_IT_HOLDS + 2);
        sender.stage.reload(new ConfigLoader().text("test", "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:" + PORT +
            "\"}\nrli: {target: 127.0.0.1, policy: every-n, every-n: 77, capacity: 4112k}\n").conclude());
        pass(2);
        assertOneIn(300, pass(5), 5);
        assertEquals("adaptive", policy());
    }

    /** Eight classes with a reference each 100 ms at least do not fit under a ceiling that is enough for one. */
    @Test
    void shouldGoOnByItsOwnPolicyIfItCannotKeepToTheReceivers() throws Exception {
        connect("every-n: 10, ceiling: 10k", "classes: [0, 8, 16, 24, 32, 40, 48, 56]");
        pass(UNTIL_IT_HOLDS + 3);
        assertEquals(1, sender.count("exchange_settings_unusable"));
        assertTrue(sender.count("lds_intervals_shipped") > 0, "sketches are made all the same");
        assertEquals("every-n", policy());
    }
}
