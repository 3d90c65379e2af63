package io.flowlag.exporter.monitoring;

import io.flowlag.common.config.Prefix;

/**
 * Selects the flows that match every condition. A null prefix, a number below 0 and a null delay select any flow. Immutable.
 *
 * @param either    prefix of the source or the destination.
 * @param port      of the source or the destination.
 * @param minimumNs least mean delay, which excludes flows without a delay.
 * @param isLiving  whether ended flows are excluded.
 */
public record FlowFilter(
    Prefix source,
    Prefix destination,
    Prefix either,
    int port,
    int protocol,
    int dscp,
    int classIndex,
    Long minimumNs,
    boolean isLiving) {
    /** Every flow. */
    public static final FlowFilter ALL = new FlowFilter(null, null, null, -1, -1, -1, -1, null, false);

    /** Whether a flow matches. */
    public boolean matches(final FlowView flow) {
        return (source == null || contains(source, flow.source())) &&
            (destination == null || contains(destination, flow.destination())) &&
            (either == null || contains(either, flow.source()) || contains(either, flow.destination())) &&
            (port < 0 || port == flow.sourcePort() || port == flow.destinationPort()) &&
            (protocol < 0 || protocol == flow.protocol()) &&
            (dscp < 0 || dscp == flow.dscp()) &&
            (classIndex < 0 || classIndex == flow.classIndex()) &&
            (minimumNs == null || flow.meanNs() != null && flow.meanNs() >= minimumNs) &&
            (!isLiving || flow.endReason() == null);
    }

    private static boolean contains(final Prefix prefix, final String address) {
        final Prefix alone = Prefix.of(address);
        return prefix.contains(alone.isIpv6(), alone.high(), alone.low());
    }
}
