package io.flowlag.exporter.exchange.link;

/**
 * How long a connection may take, by the endpoint's clock, and how much may wait on it.
 *
 * @param handshakeTimeoutNs from the connection to the session.
 * @param messageTimeoutNs   for a message that has begun to come, and for the other end to take what waits.
 * @param idleTimeoutNs      without any message; a third of it without one makes a PING.
 * @param outboundBytes      that may wait for the other end; at least one message.
 * @param maxMessageBytes    of the longest message that is taken in a session.
 * @param lingerNs           that a closed end waits until the other ends have taken its last messages.
 */
public record ConnectionLimits(
    long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs, int outboundBytes, int maxMessageBytes, long lingerNs) {
}
