package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import org.agrona.CloseHelper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/** The live sides of all segments of a process, in the order of its configuration. Threads as of {@link LiveSegment}. */
final class LiveSegments implements AutoCloseable {
    private final List<LiveSegment> segments;

    /** Opens all; see {@link LiveSegment#open}. */
    LiveSegments(final ExporterConfig config, final Executor names, final int... interfaceIds) {
        segments = LiveSegment.openAll(config, names, interfaceIds);
    }

    List<DelayWiring> wirings() {
        return segments.stream().map(LiveSegment::wiring).toList();
    }

    /** {@return the unexpected exceptions of the threads of all exchanges} */
    StageErrors exchangeErrors() {
        return segments.get(0).exchangeErrors();
    }

    void tellStart() {
        segments.forEach(LiveSegment::tellStart);
    }

    /** As {@link LiveSegment#keepHouse}; there are no stages without delay measurement. */
    void keepHouse(final Counters counters, final List<DelayStage> stages) {
        for (int i = 0; i < segments.size(); i++) {
            final DelayStage stage = stage(stages, i);
            segments.get(i).keepHouse(segments.size() == 1 ? counters : stage.counters(), stage);
        }
    }

    private static DelayStage stage(final List<DelayStage> stages, final int segment) {
        return stages.isEmpty() ? null : stages.get(segment);
    }

    /** As {@link LiveSegment#withLongerWait}. */
    ExporterConfig withLongerWait(final ExporterConfig before, final List<DelayStage> stages) {
        final List<ExporterConfig> longer = new ArrayList<>();
        boolean isLonger = false;
        for (int i = 0; i < segments.size(); i++) {
            final ExporterConfig segment = before.segments().get(i);
            longer.add(segments.get(i).withLongerWait(segment, stage(stages, i)));
            isLonger |= longer.get(i) != segment;
        }
        return isLonger ? before.withSegments(longer) : before;
    }

    /** As {@link LiveSegment#keepWait}; as it is if it has other segments, which are refused. */
    ExporterConfig keepWait(final ExporterConfig newer) {
        if (newer.segments().size() != segments.size()) {
            return newer;
        }
        final List<ExporterConfig> kept = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            kept.add(segments.get(i).keepWait(newer.segments().get(i)));
        }
        return newer.withSegments(kept);
    }

    /** As {@link LiveSegment#changesAt}. Returns a time for each. */
    long[] changesAt(
        final ExporterConfig before, final ExporterConfig after, final List<DelayStage> stages, final long nowNs) {
        final long[] changeNs = new long[segments.size()];
        for (int i = 0; i < changeNs.length; i++) {
            changeNs[i] =
                segments.get(i).changesAt(before.segments().get(i), after.segments().get(i), stage(stages, i), nowNs);
        }
        return changeNs;
    }

    /** As {@link LiveSegment#change}, at the times of each. */
    void change(
        final ExporterConfig before, final ExporterConfig after, final List<DelayStage> stages, final long[] changeNs) {
        for (int i = 0; i < changeNs.length; i++) {
            segments.get(i).change(before.segments().get(i), after.segments().get(i), stage(stages, i), changeNs[i]);
        }
    }

    /** As {@link LiveSegment#readKeys}. */
    List<LiveSegment.Keys> readKeys(final ExporterConfig newer) {
        final List<LiveSegment.Keys> keys = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            keys.add(segments.get(i).readKeys(newer.segments().get(i)));
        }
        return keys;
    }

    /** Uses keys and certificates that were read again. */
    void renew(final List<LiveSegment.Keys> keys, final MeteringPipeline pipeline) {
        for (int i = 0; i < segments.size(); i++) {
            segments.get(i).renew(keys.get(i));
        }
        pipeline.renew(keys.stream().flatMap((each) -> each.references().stream()).toList());
    }

    @Override
    public void close() {
        CloseHelper.closeAll(segments);
    }
}
