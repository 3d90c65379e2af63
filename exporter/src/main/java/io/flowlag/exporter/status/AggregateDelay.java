package io.flowlag.exporter.status;

/**
 * The aggregators' (LDA) result for a traffic class. Immutable. Unknown values are null.
 *
 * @param dscp        of the class; negative for a single class.
 * @param meanNs      signed.
 * @param lostPackets minus unexpected packets; signed.
 */
public record AggregateDelay(int dscp, long samples, Long meanNs, Long standardDeviationNs, Long lostPackets) {
}
