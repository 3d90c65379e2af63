package io.flowlag.exporter.exchange.link;

/**
 * Timeouts of a connection, by the endpoint's clock, and the limits of its buffers.
 *
 * @param handshakeTimeoutNs from the connection to the session.
 * @param messageTimeoutNs   for the rest of a partly received message, and for the other end to read buffered octets.
 * @param idleTimeoutNs      without any message; a PING is sent after a third of it.
 * @param outboundBytes      buffered for the other end; at least one message.
 * @param maxMessageBytes    of the longest message accepted in a session.
 * @param lingerNs           that a closed end waits for the other ends to read its last messages.
 */
public record ConnectionLimits(
    long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs, int outboundBytes, int maxMessageBytes, long lingerNs) {
}
