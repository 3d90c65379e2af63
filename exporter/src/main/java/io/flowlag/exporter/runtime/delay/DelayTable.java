package io.flowlag.exporter.runtime.delay;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.listing.RowTable;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.StatisticsWriter;

import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** Prints the totals below the flows: a line for the estimates and the references of each class, and sums. */
public final class DelayTable {
    /** An unknown value. */
    static final String ABSENT = "-";

    private static final String ROW = "%-5s %-10s %10s %10s %10s %10s %10s %10s %10s %10s %10s %10s%n";
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;

    private DelayTable() {
    }

    /** Prints the table of every class and estimator that has delays. */
    public static void print(final DelayStatistics delay, final PrintStream out) {
        final boolean hasSummary = delay.total().stream()
            .anyMatch((each) -> each.delays().count() > 0 || each.references().count() > 0);
        if (hasSummary) {
            out.printf(Locale.ROOT, "%n" + ROW, "class", "delays", "count", "mean_us", "sd_us", "min_us", "p50_us", "p90_us",
                "p99_us", "p99.9_us", "max_us", "pdv_us");
        }
        for (final DelaySummary each : delay.total()) {
            print(each, "matched", each.matched(), out);
            print(each, "estimates", each.estimates(), out);
            print(each, "references", each.references(), out);
        }
        if (!delay.sketches().isEmpty()) {
            DelayTableSketches.print(delay, out);
        }
        final Map<String, Long> counters = delay.counters();
        out.println();
        if (counters.containsKey("rli_packets")) {
            out.printf(Locale.ROOT, "%d of %d packets have an estimate; %d references, %d lost (policy %s)%n",
                counters.get("rli_estimated"), counters.get("rli_packets"), counters.get("rli_references"),
                counters.get("rli_references_lost"), delay.policy());
        }
        if (counters.getOrDefault("references_held_by_ceiling", 0L) > 0) {
            out.printf(Locale.ROOT, "%d of %d references had to wait for rli.ceiling: there are fewer than the policy asks for%n",
                counters.get("references_held_by_ceiling"), counters.get("references_sent"));
        }
        final long undecided = Stream.of(
            "match_sent_undecided", "match_received_undecided", "match_sent_overflow", "match_received_overflow")
            .mapToLong((each) -> counters.getOrDefault(each, 0L)).sum();
        if (counters.containsKey("match_sent")) {
            out.printf(Locale.ROOT,
                "%d packets sent, %d received: %d matched, %d lost, %d duplicates, %d unexpected, %d undecided%n",
                counters.get("match_sent"), counters.get("match_received"), counters.get("match_matched"),
                counters.get("match_lost"), counters.get("match_duplicates"), counters.get("match_unexpected"), undecided);
        }
        if (counters.getOrDefault("match_not_of_segment", 0L) > 0) {
            out.printf(Locale.ROOT,
                "%d packets are of %d flows of which nothing arrived: lost, or not part of this segment; they count as lost " +
                "if you name what passes both points (--set segment.destination=PREFIX)%n",
                counters.get("match_not_of_segment"), counters.get("match_flows_unseen"));
        }
        line(out, "%d undecided packets were sent or came where one capture begins or ends, are of flows whose packets an " +
            "offload joined, or found no room (segment.exact-packets): whether they were lost is not known%n", undecided);
        line(out, "%d packets were cut too short to be matched: they count as neither matched nor lost%n",
            counters.getOrDefault("match_sent_digest_short", 0L) + counters.getOrDefault("match_received_digest_short", 0L));
        if (counters.getOrDefault("match_lost_of_unseen_flows", 0L) > 0) {
            out.printf(Locale.ROOT, "%d of the lost packets are of %d flows that the receiver point never saw%s%n",
                counters.get("match_lost_of_unseen_flows"), counters.get("match_flows_unseen"),
                counters.getOrDefault("reconcile_flows_unseen", 0L) > 0 ? "" : ": they have no record");
        }
        share(out, "interpolated mean within its 95 %% bound of the matched mean: %.1f %% of %d flows%n",
            counters.getOrDefault("bounds_held", 0L), counters.getOrDefault("bounded_flows", 0L));
    }

    /** Prints the longest delay waited for, and connections measured in both directions. */
    static void printCaptures(
        final ExporterConfig config, final CaptureFacts facts, final SegmentFlows flows, final PrintStream out) {
        final double milliseconds = config.segment().maximumDelayNs() / NANOS_PER_MILLI;
        out.printf(Locale.ROOT, milliseconds < 1 ? "a packet counts as lost after %.3f ms (max-delay%s)%n" :
                "a packet counts as lost after %.1f ms (max-delay%s)%n",
            milliseconds, config.isDefault(ConfigTable.MAXIMUM_DELAY) ? ", derived from these captures" : "");
        line(out, "%d of the lost packets were sent after the last record of their flow: they are in no row%n",
            flows == null ? 0 : takeLostBehindRecords(flows));
        if (facts.sides() != null) {
            RoundTrips.print(flows, facts.sides(), out);
        }
    }

    /** Prints the totals as an object in one line, for programs that read the flows so. */
    static void printJson(
        final DelayStatistics delay, final ExporterConfig config, final SegmentFlows flows, final PrintStream out) {
        final Map<String, Object> totals = new LinkedHashMap<>();
        totals.put("_totals", true);
        totals.put("max_delay_ns", config.segment().maximumDelayNs());
        totals.put("lost_in_no_row", flows == null ? null : takeLostBehindRecords(flows));
        totals.put("delay", delay);
        try {
            out.print(StatisticsWriter.mapper().writeValueAsString(totals) + '\n');
        } catch (final JsonProcessingException ex) {
            throw new UncheckedIOException(ex);
        }
        out.flush();
    }

    private static long takeLostBehindRecords(final SegmentFlows flows) {
        long packets = 0;
        for (int flow = 0; flow < flows.limit(); flow++) {
            packets += flows.isLive(flow) && flows.received(flow) > 0 ? flows.takeLost(flow) : 0;
        }
        return packets;
    }

    private static void line(final PrintStream out, final String text, final long count) {
        if (count > 0) {
            out.printf(Locale.ROOT, text, count);
        }
    }

    private static void print(
        final DelaySummary summary, final String name, final DelayDistribution delays, final PrintStream out) {
        if (delays.count() > 0) {
            out.printf(Locale.ROOT, ROW, trafficClass(summary.dscp()) + (summary.senderIndex() == 0 ? "" : "<"), name,
                delays.count(), micros(delays.meanNs()), micros(delays.standardDeviationNs()), micros(delays.minimumNs()),
                quantile(delays.p50Ns(), delays), quantile(delays.p90Ns(), delays), quantile(delays.p99Ns(), delays),
                quantile(delays.p999Ns(), delays), micros(delays.maximumNs()), quantile(delays.delayVariationNs(), delays));
        }
    }

    private static String quantile(final Long valueNs, final DelayDistribution delays) {
        return RowTable.quantile(valueNs, delays.maximumNs());
    }

    /** Prints a line on a share of flows, if there are any; the text takes the percentage, then all flows. */
    static void share(final PrintStream out, final String text, final long part, final long whole) {
        if (whole > 0) {
            out.printf(Locale.ROOT, text, 100.0 * part / whole, whole);
        }
    }

    /** {@return a traffic class as text; negative is all packets} */
    static String trafficClass(final int dscp) {
        return dscp < 0 ? "all" : Integer.toString(dscp);
    }

    /** {@return a time in microseconds} */
    static String micros(final Long valueNs) {
        return valueNs == null ? ABSENT : String.format(Locale.ROOT, "%.3f", valueNs / NANOS_PER_MICRO);
    }
}
