package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.DelayMeteringAgent;
import io.flowlag.exporter.pipeline.DescriptorRing;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Stages that were held up for longer than the grace: intervals stay open until what waited has come. */
class LateStagesTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * INTERVAL_NS;

    private final Counters counters = new Counters();
    private final StageRing ring = new StageRing(1 << 20, false);
    private final Backlog source = new Backlog();
    private final FakeLink link = new FakeLink();
    private final CaptureAgent capture;
    private final MeteringAgent metering;
    private final DelayStage stage;
    private long nowNs = START_NS;
    private long position;

    LateStagesTest() {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:9\"}\nreconcile: {enabled: off}\n").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.SENDER, DelayWiring.References.NONE, ClockError.NONE, false, false, false, false).withLink(link);
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(64).build(), flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, () -> nowNs, counters);
        metering = new DelayMeteringAgent(cache, ring, () -> false, () -> nowNs, stage, wiring, false, counters);
        final PacketDecoder decoder = new PacketDecoder(
            new PacketDecoder.Context().digest(null).digestSwitch(link.digests), counters);
        capture = new CaptureAgent(
            List.of(source), decoder, new DescriptorRing(ring, counters), ReferenceRecognizer.NONE, false, () -> nowNs, counters);
        final ExporterConfig receiver = new ConfigLoader().text("test", "lds: {enabled: on, rows: 1, columns: 64}\n" +
            "segment: {role: receiver}\nexchange: {mode: sketch, listen: 9}\nreconcile: {enabled: off}\n").conclude();
        link.agreement = SharedSettings.agreement(
            SharedSettings.of(receiver, new UnsafeBuffer(new byte[16]), 1, START_NS / INTERVAL_NS),
            new IntervalSettings.Room(1024, 1, 1024, 0), null, START_NS / INTERVAL_NS, false);
    }

    /** Packets that the kernel holds, until somebody reads them. */
    private static final class Backlog implements PacketSource {
        private final List<Long> waitingNs = new ArrayList<>();
        private long untoldDrops;
        private long drops;

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int count = 0;
            while (count < packetLimit && !waitingNs.isEmpty()) {
                final byte[] frame = ScriptedPoint.frame(1, 7, 53, new byte[40]);
                final CapturedPacket packet = new CapturedPacket(new UnsafeBuffer(frame), 1, 1);
                packet.vlanTag(0);
                handler.onPacket(packet.set(0, frame.length, frame.length, waitingNs.remove(0)));
                count++;
            }
            return count;
        }

        @Override
        public String name() {
            return "backlog";
        }

        @Override
        public long capturedCount() {
            return 0;
        }

        @Override
        public long kernelDropCount() {
            return drops;
        }

        @Override
        public void updateKernelDropCount() {
            drops += untoldDrops;
            untoldDrops = 0;
        }

        @Override
        public void close() {
            waitingNs.clear();
        }
    }

    /** An exchange that takes what is shipped. */
    private static final class FakeLink implements SenderLink {
        private final DigestSwitch digests = new DigestSwitch();
        private final List<Long> shipped = new ArrayList<>();
        private final List<Long> damaged = new ArrayList<>();
        private final List<SketchShipment> back = new ArrayList<>();
        private SketchAgreement agreement;
        private long latePackets;

        @Override
        public SenderLink shard(final int index) {
            return this;
        }

        @Override
        public boolean isOneOfSeveral() {
            return false;
        }

        @Override
        public DigestSwitch digests() {
            return digests;
        }

        @Override
        public void shipSendTime(final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
            throw new IllegalStateException("there are no references");
        }

        @Override
        public void shipPassiveSendTime(final long packetDigest, final long sentNs) {
            throw new IllegalStateException("there are no references");
        }

        @Override
        public SketchAgreement takeAgreement() {
            final SketchAgreement taken = agreement;
            agreement = null;
            return taken;
        }

        @Override
        public boolean ship(final SketchShipment shipment) {
            shipped.add(shipment.interval().intervalNumber());
            if (shipment.interval().isDamaged()) {
                damaged.add(shipment.interval().intervalNumber() - START_NS / INTERVAL_NS);
            }
            latePackets += shipment.latePackets();
            back.add(shipment);
            return true;
        }

        @Override
        public SketchShipment takeBack() {
            return back.isEmpty() ? null : back.remove(0);
        }

        @Override
        public void counters(final ObjLongConsumer<String> consumer) {
            consumer.accept("late", latePackets);
        }

        @Override
        public long memoryBytes() {
            return 0;
        }
    }

    private void work() {
        capture.doWork();
        metering.doWork();
        metering.doWork();
    }

    /** A packet each 10 ms until that time; they wait in the kernel. */
    private void packetsUntil(final long untilNs) {
        for (; position < untilNs - START_NS; position += 10_000_000L) {
            source.waitingNs.add(START_NS + position);
        }
    }

    private void passUntil(final long untilNs) {
        for (; nowNs < untilNs; nowNs += 10_000_000L) {
            packetsUntil(nowNs);
            work();
        }
    }

    private long count(final String label) {
        return stage.statistics().counters().get(label);
    }

    @Test
    void shouldShipIntervalsInTimeWhileAllGoesOn() {
        passUntil(START_NS + 8 * INTERVAL_NS + 20_000_000L);
        assertEquals(START_NS / INTERVAL_NS + 6, link.shipped.get(link.shipped.size() - 1));
        assertEquals(0, count("lds_sent_late"));
    }

    @Test
    void shouldKeepIntervalsOpenWhileCaptureIsHeldUp() {
        passUntil(START_NS + 9 * INTERVAL_NS / 2);
        final int before = link.shipped.size();
        for (; nowNs < START_NS + 13 * INTERVAL_NS / 2; nowNs += 10_000_000L) {
            packetsUntil(nowNs);
            metering.doWork();
        }
        assertEquals(before, link.shipped.size(), "nobody has seen their packets");
        passUntil(START_NS + 10 * INTERVAL_NS);
        assertEquals(0, count("lds_sent_late"));
        assertEquals(count("lds_sent"), count("lds_sent_booked"));
        assertTrue(link.shipped.contains(START_NS / INTERVAL_NS + 5), "those of the meantime are shipped too");
        assertTrue(link.shipped.contains(START_NS / INTERVAL_NS + 7));
    }

    @Test
    void shouldKeepIntervalsOpenWhileMeteringIsHeldUp() {
        passUntil(START_NS + 9 * INTERVAL_NS / 2);
        for (; nowNs < START_NS + 13 * INTERVAL_NS / 2; nowNs += 10_000_000L) {
            packetsUntil(nowNs);
            capture.doWork();
        }
        passUntil(START_NS + 10 * INTERVAL_NS);
        assertEquals(0, count("lds_sent_late"));
        assertEquals(count("lds_sent"), count("lds_sent_booked"));
    }

    /** Packets from after the drops are booked before the drops are heard of, and close the intervals in which they were. */
    @Test
    void shouldShipEveryIntervalInWhichTheKernelMayHaveDropped() {
        passUntil(START_NS + 9 * INTERVAL_NS / 2);
        source.untoldDrops = 7;
        packetsUntil(nowNs + INTERVAL_NS / 4);
        nowNs += 13 * INTERVAL_NS / 5;
        position = nowNs - START_NS;
        packetsUntil(nowNs + 20_000_000L);
        capture.doWork();
        metering.doWork();
        passUntil(START_NS + 12 * INTERVAL_NS);
        final List<Long> shipped = link.shipped.stream().map((number) -> number - START_NS / INTERVAL_NS).toList();
        assertTrue(shipped.containsAll(List.of(3L, 4L, 5L, 6L, 8L, 9L)), shipped::toString);
        assertTrue(link.damaged.containsAll(List.of(4L, 5L, 6L)), () -> shipped + ", damaged " + link.damaged);
        assertFalse(link.damaged.contains(9L), link.damaged::toString);
    }
}
