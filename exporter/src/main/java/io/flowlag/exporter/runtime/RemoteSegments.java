package io.flowlag.exporter.runtime;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.SegmentHashes;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.DelayWiring.References;
import io.flowlag.exporter.delay.FlowDelays;
import io.flowlag.exporter.delay.SegmentStages;
import io.flowlag.exporter.delay.SegmentSwitch;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.pipeline.MeteringAgent;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.pipeline.SegmentMeteringAgent;
import io.flowlag.exporter.pipeline.SegmentRecognizer;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Several segments, some of them to other processes, as the stages of a pipeline need them: the keys of their digests, their
 * references, and their delay stages. Made by the conductor.
 */
final class RemoteSegments {
    private final ExporterConfig config;
    private final List<DelayWiring> wirings;
    private final List<DigestSwitch> keys;
    private final SegmentStages stages;
    private List<DelayStage> opened = List.of();

    /** Segments whose flows end at a sink, without stages yet. */
    RemoteSegments(final ExporterConfig config, final List<DelayWiring> wirings, final FlowRecordSink sink) {
        this.config = config;
        this.wirings = wirings;
        keys = wirings.stream().map(this::keys).toList();
        stages = new SegmentStages(config.segments(), sink);
    }

    /** The keys of a segment's digests; a segment without digests has none. */
    private DigestSwitch keys(final DelayWiring wiring) {
        if (wiring.isShipping()) {
            return wiring.senderLink().digests();
        }
        final DigestSwitch fixed = new DigestSwitch();
        if (wiring.hasDigests()) {
            final SipHash hash = wiring.digestHash();
            fixed.change(hash != null ? hash : DigestKey.of(config.decode().digestKeyFile()), Long.MIN_VALUE);
        }
        return fixed;
    }

    /** {@return the length of the intervals of sketches, which all receivers with sketches share; 0 without} */
    static long intervalNs(final ExporterConfig config, final List<DelayWiring> wirings) {
        for (int i = 0; i < wirings.size(); i++) {
            if (wirings.get(i).isSketched()) {
                return config.segments().get(i).segment().intervalNs();
            }
        }
        return 0;
    }

    /** {@return what finds the segments of packets over time} */
    SegmentSwitch selection() {
        return stages.selection();
    }

    /** {@return the sink of the flow cache} */
    FlowRecordSink sink() {
        return stages;
    }

    /** Makes the delay stages around the flow cache; parameters as of {@link DelayStage}. */
    List<DelayStage> open(final FlowCache cache, final CaptureClock clock, final Counters counters) {
        opened = stages.open(config.segments(), wirings, cache, clock, counters);
        return opened;
    }

    /** The metering stage; parameters as of {@link MeteringAgent}. */
    MeteringAgent metering(
        final FlowCache cache, final StageRing ring, final BooleanSupplier isUpstreamEnded, final CaptureClock clock,
        final Counters counters) {
        return new SegmentMeteringAgent(cache, ring, isUpstreamEnded, clock,
            new SegmentMeteringAgent.Segments(opened, wirings, stages, new SegmentHashes(keys)), counters);
    }

    PacketDecoder decoder(final PacketDecoder.Context context, final Counters counters) {
        return new PacketDecoder(context.segmentKeys(keys), counters);
    }

    /** {@return a recognizer of the references of all segments, which also has packets digested by their keys} */
    ReferenceRecognizer recognizer(final int sourceCount, final Counters counters) {
        final List<SegmentRecognizer.Expected> expected = new ArrayList<>();
        for (int i = 0; i < wirings.size(); i++) {
            final References references = wirings.get(i).references();
            final ExporterConfig segment = config.segments().get(i);
            expected.add(new SegmentRecognizer.Expected(
                segment.rli().references().port(), references.isSent() ? references.transmitter().target() : null,
                references.sessions(), segment.segment().maximumDelayNs()));
        }
        return new SegmentRecognizer(
            expected, sourceCount, stages.selection(), wirings.stream().anyMatch(DelayWiring::hasDigests), counters);
    }

    /** {@return the delays of a flow in its segment; null for none} */
    FlowDelays delaysOf(final DirectBuffer entry, final int offset) {
        final DelayStage stage = stages.of(entry, offset);
        return stage == null ? null : stage.flowDelays();
    }
}
