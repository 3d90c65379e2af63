package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What of a segment's settings follows its traffic: the wait for late packets, and the shape of its sketches. One thread. */
final class SegmentFollower {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentFollower.class);
    private static final long WAIT_INTERVAL_NS = 5_000_000_000L;
    private static final double NS_PER_MS = 1e6;

    private final String name;
    private final boolean hasOtherHost;
    private final LongerWait wait;
    private final ShapeControl shape;
    private long nextWaitNs = System.nanoTime() + WAIT_INTERVAL_NS;

    /**
     * Settings as configured.
     *
     * @param name         what lines of the log begin with.
     * @param shape        of the sketches.
     * @param hasOtherHost whether packets were sent by another host, and may be late by its clock.
     */
    SegmentFollower(final String name, final ExporterConfig config, final ShapeControl shape, final boolean hasOtherHost) {
        this.name = name;
        this.hasOtherHost = hasOtherHost;
        this.shape = shape;
        wait = new LongerWait(config.segment().maximumDelayNs());
    }

    /** {@return the configuration that suits the traffic of the stage; the same if it does} */
    ExporterConfig look(final ExporterConfig config, final DelayStage stage) {
        final ExporterConfig shaped = shape.look(config, stage.loads(), stage.lagNs());
        if (shaped != null || !hasOtherHost || System.nanoTime() - nextWaitNs < 0) {
            return shaped == null ? config : shaped;
        }
        nextWaitNs = System.nanoTime() + WAIT_INTERVAL_NS;
        final ExporterConfig longer = wait.look(
            config, stage.sketchCount(SketchCounter.RECONCILE_LATE), stage.sketchCount(SketchCounter.RECEIVED));
        return longer == null ? config : longer;
    }

    private static boolean isLonger(final ExporterConfig before, final ExporterConfig after) {
        return before.segment().maximumDelayNs() != after.segment().maximumDelayNs();
    }

    /** {@return why the sketches change; empty if their shape stays} */
    String reason(final ExporterConfig before, final ExporterConfig after) {
        return isLonger(before, after) ? "" : shape.reason();
    }

    /** A configuration from {@link #look} takes effect. */
    void reached(final ExporterConfig before, final ExporterConfig after) {
        if (isLonger(before, after)) {
            wait.reached(after);
            LOG.info("{}segment.max-delay rises to {} ms, from {} ms", name,
                after.segment().maximumDelayNs() / NS_PER_MS, before.segment().maximumDelayNs() / NS_PER_MS);
        } else {
            shape.reached(after);
        }
    }

    /** It cannot take effect. */
    void refused(final ExporterConfig before, final ExporterConfig after, final String why) {
        if (isLonger(before, after)) {
            wait.refused();
            LOG.warn("{}packets arrive later than segment.max-delay, which cannot be raised further: {}", name, why);
        } else {
            shape.refused();
            LOG.debug("{}the sketches keep their shape: {}", name, why);
        }
    }

    /** {@return a reloaded configuration with the current wait for packets and shape of the sketches} */
    ExporterConfig keep(final ExporterConfig newer) {
        return shape.keep(wait.keep(newer));
    }
}
