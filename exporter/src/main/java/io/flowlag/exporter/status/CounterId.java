package io.flowlag.exporter.status;

/**
 * Every counter of the process that is not per destination: its label (as in {@code --stats} and the metrics), its unit and one
 * sentence. {@link AccountingIdentity} sums them.
 */
public enum CounterId {
    /** Packets that arrived: read from the sources or lost in the kernel before that. */
    CAPTURED("captured", "packets",
        "Packets that arrived: read from the sources or lost in the kernel before that."),
    /** Packets that the kernel lost before the process could read them. */
    LOST_IN_KERNEL("lost_in_kernel", "packets",
        "Packets that the kernel lost before the process could read them."),
    /** Packets rejected by a filter inside the process. */
    FILTERED("filtered", "packets",
        "Packets kept back by a filter inside the process."),
    /** Decoded packets. */
    DECODED("decoded", "packets",
        "Packets whose headers were understood."),
    /** Refused: link-layer type not supported. */
    REFUSED_LINK_TYPE("refused_link_type", "packets",
        "Refused: link-layer type not supported."),
    /** Refused: the frame carries no IP (ARP, STP, LLDP and others). */
    REFUSED_NOT_IP("refused_not_ip", "packets",
        "Refused: the frame carries no IP (ARP, STP, LLDP and others)."),
    /** Refused: cut inside the link-layer header or its tags. */
    REFUSED_LINK_TRUNCATED("refused_link_truncated", "packets",
        "Refused: cut inside the link-layer header or its tags."),
    /** Refused: link-layer header contradicts itself or nests too deep. */
    REFUSED_LINK_MALFORMED("refused_link_malformed", "packets",
        "Refused: link-layer header contradicts itself or nests too deep."),
    /** Refused: cut inside the IP header. */
    REFUSED_IP_TRUNCATED("refused_ip_truncated", "packets",
        "Refused: cut inside the IP header."),
    /** Refused: IP version is not what the link layer announced. */
    REFUSED_IP_VERSION("refused_ip_version", "packets",
        "Refused: IP version is not what the link layer announced."),
    /** Refused: IP header length is impossible. */
    REFUSED_IP_HEADER_LENGTH("refused_ip_header_length", "packets",
        "Refused: IP header length is impossible."),
    /** Refused: IP total length is shorter than the header. */
    REFUSED_IP_TOTAL_LENGTH("refused_ip_total_length", "packets",
        "Refused: IP total length is shorter than the header."),
    /** Refused: chain of IPv6 extension headers too long or broken. */
    REFUSED_IPV6_EXTENSION("refused_ipv6_extension", "packets",
        "Refused: chain of IPv6 extension headers too long or broken."),
    /** Metered by the last header found: the inner packet was requested, but its tunnel is damaged or nested too deep. */
    TUNNEL_BROKEN("tunnel_broken", "packets",
        "Metered by the header found last: the inner packet was asked for, and its tunnel is broken or nests too deep."),
    /** Metered with ports, TCP control bits or ICMP type 0: the transport header is cut. */
    TRANSPORT_TRUNCATED("transport_truncated", "packets",
        "Metered with ports, TCP control bits or ICMP type 0: the transport header is cut."),
    /** Octets on the wire of the packets that were refused. */
    IGNORED_OCTETS("ignored_octets", "octets",
        "Octets on the wire of the packets that were refused."),
    /** Later fragments that received the first fragment's ports. */
    FRAGMENT_PORTS_FOUND("fragment_ports_found", "packets",
        "Later fragments that were given the first fragment's ports."),
    /** Later fragments whose first fragment was not seen or is forgotten. */
    FRAGMENT_PORTS_UNKNOWN("fragment_ports_unknown", "packets",
        "Later fragments whose first fragment was not seen or was forgotten."),
    /** Packets whose timestamp is before November 1823 or after February 2116 and was clamped. */
    TIMESTAMP_CLAMPED("timestamp_clamped", "packets",
        "Packets whose timestamp is before November 1823 or after February 2116 and was clamped."),
    /** Packets with a timestamp before the newest one seen from their source. */
    TIME_BACKWARDS("time_backwards", "packets",
        "Packets with a timestamp before the newest one seen from their source."),
    /** The host's clock was set back by more than a second; each thread that captures counts it. */
    CLOCK_SET_BACK("clock_set_back", "steps",
        "The host's clock was set back by more than a second; each thread that captures counts it."),
    /** Packets with the kernel's timestamp although capture.hardware-timestamps asks for the card's. */
    KERNEL_STAMPED("kernel_stamped", "packets",
        "Packets with the kernel's timestamp although capture.hardware-timestamps asks for the card's."),
    /** Packets cut before the octets that their digest covers. */
    DIGEST_SHORT("digest_short", "packets",
        "Packets cut before the octets that their digest covers."),
    /** Packets of the process's own export and exchange, kept out of the flows. */
    OWN_TRAFFIC("own_traffic", "packets",
        "Packets of the process's own export and exchange, kept out of the flows."),
    /** Refused as a reference and metered: cut, or shorter than a STAMP test packet. */
    REFERENCES_TOO_SHORT("references_too_short", "packets",
        "Refused as a reference and metered: cut, or shorter than a STAMP test packet."),
    /** Refused as a reference and metered: session identifier is not configured. */
    REFERENCES_UNKNOWN_SESSION("references_unknown_session", "packets",
        "Refused as a reference and metered: session identifier is not configured."),
    /** Refused as a reference and metered: source address is not that of the session. */
    REFERENCES_WRONG_SOURCE("references_wrong_source", "packets",
        "Refused as a reference and metered: source address is not that of the session."),
    /** Refused as a reference and metered: HMAC is wrong, forged or damaged. */
    REFERENCES_BAD_MAC("references_bad_mac", "packets",
        "Refused as a reference and metered: HMAC is wrong, forged or damaged."),
    /** Refused as a reference and metered: TLVs are malformed. */
    REFERENCES_BAD_EXTENSION("references_bad_extension", "packets",
        "Refused as a reference and metered: TLVs are malformed."),
    /** Refused as a reference and metered: HMAC of the TLVs is missing or wrong. */
    REFERENCES_BAD_EXTENSION_MAC("references_bad_extension_mac", "packets",
        "Refused as a reference and metered: HMAC of the TLVs is missing or wrong."),
    /** Refused as a reference and metered: timestamp is in PTP format, not NTP. */
    REFERENCES_WRONG_TIMESTAMP_FORMAT("references_wrong_timestamp_format", "packets",
        "Refused as a reference and metered: timestamp is in PTP format, not NTP."),
    /** Refused as a reference and metered: timestamp older than the maximum delay, or number below the replay window. */
    REFERENCES_LATE("references_late", "packets",
        "Refused as a reference and metered: timestamp older than the maximum delay, or number below the replay window."),
    /** Refused as a reference and metered: timestamp is in the future by more than clocks may differ. */
    REFERENCES_EARLY("references_early", "packets",
        "Refused as a reference and metered: timestamp is in the future by more than clocks may differ."),
    /** Refused as a reference and metered: sequence number seen before, replayed or duplicated on the way. */
    REFERENCES_REPLAYED("references_replayed", "packets",
        "Refused as a reference and metered: sequence number seen before, replayed or duplicated on the way."),
    /** Verified reference packets, kept out of the flows. */
    REFERENCE_PACKETS("reference_packets", "packets",
        "Verified reference packets, kept out of the flows."),
    /** Decoded packets dropped because the ring to the metering stage was full. */
    DROPPED_AT_PACKET_RING("dropped_at_packet_ring", "packets",
        "Decoded packets dropped because the ring to the metering stage was full."),
    /** Packets of the sender point, which are measured there and metered at the receiver point. */
    SENDER_POINT("sender_point", "packets",
        "Packets of the sender point, which are measured there and metered at the receiver point."),
    /** Packets metered but not measured, because the segment does not select them. */
    OUTSIDE_SEGMENT("outside_segment", "packets",
        "Packets metered but not measured, because the segment does not select them."),
    /** Packets of the sender point that the segment does not select: they count for the utilization alone. */
    SENDER_OUTSIDE_SEGMENT("sender_outside_segment", "packets",
        "Packets of the sender point that the segment does not select: they count for the utilization alone."),
    /** Packets metered but not measured, because offload joined them to more than the link carries. */
    OVERSIZE("oversize", "packets",
        "Packets metered but not measured, because offload joined them to more than the link carries."),
    /** Packets of the sender point that offload joined to more than the link carries: they count for the utilization alone. */
    SENDER_OVERSIZE("sender_oversize", "packets",
        "Packets of the sender point that offload joined to more than the link carries: they count for the utilization alone."),
    /** Packets counted in a flow. */
    METERED("metered", "packets",
        "Packets counted in a flow."),
    /** IP octets counted in a flow. */
    METERED_OCTETS("metered_octets", "octets",
        "IP octets counted in a flow."),
    /** Flow entries created. */
    FLOWS_CREATED("flows_created", "flows",
        "Flow entries created."),
    /** Flows restored from the checkpoint of a former process. */
    FLOWS_TAKEN_UP("flows_taken_up", "flows",
        "Flows of a former life of the process, taken up from the checkpoint."),
    /** Restored flows whose records were made shortly before the crash; a collector may have them twice. */
    FLOWS_PERHAPS_DOUBLED("flows_perhaps_doubled", "flows",
        "Flows taken up whose records had been made shortly before the crash: a collector may have them twice."),
    /** Entries of the checkpoint that make no sense and were left out. */
    CHECKPOINT_ENTRIES_REFUSED("checkpoint_entries_refused", "flows",
        "Entries of the checkpoint that make no sense and were left out."),
    /** Flows written to the checkpoint. */
    CHECKPOINT_FLOWS_WRITTEN("checkpoint_flows_written", "flows",
        "Flows written to the checkpoint."),
    /** Ended flows removed from the checkpoint before their records had left, because too many records wait. */
    CHECKPOINT_FLOWS_FORGOTTEN("checkpoint_flows_forgotten", "flows",
        "Flows that ended and were taken out of the checkpoint before their records had left: too many records wait."),
    /** Rounds of the checkpoint that are complete. */
    CHECKPOINT_ROUNDS("checkpoint_rounds", "rounds",
        "Rounds of the checkpoint that are complete."),
    /** Failed writes of the checkpoint's file, each followed by a new file. */
    CHECKPOINT_FAILURES("checkpoint_failures", "failures",
        "Times that the checkpoint's file could not be written and a new one was begun."),
    /** Flow records made by the idle timeout. */
    FLOWS_ENDED_IDLE("flows_ended_idle", "flows",
        "Flow records made by the idle timeout."),
    /** Flow records made by the active timeout. */
    FLOWS_ENDED_ACTIVE("flows_ended_active", "flows",
        "Flow records made by the active timeout."),
    /** Flow records made after TCP FIN or RST. */
    FLOWS_ENDED_END_OF_FLOW("flows_ended_end_of_flow", "flows",
        "Flow records made after TCP FIN or RST."),
    /** Flow records made at the end of the input or of the process. */
    FLOWS_ENDED_FORCED("flows_ended_forced", "flows",
        "Flow records made at the end of the input or of the process."),
    /** Flow records made early because the cache was full. */
    FLOWS_ENDED_LACK_OF_RESOURCES("flows_ended_lack_of_resources", "flows",
        "Flow records made early because the cache was full."),
    /** Flow records handed to the exporting stage or dropped before it. */
    RECORDS_MADE("records_made", "records",
        "Flow records handed to the exporting stage or dropped before it."),
    /** Flow records that wait for the end of their measurement interval. */
    RECORDS_WAITING("records_waiting", "records",
        "Flow records that wait for the end of their measurement interval."),
    /** Flow records dropped because the ring to the exporting stage was full. */
    DROPPED_AT_RECORD_RING("dropped_at_record_ring", "records",
        "Flow records dropped because the ring to the exporting stage was full."),
    /** Packets of the flow records dropped at the ring to the exporting stage. */
    RECORD_RING_PACKETS("dropped_at_record_ring_packets", "packets",
        "Packets of the flow records dropped at the ring to the exporting stage."),
    /** IP octets of the flow records dropped at the ring to the exporting stage. */
    RECORD_RING_OCTETS("dropped_at_record_ring_octets", "octets",
        "IP octets of the flow records dropped at the ring to the exporting stage."),
    /** Flow records that the exporting stage took. */
    RECORDS_TAKEN("records_taken", "records",
        "Flow records that the exporting stage took."),
    /** Flow records sent without some of their element groups, because the limit of templates is reached. */
    RECORDS_WITHOUT_GROUP("records_without_group", "records",
        "Flow records sent without some of their element groups, because as many templates as may be are in use."),
    /** Measurement intervals not reported to a destination: too many had ended since, or it ended before. */
    INTERVAL_SUMMARIES_SKIPPED("interval_summaries_skipped", "intervals",
        "Measurement intervals that a destination was not told of: too many had ended since, or it ended before."),
    /** Unexpected exceptions caught by a stage; the log has each distinct one once. */
    ERRORS("errors", "errors",
        "Unexpected exceptions caught by a stage; the log has each distinct one once.");

    private static final CounterId[] ALL = values();

    private final String label;
    private final String unit;
    private final String description;

    CounterId(final String label, final String unit, final String description) {
        this.label = label;
        this.unit = unit;
        this.description = description;
    }

    /** {@return the name outside the process, in snake case} */
    public String label() {
        return label;
    }

    /** {@return the unit} */
    public String unit() {
        return unit;
    }

    /** {@return a description in one sentence} */
    public String description() {
        return description;
    }

    /** {@return number of counters} */
    public static int count() {
        return ALL.length;
    }

    /**
     * The counter with an ordinal; does not allocate.
     *
     * @param ordinal 0 to {@link #count()} - 1.
     */
    public static CounterId of(final int ordinal) {
        return ALL[ordinal];
    }

    /** {@return whether this is one of the decoder's refusals} */
    public boolean isRefusal() {
        return label.startsWith("refused_");
    }
}
