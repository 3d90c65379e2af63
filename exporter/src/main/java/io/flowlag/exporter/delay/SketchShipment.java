package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.records.SenderAnswer;

/**
 * A closed interval of a sender point, on its way to the receiver or back. Its current holder owns it.
 *
 * @param kernelDrops       packets that the kernel dropped since the interval before.
 * @param ringDrops         packets dropped between the stages since then.
 * @param latePackets       packets since then whose interval was closed.
 * @param unsketchedPackets packets since then that found no sketch.
 */
public record SketchShipment(
    SketchAgreement agreement,
    SenderAnswer interval,
    long kernelDrops,
    long ringDrops,
    long latePackets,
    long unsketchedPackets) {
}
