package io.flowlag.exporter.status;

/**
 * What the aggregators (LDA) of both points say of a traffic class. Immutable. What is not known is null.
 *
 * @param dscp        of the class; below 0 where there is one class for all.
 * @param meanNs      signed.
 * @param lostPackets less those that came unexpectedly; signed.
 */
public record AggregateDelay(int dscp, long samples, Long meanNs, Long standardDeviationNs, Long lostPackets) {
}
