package io.flowlag.exporter.delay;

import io.flowlag.exporter.sketching.FlowWeights;
import io.flowlag.exporter.sketching.SharedSampling;
import io.flowlag.exporter.sketching.SketchContext;
import io.flowlag.exporter.sketching.SketchPoint;
import io.flowlag.sketch.hash.SipHash;

/**
 * What a sender point holds to, since the receiver said so, and the sketches made for it. The metering thread owns the point.
 *
 * @param selector     tells the packets of the segment.
 * @param classes      of the traffic.
 * @param weights      of flows.
 * @param hash         of packets and flows.
 * @param references   tells which packets stand in for references; null if none do.
 * @param context      sizes and times, concluded.
 * @param point        empty sketches.
 * @param fromInterval the first interval in which it holds.
 */
public record SketchAgreement(
    SegmentSelector selector,
    TrafficClasses classes,
    FlowWeights weights,
    SipHash hash,
    SharedSampling references,
    SketchContext context,
    SketchPoint point,
    long fromInterval) {
}
