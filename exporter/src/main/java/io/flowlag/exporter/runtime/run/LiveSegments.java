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
    private final Offloads offloads;
    private final List<LiveSegment> segments;

    /** Opens all; see {@link LiveSegment#open} and {@link Offloads}. */
    LiveSegments(final ExporterConfig config, final Executor names, final int... interfaceIds) {
        offloads = new Offloads(config, System.nanoTime());
        try {
            segments = LiveSegment.openAll(config, names, interfaceIds);
        } catch (final RuntimeException ex) {
            offloads.close();
            throw ex;
        }
    }

    List<DelayWiring> wirings() {
        return segments.stream().map(LiveSegment::wiring).toList();
    }

    /** {@return the unexpected exceptions of the threads of all exchanges} */
    StageErrors exchangeErrors() {
        return segments.get(0).exchangeErrors();
    }

    void tellStart() {
        offloads.tell();
        segments.forEach(LiveSegment::tellStart);
    }

    /** As {@link LiveSegment#keepHouse}; there are no stages without delay measurement. */
    void keepHouse(final Counters counters, final List<DelayStage> stages) {
        offloads.keepHouse(System.nanoTime());
        for (int i = 0; i < segments.size(); i++) {
            final DelayStage stage = stage(stages, i);
            segments.get(i).keepHouse(segments.size() == 1 ? counters : stage.counters(), stage);
        }
    }

    private static DelayStage stage(final List<DelayStage> stages, final int segment) {
        return stages.isEmpty() ? null : stages.get(segment);
    }

    /** As {@link LiveSegment#following}. */
    ExporterConfig following(final ExporterConfig before, final List<DelayStage> stages) {
        final List<ExporterConfig> after = new ArrayList<>();
        boolean isOther = false;
        for (int i = 0; i < segments.size(); i++) {
            final ExporterConfig segment = before.segments().get(i);
            after.add(segments.get(i).following(segment, stage(stages, i)));
            isOther |= after.get(i) != segment;
        }
        return isOther ? before.withSegments(after) : before;
    }

    /** As {@link LiveSegment#keepFollowed}; as it is if it has other segments, which are refused. */
    ExporterConfig keepFollowed(final ExporterConfig newer) {
        if (newer.segments().size() != segments.size()) {
            return newer;
        }
        final List<ExporterConfig> kept = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            kept.add(segments.get(i).keepFollowed(newer.segments().get(i)));
        }
        return newer.withSegments(kept);
    }

    /**
     * What a reload changes.
     *
     * @param fromNs       when each segment changes, ns since the epoch; 0 for no change.
     * @param isSameWay    whether each has the same packets as before.
     * @param selectFromNs from when on packets are selected otherwise: when receivers with sketches change, which have their
     *                     intervals in common, else when the last one does; 0 if packets are selected as before.
     */
    record Changes(long[] fromNs, boolean[] isSameWay, long selectFromNs) {
    }

    /** As {@link LiveSegment#changesAt}, for each. */
    Changes changesAt(
        final ExporterConfig before, final ExporterConfig after, final List<DelayStage> stages, final long nowNs) {
        final boolean[] isSameWay = SegmentChange.areSameWays(before.segments(), after.segments());
        final long[] fromNs = new long[segments.size()];
        long latestNs = 0;
        long sketchedNs = 0;
        for (int i = 0; i < fromNs.length; i++) {
            fromNs[i] = segments.get(i).changesAt(
                before.segments().get(i), after.segments().get(i), isSameWay[i], stage(stages, i), nowNs);
            latestNs = isSameWay[i] ? latestNs : Math.max(latestNs, fromNs[i]);
            sketchedNs = isSameWay[i] || !segments.get(i).wiring().isSketched() ? sketchedNs : fromNs[i];
        }
        return new Changes(fromNs, isSameWay, sketchedNs > 0 ? sketchedNs : latestNs);
    }

    /** As {@link LiveSegment#change}, for each. */
    void change(final ExporterConfig after, final List<DelayStage> stages, final Changes changes) {
        for (int i = 0; i < segments.size(); i++) {
            segments.get(i).change(after.segments().get(i), changes.isSameWay[i], stage(stages, i), changes.fromNs[i]);
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
        offloads.close();
    }
}
