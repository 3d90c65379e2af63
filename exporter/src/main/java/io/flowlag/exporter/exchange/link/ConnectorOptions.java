package io.flowlag.exporter.exchange.link;

import io.flowlag.ipfix.transport.Endpoint;

import java.util.function.Supplier;

/**
 * Options of an {@link ExchangeConnector}, checked by the configuration.
 *
 * @param security            keys and certificates as they were read last; any thread may replace them.
 * @param maxWaitingIntervals that wait for the receiver's answer; the oldest goes when there are more.
 * @param maxWaitingBytes     of all intervals that wait.
 * @param maxAskedPackets     that a receiver may ask for at once.
 * @param minBackoffNs        between attempts to connect; doubled after each failure.
 * @param maxBackoffNs        the longest time between attempts.
 */
public record ConnectorOptions(
    Endpoint receiver, PointRun point, Supplier<PeerSecurity> security, ConnectionLimits limits, int maxWaitingIntervals,
    long maxWaitingBytes, long maxWaitNs, int maxAskedPackets, long minBackoffNs, long maxBackoffNs) {
}
