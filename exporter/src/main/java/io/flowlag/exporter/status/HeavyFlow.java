package io.flowlag.exporter.status;

/** A flow with many packets in an interval. A port is 0 where there are none. Immutable. */
public record HeavyFlow(
    String source, String destination, int protocol, int sourcePort, int destinationPort, long packets) {
}
