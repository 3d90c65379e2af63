package io.flowlag.exporter.runtime.delay;

import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SketchStatistics;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static io.flowlag.exporter.runtime.delay.DelayTable.ABSENT;
import static io.flowlag.exporter.runtime.delay.DelayTable.micros;
import static io.flowlag.exporter.runtime.delay.DelayTable.share;
import static io.flowlag.exporter.runtime.delay.DelayTable.trafficClass;

/** Prints the totals by sketches: aggregators next to references by class, and those of the last interval. */
final class DelayTableSketches {
    private static final String ROW = "%-5s %12s %12s %12s %12s %12s %12s%n";

    private DelayTableSketches() {
    }

    static void print(final DelayStatistics delay, final PrintStream out) {
        final SketchStatistics sketches = delay.sketches().get(0);
        out.println();
        printHeader(out, "lda", delay);
        final List<AggregateDelay> total = sketches.total();
        for (int i = 0; i < total.size(); i++) {
            print(total.get(i), i < delay.total().size() ? delay.total().get(i) : null, out);
        }
        printReconciled(delay, out);
        if (sketches.startNs() != null) {
            out.printf(Locale.ROOT, "last interval: %d of %d cells usable, %s missing packets of no known flow, largest flows:%n",
                sketches.usableCells(), sketches.occupiedCells(),
                sketches.unexplainedLost() == null ? "an unknown number of" : sketches.unexplainedLost().toString());
            for (final HeavyFlow each : sketches.heavyFlows()) {
                out.printf(Locale.ROOT, "%10d packets  %s:%d -> %s:%d protocol %d%n", each.packets(), each.source(),
                    each.sourcePort(), each.destination(), each.destinationPort(), each.protocol());
            }
        }
        if (sketches.weightWarning() != null) {
            out.println("lds.weights: " + sketches.weightWarning());
        }
        final Map<String, Long> counters = delay.counters();
        out.printf(Locale.ROOT, "sketches (%s, %d octets): %d intervals compared, %d damaged, %d cut, %d without an answer%n",
            sketches.geometry(), sketches.memoryBytes(), counters.get("lds_intervals"), counters.get("lds_intervals_damaged"),
            counters.get("lds_intervals_cut"), counters.get("lds_intervals_unanswered"));
        share(out, "sketches: mean within its 95 %% bound of the matched mean: %.1f %% of %d flows%n",
            counters.get("lds_bounds_held"), counters.get("lds_bounded_flows"));
        printJoint(out, delay, counters);
        share(out, "sketches and references agree within their bounds for %.1f %% of %d flows%n",
            counters.get("lds_rli_agreed"), counters.get("lds_rli_flows"));
    }

    /** Sums of packets do not distinguish lost packets from those of another segment. */
    private static void printHeader(final PrintStream out, final String sketch, final DelayStatistics delay) {
        out.printf(Locale.ROOT, ROW, "class", sketch + "_samples", sketch + "_mean_us", sketch + "_sd_us", "rli_mean_us",
            "rli_sd_us", delay.counters().getOrDefault("match_not_of_segment", 0L) > 0 ? "missing" : "lost");
    }

    private static void printReconciled(final DelayStatistics delay, final PrintStream out) {
        final ReconcileStatistics reconciled = delay.sketches().get(0).reconcile();
        if (reconciled == null) {
            return;
        }
        printHeader(out, "rda", delay);
        for (int i = 0; i < reconciled.total().size(); i++) {
            print(reconciled.total().get(i), i < delay.total().size() ? delay.total().get(i) : null, out);
        }
        final Map<String, Long> counters = delay.counters();
        out.printf(Locale.ROOT,
            "reconciled: %d intervals, %d whole; %d lost packets and %d unexpected ones listed, %d of them of no known flow; " +
            "%d octets to exchange%n",
            counters.get("reconcile_intervals"), counters.get("reconcile_complete"),
            Math.max(0, counters.get("reconcile_lost") - counters.get("lds_not_of_segment")),
            counters.get("reconcile_unexpected"), counters.get("reconcile_lost_unnamed"), counters.get("reconcile_octets"));
        if (counters.get("reconcile_remarked") > 0) {
            out.printf(Locale.ROOT,
                "reconciled: marks (DSCP) change between the points: %d packets have another class at the receiver point, and " +
                "count in the one that they were sent in%n", counters.get("reconcile_remarked"));
        }
        share(out, "reconciled: loss equals that of matching for %.1f %% of %d flow records%n",
            counters.get("reconcile_loss_agreed"), counters.get("reconcile_loss_flows"));
    }

    private static void printJoint(
        final PrintStream out, final DelayStatistics delay, final Map<String, Long> counters) {
        final long solved = counters.get("joint_intervals");
        if (solved > 0) {
            out.printf(Locale.ROOT,
                "joint: %d intervals (%d fast, %d by references alone, %d by sketches alone), %d not solved; %d witness flows, " +
                "bounds for %d of %d flows%n",
                solved, counters.get("joint_intervals_fast"), counters.get("joint_intervals_by_rli"),
                counters.get("joint_intervals_by_lds"),
                counters.get("joint_intervals_skipped") + counters.get("joint_intervals_too_large") +
                counters.get("joint_intervals_unknown"),
                counters.get("joint_witnesses"), counters.get("joint_vouched"), counters.get("joint_answered"));
            if (counters.get("compared_flows") > 0) {
                out.printf(Locale.ROOT,
                    "median error of %d flows against matching: references %.2f %%, sketches %.2f %%, joint %.2f %%%n",
                    counters.get("compared_flows"), percent(delay, "error_median_rli"), percent(delay, "error_median_lds"),
                    percent(delay, "error_median_joint"));
            }
            share(out, "references and sketches together: mean within its 95 %% bound of the matched mean: %.1f %% of %d flows%n",
                counters.get("joint_bounds_held"), counters.get("joint_bounded_flows"));
        }
    }

    private static double percent(final DelayStatistics delay, final String gauge) {
        return 100 * delay.gauges().getOrDefault(gauge, Double.NaN);
    }

    private static void print(final AggregateDelay aggregate, final DelaySummary references, final PrintStream out) {
        final boolean hasReferences = references != null && references.estimates().count() > 0;
        out.printf(Locale.ROOT, ROW, trafficClass(aggregate.dscp()), aggregate.samples(),
            micros(aggregate.meanNs()), micros(aggregate.standardDeviationNs()),
            micros(hasReferences ? references.estimates().meanNs() : null),
            micros(hasReferences ? references.estimates().standardDeviationNs() : null),
            aggregate.lostPackets() == null ? ABSENT : aggregate.lostPackets().toString());
    }
}
