package io.flowlag.ipfix.transport;

/**
 * How to connect to a Collecting Process over TCP or TLS (RFC 7011 section 10.4). Immutable, safe to share between threads.
 *
 * @param sendRingBytes          octets of messages that wait in this process while the network is slow.
 * @param socketSendBufferBytes  octets that wait in the kernel; what may be lost unnoticed when a connection breaks.
 * @param connectTimeoutMs       from the beginning of an attempt to the end of any handshake.
 * @param reconnectIntervalMs    from the beginning of one attempt to that of the next.
 * @param rateLimitBitsPerSecond of messages; 0 for none.
 */
public record StreamSettings(
    Endpoint collector,
    int sendRingBytes,
    int socketSendBufferBytes,
    long connectTimeoutMs,
    long reconnectIntervalMs,
    long rateLimitBitsPerSecond) {

    /** Default capacity of the ring in this process, octets. */
    public static final int DEFAULT_SEND_RING_BYTES = 4 * 1024 * 1024;
    /** Default send buffer in the kernel, octets. */
    public static final int DEFAULT_SOCKET_SEND_BUFFER_BYTES = 256 * 1024;
    /** Default limit of an attempt. */
    public static final long DEFAULT_CONNECT_TIMEOUT_MS = 10_000L;
    /** RFC 7011 section 10.4.4: not more than once a minute by default. */
    public static final long DEFAULT_RECONNECT_INTERVAL_MS = 60_000L;

    private static final int MIN_SEND_RING_BYTES = 65_536;

    /** Checks ranges. */
    public StreamSettings {
        if (sendRingBytes < MIN_SEND_RING_BYTES) {
            throw new IllegalArgumentException("sendRingBytes=" + sendRingBytes + " is less than " + MIN_SEND_RING_BYTES);
        }
        if (socketSendBufferBytes < 1 || connectTimeoutMs < 1 || reconnectIntervalMs < 0 || rateLimitBitsPerSecond < 0) {
            throw new IllegalArgumentException("socketSendBufferBytes=" + socketSendBufferBytes + ", connectTimeoutMs=" +
                connectTimeoutMs + ", reconnectIntervalMs=" + reconnectIntervalMs + " or rateLimitBitsPerSecond=" +
                rateLimitBitsPerSecond + " is too small");
        }
    }

    /** All defaults. */
    public static StreamSettings of(final Endpoint collector) {
        return new StreamSettings(collector, DEFAULT_SEND_RING_BYTES, DEFAULT_SOCKET_SEND_BUFFER_BYTES,
            DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_RECONNECT_INTERVAL_MS, 0);
    }

    /** These settings with another pace of attempts, of which each may take the timeout. */
    public StreamSettings withTimes(final long newConnectTimeoutMs, final long newReconnectIntervalMs) {
        return new StreamSettings(
            collector, sendRingBytes, socketSendBufferBytes, newConnectTimeoutMs, newReconnectIntervalMs, rateLimitBitsPerSecond);
    }

    /** These settings with other buffers. */
    public StreamSettings withBuffers(final int newSendRingBytes, final int newSocketSendBufferBytes) {
        return new StreamSettings(
            collector, newSendRingBytes, newSocketSendBufferBytes, connectTimeoutMs, reconnectIntervalMs, rateLimitBitsPerSecond);
    }

    /** These settings with another rate of messages; 0 for no limit. */
    public StreamSettings withRateLimit(final long newRateLimitBitsPerSecond) {
        return new StreamSettings(
            collector, sendRingBytes, socketSendBufferBytes, connectTimeoutMs, reconnectIntervalMs, newRateLimitBitsPerSecond);
    }
}
