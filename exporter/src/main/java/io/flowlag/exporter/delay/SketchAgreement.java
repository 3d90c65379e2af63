package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;

import java.util.function.Function;

/**
 * The receiver's request that a sender point follows, and the sketches created for it. The metering thread owns the point.
 *
 * @param selector     selects the packets of the segment.
 * @param references   selects the packets whose send times are shipped; null if the policy is another. The metering thread's.
 * @param injection    when references are sent, given a sender's own settings of them; null if these decide.
 * @param point        empty sketches.
 * @param fromInterval the first interval in which it holds.
 * @param isSuccessor  whether it follows the previous one: of the same receiver, with the same hash.
 */
public record SketchAgreement(
    SegmentSelector selector,
    TrafficClasses classes,
    FlowWeights weights,
    SipHash hash,
    PassiveChoice references,
    Function<ExporterConfig.Rli, InjectionTerms> injection,
    IntervalSettings settings,
    IntervalPoint point,
    long fromInterval,
    boolean isSuccessor) {
    /** The same, with references sent on the receiver's terms, given a sender's own settings of them; null if these decide. */
    public SketchAgreement withInjection(final Function<ExporterConfig.Rli, InjectionTerms> terms) {
        return new SketchAgreement(
            selector, classes, weights, hash, references, terms, settings, point, fromInterval, isSuccessor);
    }

    /** The same for one of several metering threads: send times of regular packets, which would be out of order, stay out. */
    public SketchAgreement ofShard(final IntervalPoint ownPoint) {
        return new SketchAgreement(
            selector, classes, weights, hash, null, injection, settings, ownPoint, fromInterval, isSuccessor);
    }

    /** {@return when it begins to hold, ns since the epoch} */
    long fromNs() {
        return fromInterval * settings.times().intervalNs();
    }
}
