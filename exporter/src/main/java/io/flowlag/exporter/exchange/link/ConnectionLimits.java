package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;

/**
 * How long a connection may take, by the endpoint's clock, and how much may wait on it.
 *
 * @param handshakeTimeoutNs from the connection to the session.
 * @param messageTimeoutNs   for a message that has begun to come, and for the other end to take what waits.
 * @param idleTimeoutNs      without any message; a third of it without one makes a PING.
 * @param outboundBytes      that may wait for the other end.
 * @param maxMessageBytes    of the longest message that is taken in a session.
 */
public record ConnectionLimits(
    long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs, int outboundBytes, int maxMessageBytes) {
    /** No message that this version sends is longer. */
    public static final int LEAST_MESSAGE_BYTES = 36 * 1024;

    private static final long SECOND_NS = 1_000_000_000L;
    /** 10 s each for handshake and message, 30 s of silence, 256 KiB. */
    public static final ConnectionLimits DEFAULT =
        new ConnectionLimits(10 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS, 256 * 1024);

    /**
     * Limits that take every message that is legal.
     *
     * @param handshakeTimeoutNs from the connection to the session.
     * @param messageTimeoutNs   for a message that has begun to come, and for the other end to take what waits.
     * @param idleTimeoutNs      without any message.
     * @param outboundBytes      that may wait for the other end.
     */
    public ConnectionLimits(
        final long handshakeTimeoutNs, final long messageTimeoutNs, final long idleTimeoutNs, final int outboundBytes) {
        this(handshakeTimeoutNs, messageTimeoutNs, idleTimeoutNs, outboundBytes, ExchangeHeader.MAX_MESSAGE_BYTES);
    }

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException naming the one that is out of its range.
     */
    public ConnectionLimits {
        if (handshakeTimeoutNs < 1 || messageTimeoutNs < 1 || idleTimeoutNs < 1) {
            throw new IllegalArgumentException("handshakeTimeoutNs=" + handshakeTimeoutNs + " messageTimeoutNs=" +
                messageTimeoutNs + " idleTimeoutNs=" + idleTimeoutNs + ": each must be at least 1");
        }
        if (outboundBytes < ExchangeHeader.MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                "outboundBytes=" + outboundBytes + " is less than a message of " + ExchangeHeader.MAX_MESSAGE_BYTES);
        }
        if (maxMessageBytes < LEAST_MESSAGE_BYTES || maxMessageBytes > ExchangeHeader.MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException("maxMessageBytes=" + maxMessageBytes + " is not within " + LEAST_MESSAGE_BYTES +
                " and " + ExchangeHeader.MAX_MESSAGE_BYTES);
        }
    }
}
