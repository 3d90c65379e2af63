package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.SenderAnswers;

import java.util.List;

/**
 * Other settings of the segment and its sketches from a time on. Immutable.
 *
 * @param fromNs    when, ns since the epoch; intervals of the old and the new length begin then.
 * @param answers   of each sender from then on, where it is another process; empty where it is this one, or without sketches.
 * @param isSameWay whether the same packets are selected as before.
 * @param reason    why the process changes them by itself; empty for a reload.
 */
public record SketchChange(
    ExporterConfig config, long fromNs, List<SenderAnswers> answers, boolean isSameWay, String reason) {
    /** Settings that were read again. */
    public SketchChange(
        final ExporterConfig config, final long fromNs, final List<SenderAnswers> answers, final boolean isSameWay) {
        this(config, fromNs, answers, isSameWay, "");
    }
}
