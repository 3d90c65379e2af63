package io.flowlag.exporter.status;

import io.flowlag.common.counter.Counted;

import java.util.Locale;

/**
 * Every counter of the process that is not per destination: its label (as in {@code --stats} and the metrics), its unit and one
 * sentence. A constant appears by itself in the statistics, the metrics and their list, the log and the status file.
 * {@link AccountingIdentity} sums them.
 */
public enum CounterId implements Counted {
    CAPTURED("packets", "Packets that arrived: read from the sources or lost in the kernel before that."),
    LOST_IN_KERNEL("packets", "Packets that the kernel lost before the process could read them."),
    FILTERED("packets", "Packets kept back by a filter inside the process."),
    NOT_SAMPLED("packets", "Packets that metering.sample-packets or metering.sample-flows leaves out."),
    DECODED("packets", "Packets whose headers were understood."),
    REFUSED_LINK_TYPE("packets", "Refused: link-layer type not supported."),
    REFUSED_NOT_IP("packets", "Refused: the frame carries no IP (ARP, STP, LLDP and others)."),
    REFUSED_LINK_TRUNCATED("packets", "Refused: cut inside the link-layer header or its tags."),
    REFUSED_LINK_MALFORMED("packets", "Refused: link-layer header contradicts itself or nests too deep."),
    REFUSED_IP_TRUNCATED("packets", "Refused: cut inside the IP header."),
    REFUSED_IP_VERSION("packets", "Refused: IP version is not what the link layer announced."),
    REFUSED_IP_HEADER_LENGTH("packets", "Refused: IP header length is impossible."),
    REFUSED_IP_TOTAL_LENGTH("packets", "Refused: IP total length is shorter than the header."),
    REFUSED_IPV6_EXTENSION("packets", "Refused: chain of IPv6 extension headers too long or broken."),
    TUNNEL_BROKEN("packets",
        "Decoded by the header found last: the inner packet was asked for, and its tunnel is broken or nests too deep."),
    TRANSPORT_TRUNCATED("packets", "Decoded with ports, TCP control bits or ICMP type 0: the transport header is cut."),
    IGNORED_OCTETS("octets", "Octets on the wire of the packets that were refused."),
    FRAGMENT_PORTS_FOUND("packets", "Later fragments that were given the first fragment's ports."),
    FRAGMENT_PORTS_UNKNOWN("packets", "Later fragments whose first fragment was not seen or was forgotten."),
    TIMESTAMP_CLAMPED("packets", "Packets whose timestamp is before November 1823 or after February 2116 and was clamped."),
    TIME_BACKWARDS("packets", "Packets with a timestamp before the newest one seen from their source."),
    CLOCK_SET_BACK("steps", "The host's clock was set back by more than a second; each thread that captures counts it."),
    CLOCK_STEPPED("steps",
        "The host's clock moved by more than 10 ms against the time since boot: loss is absent in the intervals around; each " +
        "thread that captures counts it."),
    KERNEL_STAMPED("packets", "Packets with the kernel's timestamp although capture.hardware-timestamps asks for the card's."),
    DIGEST_SHORT("packets", "Packets cut before the octets that their digest covers."),
    OWN_TRAFFIC("packets", "Packets of the process's own export and exchange, kept out of the flows."),
    REFERENCES_TOO_SHORT("packets", "Refused as a reference and metered: cut, or shorter than a STAMP test packet."),
    REFERENCES_UNKNOWN_SESSION("packets", "Refused as a reference and metered: session identifier is not configured."),
    REFERENCES_WRONG_SOURCE("packets", "Refused as a reference and metered: source address is not that of the session."),
    REFERENCES_BAD_MAC("packets", "Refused as a reference and metered: HMAC is wrong, forged or damaged."),
    REFERENCES_UNCHECKED("packets", "Refused as a reference and metered: not the next one, in a flood of wrong HMACs."),
    REFERENCES_BAD_EXTENSION("packets", "Refused as a reference and metered: TLVs are malformed."),
    REFERENCES_BAD_EXTENSION_MAC("packets", "Refused as a reference and metered: HMAC of the TLVs is missing or wrong."),
    REFERENCES_WRONG_TIMESTAMP_FORMAT("packets", "Refused as a reference and metered: timestamp is in PTP format, not NTP."),
    REFERENCES_LATE("packets",
        "Refused as a reference and metered: timestamp older than the maximum delay, or number below the replay window."),
    REFERENCES_EARLY("packets", "Refused as a reference and metered: timestamp is in the future by more than clocks may differ."),
    REFERENCES_REPLAYED("packets",
        "Refused as a reference and metered: sequence number seen before, replayed or duplicated on the way."),
    REFERENCE_PACKETS("packets", "Verified reference packets, kept out of the flows."),
    DROPPED_AT_PACKET_RING("packets", "Decoded packets dropped because the ring to the metering stage was full."),
    SENDER_POINT("packets", "Packets of the sender point, which are measured there and metered at the receiver point."),
    OUTSIDE_SEGMENT("packets", "Packets metered but not measured, because the segment does not select them."),
    SENDER_OUTSIDE_SEGMENT("packets",
        "Packets of the sender point that the segment does not select: they count for the utilization alone."),
    OVERSIZE("packets", "Packets metered but not measured, because offload joined them to more than the link carries."),
    SENDER_OVERSIZE("packets",
        "Packets of the sender point that offload joined to more than the link carries: they count for the utilization alone."),
    METERED("packets", "Packets counted in a flow."),
    METERED_OCTETS("octets", "IP octets counted in a flow."),
    FLOWS_CREATED("flows", "Flow entries created."),
    FLOWS_TAKEN_UP("flows", "Flows restored from the checkpoint of an earlier process."),
    FLOWS_PERHAPS_DOUBLED("flows",
        "Restored flows whose records may have left before the crash: a collector may receive them twice."),
    CHECKPOINT_ENTRIES_REFUSED("flows", "Entries of the checkpoint that make no sense and were left out."),
    CHECKPOINT_FLOWS_WRITTEN("flows", "Flows written to the checkpoint."),
    CHECKPOINT_FLOWS_FORGOTTEN("flows",
        "Flows that ended and were taken out of the checkpoint before their records had left: too many records wait."),
    CHECKPOINT_ROUNDS("rounds", "Rounds of the checkpoint that are complete."),
    CHECKPOINT_FAILURES("failures", "Times that the checkpoint's file could not be written and a new one was begun."),
    FLOWS_ENDED_IDLE("flows", "Flow records made by the idle timeout."),
    FLOWS_ENDED_ACTIVE("flows", "Flow records made by the active timeout."),
    FLOWS_ENDED_END_OF_FLOW("flows", "Flow records made after TCP FIN or RST."),
    FLOWS_ENDED_FORCED("flows", "Flow records made at the end of the input or of the process."),
    FLOWS_ENDED_LACK_OF_RESOURCES("flows", "Flow records made early because the cache was full."),
    RECORDS_BIFLOW("records", "Flow records of both directions of a conversation."),
    RECORDS_MADE("records", "Flow records handed to the exporting stage or dropped before it."),
    RECORDS_WAITING("records", "Flow records that wait for the end of their measurement interval."),
    DROPPED_AT_RECORD_RING("records", "Flow records dropped because the ring to the exporting stage was full."),
    DROPPED_AT_RECORD_RING_PACKETS("packets",
        "Packets of the flow records dropped at the ring to the exporting stage."),
    DROPPED_AT_RECORD_RING_OCTETS("octets",
        "IP octets of the flow records dropped at the ring to the exporting stage."),
    RECORDS_TAKEN("records", "Flow records that the exporting stage took."),
    RECORDS_WITHOUT_GROUP("records",
        "Flow records sent without some of their element groups, because as many templates as may be are in use."),
    INTERVAL_SUMMARIES_SKIPPED("intervals",
        "Measurement intervals not reported to a destination: too many had ended since, or it ended before."),
    ERRORS("errors", "Unexpected exceptions caught by a stage; the log has each distinct one once.");

    private static final CounterId[] ALL = values();

    private final Text text;
    private final boolean isRefusal;

    CounterId(final String unit, final String sentence) {
        text = new Text(name().toLowerCase(Locale.ROOT), unit, sentence);
        isRefusal = label().startsWith("refused_");
    }

    @Override
    public Text text() {
        return text;
    }

    /** {@return number of counters} */
    public static int count() {
        return ALL.length;
    }

    /** The counter with an ordinal, 0 to {@link #count()} - 1; does not allocate. */
    public static CounterId of(final int ordinal) {
        return ALL[ordinal];
    }

    /** {@return whether this is one of the decoder's refusals} */
    public boolean isRefusal() {
        return isRefusal;
    }
}
