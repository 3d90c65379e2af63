package io.flowlag.exporter.exchange.link;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Supplier;

/**
 * Options of an {@link ExchangeListener}, checked by the configuration.
 *
 * @param address         to listen on.
 * @param security        keys and certificates as they were read last; any thread may replace them.
 * @param senders         points that may connect; empty for all.
 * @param maxSenders      remembered, connected or not.
 * @param maxStrangers    connections without a session.
 * @param windowIntervals remembered for each sender, at least 4.
 * @param deadlineNs      for an interval, counted from its expectation.
 * @param maxListBytes    of digests and flows of an interval.
 */
public record ListenerOptions(
    InetSocketAddress address, PointRun point, Supplier<PeerSecurity> security, ConnectionLimits limits, List<Long> senders,
    int maxSenders, int maxStrangers, int windowIntervals, long deadlineNs, long maxListBytes) {
}
