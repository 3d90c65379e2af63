package io.flowlag.exporter.exchange.link;

/** The counters of an end of the exchange: label, unit and one sentence each. {@link ExchangeCounters} has the values. */
public enum ExchangeCounter {
    /** Connections accepted, or made. */
    CONNECTIONS("connections", "connections",
        "Connections accepted, or made."),
    /** Failed attempts to connect. */
    CONNECT_FAILURES("connect_failures", "attempts",
        "Attempts to connect that came to nothing."),
    /** Ended: the other end closed the connection. */
    ENDED_BY_PEER("ended_by_peer", "connections",
        "Ended: the other end closed the connection."),
    /** Ended: the network or the other end broke the connection. */
    ENDED_BROKEN("ended_broken", "connections",
        "Ended: the network or the other end broke the connection."),
    /** Ended: TLS failed, which includes an untrusted certificate. */
    ENDED_TLS("ended_tls", "connections",
        "Ended: TLS failed, a certificate that is not trusted included."),
    /** Ended: no session within the handshake's time. */
    ENDED_HANDSHAKE("ended_handshake", "connections",
        "Ended: no session within the handshake's time."),
    /** Ended: a message took too long to receive or to send. */
    ENDED_SLOW("ended_slow", "connections",
        "Ended: a message took too long to come or to be taken."),
    /** Ended: no message came for too long. */
    ENDED_SILENT("ended_silent", "connections",
        "Ended: no message came for too long."),
    /** Ended: a message was refused. */
    ENDED_REFUSED("ended_refused", "connections",
        "Ended: what came was refused."),
    /** Ended: displaced by another connection before it had a session. */
    ENDED_EVICTED("ended_evicted", "connections",
        "Ended: it had no session yet and others waited for its place."),
    /** Ended: the same sender connected again. */
    ENDED_REPLACED("ended_replaced", "connections",
        "Ended: the same sender connected again."),
    /** Ended: this end was closed. */
    ENDED_LOCALLY("ended_locally", "connections",
        "Ended: this end was closed."),
    /** Sessions begun. */
    SESSIONS("sessions", "sessions",
        "Connections on which both ends agreed to talk."),
    /** Senders that are not configured. */
    SENDERS_UNKNOWN("senders_unknown", "connections",
        "Connections of senders that are not configured at the receiver; refused, and part of ended_refused."),
    /** Senders with the point id of another sender. */
    SENDERS_DOUBLED("senders_doubled", "connections",
        "Connections of senders whose id another process has that is connected; refused, and part of ended_refused."),
    /** Verified messages. */
    MESSAGES_RECEIVED("messages_received", "messages",
        "Messages that were whole and verified."),
    /** Messages handed to the connection. */
    MESSAGES_SENT("messages_sent", "messages",
        "Messages handed to the connection."),
    /** Octets received, before TLS. */
    OCTETS_RECEIVED("octets_received", "octets",
        "Octets received, before TLS."),
    /** Octets of messages sent, before TLS. */
    OCTETS_SENT("octets_sent", "octets",
        "Octets of messages sent, before TLS."),
    /** Settings handed to senders. */
    SETTINGS_SENT("settings_sent", "messages",
        "Settings handed to senders."),
    /** Settings that a sender acknowledged; at the sender, that it applied. */
    SETTINGS_HELD("settings_held", "messages",
        "Settings that a sender said it would hold to; at the sender: that it holds to."),
    /** Complete intervals without drops at the sender's point. */
    INTERVALS_COMPLETE("intervals_complete", "intervals",
        "Intervals that arrived whole, no packet dropped by the sender's point."),
    /** Complete intervals with drops at the sender's point. */
    INTERVALS_DAMAGED("intervals_damaged", "intervals",
        "Intervals that arrived whole, with packets dropped by the sender's point."),
    /** Duplicate intervals. */
    INTERVALS_DUPLICATE("intervals_duplicate", "intervals",
        "Intervals that had arrived before."),
    /** Intervals that arrived after their deadline. */
    INTERVALS_LATE("intervals_late", "intervals",
        "Intervals that arrived after their deadline."),
    /** Intervals too far ahead of the receiver's. */
    INTERVALS_AHEAD("intervals_ahead", "intervals",
        "Intervals too far ahead of the receiver's."),
    /** Unusable intervals: other settings, other sketches, or too large. */
    INTERVALS_REFUSED("intervals_refused", "intervals",
        "Intervals that could not be used: other settings, other sketches, or too large."),
    /** Intervals cut off by the end of their connection. */
    INTERVALS_CUT("intervals_cut", "intervals",
        "Intervals whose connection ended before they were whole."),
    /** Intervals of a known sender that had not arrived by their deadline. */
    INTERVALS_MISSING("intervals_missing", "intervals",
        "Intervals of a known sender that had not arrived by their deadline."),
    /** Intervals handed to the connector. */
    INTERVALS_OFFERED("intervals_offered", "intervals",
        "Intervals handed to the connector."),
    /** Intervals dropped before that, because the connector was too slow. */
    INTERVALS_TURNED_AWAY("intervals_turned_away", "intervals",
        "Intervals dropped before that: the connector did not keep up."),
    /** Intervals that the receiver answered, whatever its verdict. */
    INTERVALS_ANSWERED("intervals_answered", "intervals",
        "Intervals that the receiver answered, whatever its verdict."),
    /** Intervals sent again on a new connection. */
    INTERVALS_RESENT("intervals_resent", "intervals",
        "Intervals shipped once more on a new connection."),
    /** Intervals dropped unanswered: too many intervals or octets were waiting. */
    INTERVALS_DROPPED("intervals_dropped", "intervals",
        "Intervals dropped unanswered: too many or too many octets waited."),
    /** Intervals dropped unanswered: timed out. */
    INTERVALS_EXPIRED("intervals_expired", "intervals",
        "Intervals dropped unanswered: they waited too long."),
    /** Send times handed to the connector. */
    SEND_TIMES_OFFERED("send_times_offered", "send times",
        "Send times handed to the connector."),
    /** Send times dropped before that: no room. */
    SEND_TIMES_TURNED_AWAY("send_times_turned_away", "send times",
        "Send times dropped before that: no room."),
    /** Send times dropped without a session. */
    SEND_TIMES_DROPPED("send_times_dropped", "send times",
        "Send times dropped because there was no session."),
    /** Send times shipped. */
    SEND_TIMES_SENT("send_times_sent", "send times",
        "Send times shipped."),
    /** Send times received. */
    SEND_TIMES_RECEIVED("send_times_received", "send times",
        "Send times received."),
    /** Send times that a sender sent and that did not arrive. */
    SEND_TIMES_MISSING("send_times_missing", "send times",
        "Send times that a sender shipped and that never arrived."),
    /** Octets of sketches shipped, as encoded. */
    CELL_OCTETS("cell_octets", "octets",
        "Octets of sketches shipped, as encoded."),
    /** Octets of the same sketches in memory. */
    IMAGE_OCTETS("image_octets", "octets",
        "Octets of the same sketches as they are in memory."),
    /** Requests for synopses sent. */
    SYNOPSIS_REQUESTS_SENT("synopsis_requests_sent", "requests",
        "Requests for the synopses or packets of an interval sent."),
    /** Requests for synopses received. */
    SYNOPSIS_REQUESTS_RECEIVED("synopsis_requests_received", "requests",
        "Requests for the synopses or packets of an interval received."),
    /** Requests that could not be answered. */
    SYNOPSIS_REQUESTS_DENIED("synopsis_requests_denied", "requests",
        "Of those received, requests for what this end does not have: too late, too large, or nothing is remembered."),
    /** Requests above the limit. */
    SYNOPSIS_REQUESTS_EXCESS("synopsis_requests_excess", "requests",
        "Requests beyond the two of a kind that are answered for each interval and traffic class; they are denied."),
    /** Synopses sent. */
    SYNOPSES_SENT("synopses_sent", "synopses",
        "Synopses and lists of packets sent whole."),
    /** Synopses received. */
    SYNOPSES_RECEIVED("synopses_received", "synopses",
        "Synopses and lists of packets received whole."),
    /** Synopses that were refused. */
    SYNOPSES_REFUSED("synopses_refused", "synopses",
        "Synopsis answers refused: too long, out of order, or too late."),
    /** Time spent on encoding intervals. */
    ENCODING_NS("encoding_ns", "ns",
        "Time spent on encoding intervals.");

    private final String label;
    private final String unit;
    private final String sentence;

    ExchangeCounter(final String label, final String unit, final String sentence) {
        this.label = label;
        this.unit = unit;
        this.sentence = sentence;
    }

    /** {@return the name in statistics} */
    public String label() {
        return label;
    }

    /** {@return what is counted} */
    public String unit() {
        return unit;
    }

    /** {@return one sentence for documents} */
    public String sentence() {
        return sentence;
    }
}
