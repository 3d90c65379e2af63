package io.flowlag.exporter.monitoring;

import io.flowlag.common.counter.Counted;
import io.flowlag.common.http.MetricFamily.Type;
import io.flowlag.exporter.delay.exact.MatchCounter;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.exchange.link.ExchangeCounter;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.sender.SenderCounter;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Unit, kind and one sentence for each label of the statistics; those of {@link CounterId} describe themselves. An unknown label
 * is exported as untyped. Stateless.
 */
final class MetricCatalogue {
    /** A label of the statistics. The unit is empty where the label says it. */
    record Entry(String unit, Type type, String sentence) {
    }

    static final Entry UNKNOWN = new Entry("", Type.UNTYPED, "A figure of the delay stage, see --stats.");
    /** The last sentence of gauges. */
    private static final String NOW = " now.";
    private static final Map<String, Entry> DELAY_COUNTERS = new LinkedHashMap<>();
    private static final Map<String, Entry> GAUGES = new LinkedHashMap<>();
    private static final Map<String, String> REASONS = Map.of(
        "flowlag_refused_packets", "Packets whose headers were refused, by reason; they are not metered.",
        "flowlag_refused_references", "Packets refused as a reference and metered, by reason.",
        "flowlag_flows_ended", "Flow records made, by the reason why the flow ended.",
        "flowlag_exchange_ended_connections", "Connections of the exchange that ended, by reason.",
        "flowlag_exchange_refused_messages", "Messages of the exchange that were refused, by reason.");

    static {
        for (final Counted[] all : List.of(
            SenderCounter.values(), ReceiverCounter.values(), MatchCounter.values(), SketchCounter.values())) {
            for (final Counted each : all) {
                counter(each.label(), each.unit(), each.sentence());
            }
        }
        for (final ExchangeCounter each : ExchangeCounter.values()) {
            counter("exchange_" + each.label(), each.unit(), each.sentence());
        }
        counter("exchange_intervals_foreign", "intervals", "Intervals of a sender of another segment; they are not used.");
        counter("exchange_intervals_crowded", "intervals", "Intervals that found no room, for the metering thread is behind.");
        counter("exchange_intervals_incomplete", "parts", "Parts of an interval that another shard of this sender left out.");
        counter("exchange_intervals_unasked", "intervals", "Intervals that arrived after they were no longer requested.");
        counter("exchange_settings_unusable", "settings", "Settings of the receiver that this sender cannot follow.");
        counter("exchange_send_times_crowded", "packets", "Send times that found no room on the way to the metering thread.");
        counter("exchange_intervals_of_flows", "intervals", "Intervals shipped as the sums of every flow.");
        counter("exchange_clock_exchanges", "exchanges", "Exchanges of times with senders, by which clocks are compared.");
        counter("exchange_clock_reflections", "exchanges", "Exchanges with the STAMP reflector of clock.reflector.");
        counter("exchange_clock_packets_forth", "delays", "Least delays of packets from senders, by which clocks are compared.");
        counter("exchange_clock_packets_back", "delays", "The same of packets to senders, as those tell.");
        counter("exchange_clock_steps", "steps", "Times that a clock of this host or of a sender was set.");
        counter("exchange_clock_unclear_changes", "changes", "Changes of delays that may be steps of a clock.");
        counter("exchange_clock_path_changes", "changes", "Other paths of a sender's exchange, to or from it.");
        counter("exchange_mode_changes", "changes", "Changes between sketches and sums, mode auto.");
        counter("exchange_flow_sums_shipped", "flows", "Sums of flows shipped.");
        counter("exchange_flow_sums_overflow", "packets", "Packets of flows that found no room among the sums.");
        counter("exchange_synopses_unverified", "synopses", "Answers about synopses that are no image of one.");
        counter("reconcile_loss_flows", "flows", "Flow records with an exact loss by reconciliation, and matched packets.");
        counter("reconcile_loss_agreed", "flows", "Those of them where matching counted the same loss.");
        counter("send_times_used", "packets", "References that took the send time that was shipped.");
        counter("send_times_unused", "packets", "Send times shipped for references that did not wait for them.");
        counter("send_times_forgotten", "packets", "References whose send time no later one could carry: too many waited.");
        counter("passive_matched", "packets", "Packets that stand in for references, seen and with their send time.");
        counter("passive_refused", "packets", "Packets that could stand in and do not: twins, or outside the wait.");
        counter("passive_unsent", "packets", "Packets that may stand in, without a send time: rli.ceiling leaves out some.");
        counter("passive_unarrived", "packets", "Send times of packets that were not seen here.");
        counter("passive_forgotten", "packets", "Packets that stand in for which there was no room.");
        counter("passive_reordered", "packets", "Packets that stand in, known out of the order of arrival and left out.");
        counter("quantile_flows", "flows", "Flows that were given a distribution of their delays.");
        counter("quantile_flows_without_room", "flows", "Flows that earned a distribution and found no room.");
        counter("quantile_samples", "packets", "Packets sampled at both points whose delays are in distributions.");
        counter("compared_flows", "flows", "Flow records with means by all estimators, and matched packets.");
        counter("joint_flows", "flows", "Flow records with a joint mean.");
        counter("joint_bounded_flows", "flows", "Flow records with a joint mean that has a bound, and matched packets.");
        counter("joint_bounds_held", "flows", "Those of them where the matched mean lies within the bound.");
        counter("transmit_busy", "packets", "References that the socket had no room for.");
        counter("transmit_unreachable", "packets", "References to a target that cannot be reached.");
        counter("transmit_failed", "packets", "References that could not be sent for another reason.");
        counter("transmit_stamps", "packets", "References whose time of leaving the kernel told.");
        counter("transmit_stamps_missing", "packets", "References whose time of leaving did not come.");
        counter("transmit_stamps_strange", "packets", "Times of leaving that belong to no reference.");
        counter("match_flow_ended", "packets", "Matched packets whose flow had ended.");
        counter("bounded_flows", "flows", "Flow records with an interpolated mean that has a bound, and matched packets.");
        counter("bounds_held", "flows", "Those of them where the matched mean lies within the bound.");
        counter("lds_bounded_flows", "flows", "Flow records with a sketch mean that has a bound, and matched packets.");
        counter("lds_bounds_held", "flows", "Those of them where the matched mean lies within the bound.");
        counter("lds_rli_flows", "flows", "Flow records with two bounded means, by sketches and by references.");
        counter("lds_rli_agreed", "flows", "Those of them where the means differ by no more than both bounds.");

        gauge("match_share", "Share of flows that are matched, 1 where memory and time allow each of them.");
        gauge("match_wait_ns", "So long a sent packet is waited for: segment.max-delay, or longer where packets came later.");
        gauge("error_median_rli", "Median relative error of interpolated means against matched ones.");
        gauge("error_median_lds", "Median relative error of the sketches' means against matched ones.");
        gauge("error_median_joint", "Median relative error of joint means against matched ones.");
        gauge("utilization", "Utilization of the link as the schedule of references sees it; " +
            "above 1 while packets come faster than rli.capacity.");
        gauge("packets_per_reference", "Regular packets between two references, as the policy has it now.");
        gauge("reference_share", "Share of references in the octets of the link, 0 to 1.");
        gauge("stamp_correction_ns", "Learnt time between the stamp of a reference and its leaving.");
        gauge("stamp_error_ns", "Error of that correction.");
        gauge("serialisation_ns_per_byte", "Time that an octet takes on the link, as learnt or configured.");
        gauge("clock_offset_ns", "Clock of this host less that of the sender, as exchanges between them show it.");
        gauge("clock_offset_error_ns", "Largest error of that offset, half the least round trip included.");
        gauge("clock_offset_drift_ppb", "By how much that offset grows, ns a second.");
        gauge("reference_paths", "Paths of equal cost that references take; absent while one is known.");
        gauge("clock_drift_ppb", "Drift between the clocks of the two points.");
    }

    private MetricCatalogue() {
    }

    static Entry of(final CounterId id) {
        final boolean isGauge = id == CounterId.RECORDS_WAITING;
        return new Entry(id.unit(), isGauge ? Type.GAUGE : Type.COUNTER, id.sentence());
    }

    static Entry delayCounter(final String label) {
        return DELAY_COUNTERS.getOrDefault(plain(label), UNKNOWN);
    }

    static Entry gauge(final String label) {
        return GAUGES.getOrDefault(plain(label), UNKNOWN);
    }

    /** {@return every known counter of the delay stage, by its label without class and session} */
    static Map<String, Entry> delayCounters() {
        return DELAY_COUNTERS;
    }

    /** {@return every known gauge of the delay stage, by its label without class and session} */
    static Map<String, Entry> gauges() {
        return GAUGES;
    }

    /** A metric with reasons has one sentence for all of them. */
    static String help(final String name, final String sentence) {
        return REASONS.getOrDefault(name, sentence);
    }

    private static String plain(final String label) {
        if (label.startsWith("exchange_refused_")) {
            return "exchange_ended_refused";
        }
        return label.replaceFirst("_(session_[0-9]+|segment_([0-9]+|none))", "").replaceFirst("_class_[0-9]+$", "");
    }

    private static void counter(final String label, final String unit, final String sentence) {
        DELAY_COUNTERS.put(label, new Entry(unit, sentence.endsWith(NOW) ? Type.GAUGE : Type.COUNTER, sentence));
    }

    private static void gauge(final String label, final String sentence) {
        GAUGES.put(label, new Entry("", Type.GAUGE, sentence));
    }
}
