package io.flowlag.ipfix.session;

import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.transport.TransportKind;

/**
 * Settings of an {@link ExportingSession}. Mutable and fluent until a session copies it; belongs to one thread. Holds only values
 * and allocates nothing.
 */
public final class SessionSettings {
    /** Default limit of a message over UDP in octets: fits an Ethernet path with a tunnel in it. */
    public static final int DEFAULT_MAX_DATAGRAM_BYTES = 1_400;
    /** Default limit of a message over TCP, TLS or into a file in octets: one TLS record. */
    public static final int DEFAULT_MAX_STREAM_MESSAGE_BYTES = 16_000;
    /** The least limit for messages: RFC 7011 section 10.3.3, and room for the largest template. */
    public static final int MIN_MAX_MESSAGE_BYTES = 512;
    /** Default time to wait for a message to fill. */
    public static final long DEFAULT_MAX_LINGER_MS = 1_000L;
    /** Default time between two copies of a template over UDP. */
    public static final long DEFAULT_TEMPLATE_REFRESH_INTERVAL_MS = 60_000L;
    /** The first messages that carry a new template over UDP (RFC 7011 section 8.4). */
    public static final int INITIAL_TEMPLATE_COPIES = 3;

    private int observationDomainId;
    private int maxMessageBytes;
    private long maxLingerMs = DEFAULT_MAX_LINGER_MS;
    private long templateRefreshIntervalMs = DEFAULT_TEMPLATE_REFRESH_INTERVAL_MS;
    private int templateRefreshMessages;
    private boolean lossless;
    private boolean messageChecksum;
    private UnsentRecords unsentRecords;
    private int unsentBytes;

    /**
     * The Observation Domain of every message.
     *
     * @param newObservationDomainId unsigned; 0 when no specific domain applies (RFC 7011 section 3.1).
     */
    public SessionSettings observationDomainId(final int newObservationDomainId) {
        observationDomainId = newObservationDomainId;
        return this;
    }

    /**
     * The limit for messages.
     *
     * @param newMaxMessageBytes {@link #MIN_MAX_MESSAGE_BYTES} to 65535, or 0 for the default of the transport's kind.
     */
    public SessionSettings maxMessageBytes(final int newMaxMessageBytes) {
        if (newMaxMessageBytes != 0 &&
            (newMaxMessageBytes < MIN_MAX_MESSAGE_BYTES || newMaxMessageBytes > MessageHeader.MAX_MESSAGE_BYTES)) {
            throw new IllegalArgumentException("maxMessageBytes=" + newMaxMessageBytes + " is outside " +
                MIN_MAX_MESSAGE_BYTES + " to " + MessageHeader.MAX_MESSAGE_BYTES);
        }
        maxMessageBytes = newMaxMessageBytes;
        return this;
    }

    /** How long the first record of a message may wait for others; 0 to send in the next duty cycle. */
    public SessionSettings maxLingerMs(final long newMaxLingerMs) {
        maxLingerMs = notNegative("maxLingerMs", newMaxLingerMs);
        return this;
    }

    /** Interval, 1 or more, at which every template is sent again over UDP (RFC 7011 section 8.4); unused elsewhere. */
    public SessionSettings templateRefreshIntervalMs(final long newTemplateRefreshIntervalMs) {
        if (newTemplateRefreshIntervalMs < 1) {
            throw new IllegalArgumentException(
                "templateRefreshIntervalMs=" + newTemplateRefreshIntervalMs + ": over UDP templates must be sent again");
        }
        templateRefreshIntervalMs = newTemplateRefreshIntervalMs;
        return this;
    }

    /** Number of messages with data, besides the interval, after which every template is sent again over UDP; 0 for never. */
    public SessionSettings templateRefreshMessages(final int newTemplateRefreshMessages) {
        templateRefreshMessages = (int)notNegative("templateRefreshMessages", newTemplateRefreshMessages);
        return this;
    }

    /**
     * Whether a caller waits rather than loses a record, as when a file is replayed.
     *
     * @param newLossless true for {@link ExportingSession#BLOCKED} instead of discarding.
     */
    public SessionSettings lossless(final boolean newLossless) {
        lossless = newLossless;
        return this;
    }

    /** Whether each message ends with an MD5 checksum of itself (RFC 5655 section 8.1.1). Allocates per message. */
    public SessionSettings messageChecksum(final boolean newMessageChecksum) {
        messageChecksum = newMessageChecksum;
        return this;
    }

    /**
     * Sets the handler of records that a broken connection did not deliver. With it a session loses no flow record: it keeps none
     * without a connection, and returns {@link ExportingSession#BLOCKED} instead of discarding one.
     *
     * @param retainBytes limit on octets of undelivered messages; the transport gets no more.
     */
    public SessionSettings unsentRecords(final UnsentRecords handler, final int retainBytes) {
        unsentRecords = handler;
        unsentBytes = (int)notNegative("retainBytes", retainBytes);
        return this;
    }

    UnsentRecords unsentRecords() {
        return unsentRecords;
    }

    int unsentBytes() {
        return unsentBytes;
    }

    int observationDomainId() {
        return observationDomainId;
    }

    int maxMessageBytes(final TransportKind kind) {
        if (maxMessageBytes != 0) {
            return maxMessageBytes;
        }
        return kind == TransportKind.DATAGRAM ? DEFAULT_MAX_DATAGRAM_BYTES : DEFAULT_MAX_STREAM_MESSAGE_BYTES;
    }

    long maxLingerMs() {
        return maxLingerMs;
    }

    long templateRefreshIntervalMs() {
        return templateRefreshIntervalMs;
    }

    int templateRefreshMessages() {
        return templateRefreshMessages;
    }

    boolean lossless() {
        return lossless;
    }

    boolean messageChecksum() {
        return messageChecksum;
    }

    private static long notNegative(final String name, final long value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + "=" + value + " is negative");
        }
        return value;
    }
}
