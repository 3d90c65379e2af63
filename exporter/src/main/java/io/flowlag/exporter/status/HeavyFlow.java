package io.flowlag.exporter.status;

/**
 * A flow with many packets in an interval. Immutable.
 *
 * @param source          address.
 * @param destination     address.
 * @param protocol        number.
 * @param sourcePort      0 where there are no ports.
 * @param destinationPort 0 where there are no ports.
 * @param packets         in the interval.
 */
public record HeavyFlow(
    String source, String destination, int protocol, int sourcePort, int destinationPort, long packets) {
}
