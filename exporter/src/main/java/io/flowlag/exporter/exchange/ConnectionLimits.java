package io.flowlag.exporter.exchange;

/**
 * How long a connection may take, by the endpoint's clock, and how much may wait on it.
 *
 * @param handshakeTimeoutNs from the connection to the session.
 * @param messageTimeoutNs   for a message that has begun to come, and for the other end to take what waits.
 * @param idleTimeoutNs      without any message; a third of it without one makes a PING.
 * @param outboundBytes      that may wait for the other end.
 */
public record ConnectionLimits(long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs, int outboundBytes) {
    private static final long SECOND_NS = 1_000_000_000L;
    /** 10 s each for handshake and message, 30 s of silence, 256 KiB. */
    public static final ConnectionLimits DEFAULT =
        new ConnectionLimits(10 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS, 256 * 1024);

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
        if (outboundBytes < MessageHeader.MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                "outboundBytes=" + outboundBytes + " is less than a message of " + MessageHeader.MAX_MESSAGE_BYTES);
        }
    }
}
