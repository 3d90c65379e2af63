package io.flowlag.exporter.status;

/**
 * A flow with many packets in an interval. Immutable.
 *
 * @param sourcePort      0 where there are no ports.
 * @param destinationPort 0 where there are no ports.
 */
public record HeavyFlow(
    String source, String destination, int protocol, int sourcePort, int destinationPort, long packets) {
}
