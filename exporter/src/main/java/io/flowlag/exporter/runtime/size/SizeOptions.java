package io.flowlag.exporter.runtime.size;

import java.util.List;

/**
 * Options of {@code flowlag size}. Immutable.
 *
 * @param flows        live in an interval, or 0 for those of the captures.
 * @param packets      of all flows in an interval, or 0 for those of the captures.
 * @param lossRate     highest share of packets that the path loses, 0 to below 1.
 * @param error        share by which other flows may pull a flow's mean, between 0 and 1.
 * @param confidence   share of flows within that error, above 1 - 1/e and below 1.
 * @param flowPackets  packets of the smallest flow within that error.
 * @param intervalNs   of measurement, above 0.
 * @param bandwidthBps of the exchange, or 0 for no limit.
 * @param files        captures to take flows, packets and the sizes of flows from; may be empty.
 */
public record SizeOptions(
    long flows,
    long packets,
    double lossRate,
    double error,
    double confidence,
    long flowPackets,
    long intervalNs,
    long bandwidthBps,
    List<String> files) {
}
