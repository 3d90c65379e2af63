package io.flowlag.station.view;

import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricFamily.Type;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The metrics of the station, in base units. What is not known has no sample. */
final class ViewMetrics {
    private static final double NS_PER_S = 1e9;

    private ViewMetrics() {
    }

    /** {@return those of the newest windows} */
    static List<MetricFamily> ofSegments(final Collection<SegmentWindow> windows) {
        return List.of(
            family(windows, "segment_delay_mean_seconds", "Mean delay in the newest window.",
                (window) -> window.hasMeanNs() ? window.getMeanNs() / NS_PER_S : Double.NaN),
            family(windows, "segment_delay_bound_seconds", "Half width of the mean's 95 % interval, clocks apart.",
                (window) -> window.hasBoundNs() ? window.getBoundNs() / NS_PER_S : Double.NaN),
            family(windows, "segment_delay_clock_bound_seconds", "Bound of the error of both clocks together.",
                (window) -> window.hasClockBoundNs() ? window.getClockBoundNs() / NS_PER_S : Double.NaN),
            family(windows, "segment_delay_excess_seconds", "Mean less the smallest delay of the last 24 hours.",
                (window) -> ViewJson.excessNs(window) / NS_PER_S),
            family(windows, "segment_packets", "Packets in the newest window.", SegmentWindow::getPackets),
            family(windows, "segment_lost_packets", "Packets lost in the newest window, or an upper bound of them.",
                (window) -> window.hasLost() ? window.getLost() : Double.NaN),
            family(windows, "segment_window_end_timestamp_seconds", "When the newest window ends.",
                (window) -> window.getEndNs() / NS_PER_S));
    }

    private static MetricFamily family(
        final Collection<SegmentWindow> windows, final String name, final String help,
        final ToDoubleFunction<SegmentWindow> value) {
        final MetricFamily family = new MetricFamily("flowlag_" + name, Type.GAUGE, help);
        for (final SegmentWindow window : windows) {
            final double ofWindow = value.applyAsDouble(window);
            if (Double.isFinite(ofWindow)) {
                final List<String> labels = new ArrayList<>(
                    List.of("network", window.getNetwork(), "segment", window.getSegment()));
                if (window.hasDscp()) {
                    labels.addAll(List.of("class", Integer.toString(window.getDscp())));
                }
                family.add(ofWindow, labels.toArray(String[]::new));
            }
        }
        return family;
    }

    /** {@return that of the suspects of verdicts; a hop of several verdicts has the largest probability} */
    static MetricFamily ofVerdicts(final Collection<Verdict> verdicts) {
        final Map<List<String>, Double> probabilities = new LinkedHashMap<>();
        for (final Verdict verdict : verdicts) {
            for (final Verdict.Suspect suspect : verdict.getSuspectsList()) {
                final List<String> labels = new ArrayList<>(
                    List.of("network", verdict.getNetwork(), "from", suspect.getFrom(), "to", suspect.getTo()));
                if (verdict.hasDscp()) {
                    labels.addAll(List.of("class", Integer.toString(verdict.getDscp())));
                }
                probabilities.merge(labels, suspect.getProbability(), Math::max);
            }
        }
        final MetricFamily family = new MetricFamily(
            "flowlag_verdict_probability", Type.GAUGE, "Probability that a hop is the slow one, of verdicts that hold now.");
        probabilities.forEach((labels, probability) -> family.add(probability, labels.toArray(String[]::new)));
        return family;
    }

    /** {@return that of alerts that hold now} */
    static MetricFamily ofAlerts(final Collection<Alert> alerts) {
        final MetricFamily family = new MetricFamily(
            "flowlag_alert_start_timestamp_seconds", Type.GAUGE, "When an alert began that holds now.");
        for (final Alert alert : alerts) {
            final List<String> labels = new ArrayList<>(List.of("network", alert.getNetwork()));
            if (alert.hasDscp()) {
                labels.addAll(List.of("class", Integer.toString(alert.getDscp())));
            }
            if (alert.hasSegment()) {
                labels.addAll(List.of("segment", alert.getSegment()));
            }
            if (alert.hasSlo()) {
                labels.addAll(List.of("slo", alert.getSlo()));
            }
            labels.addAll(List.of("severity", AlertJson.severity(alert), "kind", AlertJson.kind(alert), "id", alert.getId()));
            family.add(alert.getStartsNs() / NS_PER_S, labels.toArray(String[]::new));
        }
        return family;
    }

    /** {@return that of service levels} */
    static MetricFamily ofLevels(final Collection<Status> levels) {
        final MetricFamily family = new MetricFamily("flowlag_slo_burn_ratio", Type.GAUGE,
            "How many times faster than its budget allows a service level burns, over the last so long.");
        for (final Status each : levels) {
            final List<String> labels = new ArrayList<>(List.of("network", each.getNetwork(), "slo", each.getLevel().getName()));
            if (each.getLevel().hasDscp()) {
                labels.addAll(List.of("class", Integer.toString(each.getLevel().getDscp())));
            }
            labels.addAll(List.of("window", ""));
            for (final Status.ServiceLevel.Rate rate : each.getLevel().getRatesList()) {
                labels.set(labels.size() - 1, text(Duration.ofNanos(rate.getLengthNs())));
                family.add(rate.getRatio(), labels.toArray(String[]::new));
            }
        }
        return family;
    }

    private static String text(final Duration length) {
        return length.toDays() > 0 ? length.toDays() + "d" : length.toHours() > 0 ? length.toHours() + "h" :
            length.toMinutes() + "m";
    }

    /** {@return those of exporters} */
    static List<MetricFamily> ofExporters(final Collection<ExporterRow> rows) {
        final MetricFamily messages = counter("exporter_messages", "Messages received.");
        final MetricFamily records = counter("exporter_records", "Records decoded.");
        final MetricFamily missing = counter("exporter_missing_records", "Records that sequence numbers say are missing.");
        final MetricFamily refused = counter("exporter_refused", "Messages and sets that could not be decoded.");
        final MetricFamily heard = new MetricFamily(
            "flowlag_exporter_last_heard_timestamp_seconds", Type.GAUGE, "When the last message came.");
        for (final ExporterRow row : rows) {
            final String[] labels = {"peer", row.peer(), "domain", Long.toString(row.domain())};
            messages.add(row.messages(), labels);
            records.add(row.records(), labels);
            missing.add(row.missing(), labels);
            refused.add(row.refused(), labels);
            heard.add(row.lastHeardNs() / NS_PER_S, labels);
        }
        return List.of(messages, records, missing, refused, heard);
    }

    private static MetricFamily counter(final String name, final String help) {
        return new MetricFamily("flowlag_" + name, Type.COUNTER, help);
    }

    /** {@return counters, each a family; the name is its label, with all but letters and digits replaced by a line} */
    static List<MetricFamily> ofCounters(final Map<String, Long> counters) {
        final List<MetricFamily> families = new ArrayList<>();
        counters.forEach((label, value) -> {
            final MetricFamily family = counter("station_" + label.replaceAll("[^A-Za-z0-9]+", "_"), "Counter " + label + ".");
            family.add(value);
            families.add(family);
        });
        return families;
    }
}
