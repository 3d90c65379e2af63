package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.Counted;

import java.util.Locale;

/** The counters of an end of the exchange: label, unit and one sentence each. {@link ExchangeCounters} has the values. */
public enum ExchangeCounter implements Counted {
    CONNECTIONS("connections", "Connections accepted, or made."),
    CONNECT_FAILURES("attempts", "Attempts to connect that came to nothing."),
    ENDED_BY_PEER("connections", "Ended: the other end closed the connection."),
    ENDED_BROKEN("connections", "Ended: the network or the other end broke the connection."),
    ENDED_TLS("connections", "Ended: TLS failed, a certificate that is not trusted included."),
    ENDED_HANDSHAKE("connections", "Ended: no session within the handshake's time."),
    ENDED_SLOW("connections", "Ended: a message took too long to come or to be taken."),
    ENDED_SILENT("connections", "Ended: no message came for too long."),
    ENDED_REFUSED("connections", "Ended: what came was refused."),
    ENDED_EVICTED("connections", "Ended: it had no session yet and others waited for its place."),
    ENDED_REPLACED("connections", "Ended: the same sender connected again."),
    ENDED_LOCALLY("connections", "Ended: this end was closed."),
    SESSIONS("sessions", "Connections on which both ends agreed to talk."),
    SESSIONS_ENDED("sessions", "Of these, connections that ended."),
    SENDERS_UNKNOWN("connections",
        "Connections of senders that are not configured at the receiver; refused, and part of ended_refused."),
    SENDERS_DOUBLED("connections",
        "Connections of senders whose id another process has that is connected; refused, and part of ended_refused."),
    MESSAGES_RECEIVED("messages", "Messages that were whole and verified."),
    MESSAGES_SENT("messages", "Messages handed to the connection."),
    OCTETS_RECEIVED("octets", "Octets received, before TLS."),
    OCTETS_SENT("octets", "Octets of messages sent, before TLS."),
    SETTINGS_SENT("messages", "Settings handed to senders."),
    SETTINGS_HELD("messages", "Settings that a sender said it would hold to; at the sender: that it holds to."),
    INTERVALS_COMPLETE("intervals", "Intervals that arrived whole, no packet dropped by the sender's point."),
    INTERVALS_DAMAGED("intervals", "Intervals that arrived whole, with packets dropped by the sender's point."),
    INTERVALS_DUPLICATE("intervals", "Intervals that had arrived before."),
    INTERVALS_LATE("intervals", "Intervals that arrived after their deadline."),
    INTERVALS_AHEAD("intervals", "Intervals too far ahead of the receiver's."),
    INTERVALS_REFUSED("intervals", "Intervals that could not be used: other settings, other sketches, or too large."),
    INTERVALS_CUT("intervals", "Intervals whose connection ended before they were whole."),
    INTERVALS_MISSING("intervals", "Intervals of a known sender that had not arrived by their deadline."),
    INTERVALS_OFFERED("intervals", "Intervals handed to the connector."),
    INTERVALS_TURNED_AWAY("intervals", "Intervals dropped before that: the connector did not keep up."),
    INTERVALS_ANSWERED("intervals", "Intervals that the receiver answered, whatever its verdict."),
    INTERVALS_RESENT("intervals", "Intervals shipped once more on a new connection."),
    INTERVALS_DROPPED("intervals", "Intervals dropped unanswered: too many or too many octets waited."),
    INTERVALS_EXPIRED("intervals", "Intervals dropped unanswered: they waited too long."),
    SEND_TIMES_OFFERED("send times", "Send times handed to the connector."),
    SEND_TIMES_TURNED_AWAY("send times", "Send times dropped before that: no room."),
    SEND_TIMES_DROPPED("send times", "Send times dropped because there was no session."),
    SEND_TIMES_SENT("send times", "Send times shipped."),
    SEND_TIMES_RECEIVED("send times", "Send times received."),
    SEND_TIMES_MISSING("send times", "Send times that a sender shipped and that never arrived."),
    CELL_OCTETS("octets", "Octets of sketches shipped, as encoded."),
    IMAGE_OCTETS("octets", "Octets of the same sketches as they are in memory."),
    SYNOPSIS_REQUESTS_SENT("requests", "Requests for the synopses or packets of an interval sent."),
    SYNOPSIS_REQUESTS_RECEIVED("requests", "Requests for the synopses or packets of an interval received."),
    SYNOPSIS_REQUESTS_DENIED("requests",
        "Of those received, requests for what this end does not have: too late, too large, or nothing is remembered."),
    SYNOPSIS_REQUESTS_EXCESS("requests",
        "Requests beyond the two of a kind that are answered for each interval and traffic class; they are denied."),
    SYNOPSES_SENT("synopses", "Synopses and lists of packets sent whole."),
    SYNOPSES_RECEIVED("synopses", "Synopses and lists of packets received whole."),
    SYNOPSES_REFUSED("synopses", "Synopsis answers refused: too long, out of order, or too late."),
    ENCODING_NS("ns", "Time spent on encoding intervals.");

    private final Text text;

    ExchangeCounter(final String unit, final String sentence) {
        text = new Text(name().toLowerCase(Locale.ROOT), unit, sentence);
    }

    @Override
    public Text text() {
        return text;
    }
}
