package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.CountingTransmitter;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowEnd;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The metering thread reaches packets long after their capture, as after a pause of the process. */
class LateMeteringTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long LATENESS_NS = 3_000_000_000L;
    private static final long REFERENCE_GAP_NS = 100_000_000L;
    private static final long DELAY_NS = 2_000_000;
    private static final int REFERENCES = 20;

    private final UnsafeBuffer batch = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final Counters counters = new Counters();
    private DelayStage stage;
    private long nowNs;

    private void describe(final long timestampNs) {
        batch.setMemory(0, PacketDescriptor.LENGTH_BYTES, (byte)0);
        PacketDescriptor.timestampNs(batch, 0, timestampNs);
        PacketDescriptor.ipVersion(batch, 0, 4);
        PacketDescriptor.protocol(batch, 0, 17);
        PacketDescriptor.sourceLow(batch, 0, 1);
        PacketDescriptor.destinationLow(batch, 0, 1);
        PacketDescriptor.segmentCount(batch, 0, 1);
        PacketDescriptor.ipLengthBytes(batch, 0, 500);
        PacketDescriptor.wireLengthBytes(batch, 0, 514);
    }

    private MeteringAgent agent(final ExporterConfig config, final DelayWiring wiring) {
        final FlowEnd flowEnd = new FlowEnd((buffer, offset, lengthBytes) -> { });
        final FlowCache cache = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(16).stateLengthBytes(DelayStage.stateLengthBytes(wiring)).build(),
            flowEnd, counters);
        stage = new DelayStage(config, wiring, flowEnd, cache, () -> nowNs, counters);
        return new DelayMeteringAgent(
            cache, StageRing.unused(), () -> false, () -> nowNs, stage, wiring, false, counters);
    }

    private void hand(final MeteringAgent agent) {
        final long timestampNs = PacketDescriptor.timestampNs(batch, 0);
        nowNs = timestampNs + LATENESS_NS;
        agent.onDescriptors(batch, 0, 1);
        agent.onCaptured(timestampNs);
        agent.doWork();
    }

    /** The exporting thread reads slower than flows end. */
    @Test
    void shouldLoseNoRecordWhereACutEndsAllFlowsAtOnce() {
        final int flows = 20_000;
        final long cutNs = LATENESS_NS;
        final StageRing recordRing = new StageRing(1 << 20, false);
        final FlowCache cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(flows).cutNs(cutNs).build(),
            new FlowRecordRing(recordRing, counters), counters);
        final MeteringAgent agent = new MeteringAgent(cache, StageRing.unused(), () -> false, () -> nowNs, counters);
        agent.records(recordRing);
        for (int i = 0; i < flows; i++) {
            describe(START_NS);
            PacketDescriptor.sourceLow(batch, 0, i);
            hand(agent);
        }
        agent.onCaptured(START_NS + cutNs + FlowCache.WORST_LATENESS_NS);
        final int[] records = new int[1];
        for (int i = 0; i < 1_000 && records[0] < flows; i++) {
            for (int cycle = 0; cycle < 10; cycle++) {
                agent.doWork();
            }
            recordRing.read((type, buffer, index, lengthBytes) -> records[0]++, 100);
        }
        assertEquals(0, counters.get(CounterId.DROPPED_AT_RECORD_RING));
        assertEquals(flows, records[0]);
    }

    @Test
    void shouldTakeNoLatenessOfItsOwnForSilenceOfTheSender() {
        final ExporterConfig config = new ConfigLoader().text("test", "rli: {estimator: left}").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.CAPTURED, List.of(ReferenceSession.unauthenticated(1))),
            ClockError.NONE, true, false, false, false);
        final MeteringAgent agent = agent(config, wiring);
        for (int i = 0; i < REFERENCES; i++) {
            final long arrivalNs = START_NS + i * REFERENCE_GAP_NS;
            describe(arrivalNs);
            DecodedReference.encode(batch, 0, 0, i, arrivalNs - DELAY_NS);
            hand(agent);
            describe(arrivalNs + REFERENCE_GAP_NS / 2);
            hand(agent);
        }

        final Map<String, Long> values = stage.statistics().counters();
        assertEquals(REFERENCES, values.get("rli_estimated"));
        assertEquals(0, values.get("rli_silences"));

        nowNs += LATENESS_NS;
        agent.onCaptured(nowNs);
        agent.doWork();
        assertEquals(1, stage.statistics().counters().get("rli_silences"));
    }

    /** Where capture shares the thread, its first packets come before the first duty cycle of this stage. */
    @Test
    void shouldTakeNoTimeBeforeTheFirstDutyCycleForAGapBetweenReferences() {
        final ExporterConfig config = new ConfigLoader().text("test",
            "segment: {role: sender}\nrli: {target: 127.0.0.1, policy: every-n, every-n: 100, max-gap: 100ms}\n").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.SENDER, new DelayWiring.References(
                ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(1)), new CountingTransmitter()),
            ClockError.NONE, true, false, false, false);
        final MeteringAgent agent = agent(config, wiring);
        nowNs = START_NS;
        agent.onStart();
        for (int i = 0; i < 10; i++) {
            describe(nowNs);
            agent.onDescriptors(batch, 0, 1);
            agent.onCaptured(nowNs);
            agent.doWork();
            nowNs += 1_000_000;
        }
        assertEquals(1, stage.statistics().counters().get("references_sent"));
    }
}
