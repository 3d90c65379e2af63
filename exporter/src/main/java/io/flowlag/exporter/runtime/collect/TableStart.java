package io.flowlag.exporter.runtime.collect;

/**
 * Expected contents of a table, known before its first record, so that its header need not be repeated. Immutable.
 *
 * @param hasDelays   whether records have delays and quantiles.
 * @param hasSketches whether records have means by sketches.
 * @param hasIpv6     whether records have IPv6 addresses.
 * @param mostDelayNs the largest delay, ns.
 */
public record TableStart(boolean hasDelays, boolean hasSketches, boolean hasIpv6, long mostDelayNs) {
    /** Nothing is known. */
    public static final TableStart UNKNOWN = new TableStart(false, false, false, 0);
}
