package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.MemoryUse;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The lines of {@code flowlag top}: process, health, packets, records, classes, and as many flows as fit; or
 * the page of a flow, or help. Unprintable text of the
 * file is shown as question marks. Remembers the previous snapshot, for rates. One thread.
 */
public final class TopView {
    private static final int CLASSES = 6;
    /** Of several segments. */
    private static final int SEGMENTS = 20;
    private static final int NO_LIMIT = -1;
    private static final int NONE = -1;

    private final TopControl control;
    private final RowHistory history = new RowHistory();
    private FlowRow opened;
    private int chosenLine = NONE;
    private Statistics before;
    private Statistics now;

    /** Nothing shown yet; the control says which rows are, and where. */
    public TopView(final TopControl control) {
        this.control = control;
    }

    /** {@return the line of the chosen row among the last ones, from 0; negative if there is none} */
    public int chosenLine() {
        return chosenLine;
    }

    /**
     * The screen.
     *
     * @param silence why no new snapshot is expected; null if one is.
     * @param height  of the screen, lines; 0 for no limit.
     * @return lines within the width.
     */
    public List<String> lines(final StatusSnapshot snapshot, final String silence, final int width, final int height) {
        if (now == null || now.nowMs() != snapshot.statistics().nowMs()) {
            before = now == null ? null : now;
            now = frozen(snapshot.statistics());
        }
        final List<String> lines = new ArrayList<>();
        lines.add(title(snapshot));
        lines.add(health(snapshot, silence));
        lines.add(packets());
        lines.add(drops());
        lines.add(records());
        if (!now.memory().isEmpty()) {
            lines.add("memory    " + now.memory().stream().map(TopView::use).collect(Collectors.joining("  ")));
        }
        if (now.destinations().stream().anyMatch((each) -> each.spool() != null)) {
            lines.add(spools());
        }
        for (final DelayStatistics delay : now.delays()) {
            if (now.delays().size() > 1) {
                lines.add("");
                lines.add("segment " + delay.segmentId() + ", " + delay.role() +
                    (delay.policy().isEmpty() ? "" : "  " + delay.policy()));
            }
            lines.addAll(injection(delay));
            lines.add("");
            lines.addAll(classes(delay));
        }
        lines.add("");
        final int before = lines.size();
        chosenLine = NONE;
        final List<String> flows = flows(snapshot, width, height == 0 ? NO_LIMIT : height - before);
        if (control.page() == TopControl.Page.LIST) {
            lines.addAll(flows);
            chosenLine += before;
        } else {
            chosenLine = NONE;
            lines.subList(2, lines.size()).clear();
            lines.add("");
            lines.addAll(control.page() == TopControl.Page.HELP ? TopControl.HELP : flows);
        }
        return lines.stream().map((line) -> printable(line, width)).limit(height == 0 ? Long.MAX_VALUE : height).toList();
    }

    private static Statistics frozen(final Statistics statistics) {
        final Counters copy = new Counters();
        for (int i = 0; i < CounterId.count(); i++) {
            copy.set(CounterId.of(i), statistics.counters().get(CounterId.of(i)));
        }
        return new Statistics(copy, statistics.sources(), statistics.destinations(), statistics.delays(), statistics.latency(),
            statistics.startTimeMs(), statistics.nowMs(), statistics.memoryBoundBytes(), statistics.memory());
    }

    private String title(final StatusSnapshot snapshot) {
        final SegmentDescription only = snapshot.segments().size() == 1 ? snapshot.segments().get(0) : null;
        final String segment = snapshot.segments().isEmpty() ? "no delay" :
            only == null ? snapshot.segments().size() + " segments" :
            "role " + only.role() + "  " + only.text() + (only.policy().isEmpty() ? "" : "  " + only.policy());
        return "flowlag " + snapshot.pid() + "  up " + Durations.clock(now.nowMs() - now.startTimeMs()) + "  " + segment + "  " +
            now.sources().stream().map((each) -> each.name()).collect(Collectors.joining(", "));
    }

    private static String health(final StatusSnapshot snapshot, final String silence) {
        if (silence != null) {
            return "STALE: " + silence;
        }
        final String failing = snapshot.health().stream().filter((each) -> !each.isOk())
            .map((each) -> each.name() + ": " + each.text()).collect(Collectors.joining("; "));
        return !failing.isEmpty() ? "FAILING: " + failing :
            "ok: " + snapshot.health().stream().map(HealthCheck::name).collect(Collectors.joining(", "));
    }

    private String packets() {
        return "packets   captured " + total(CounterId.CAPTURED) + "  metered " + total(CounterId.METERED) + "  refused " +
            Durations.count(now.counters().refused());
    }

    private String drops() {
        return "drops     kernel " + total(CounterId.LOST_IN_KERNEL) + "  packet ring " +
            total(CounterId.DROPPED_AT_PACKET_RING) + "  record ring " + total(CounterId.DROPPED_AT_RECORD_RING) +
            "  cache full " + total(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES);
    }

    private String records() {
        final List<DestinationStatistics> all = now.destinations();
        return "records   made " + total(CounterId.RECORDS_MADE) +
            "  exported " + Durations.count(all.stream().mapToLong(DestinationStatistics::recordsExported).sum()) +
            "  failed " + Durations.count(all.stream().mapToLong(DestinationStatistics::recordsFailed).sum()) +
            "  waiting " + Durations.count(all.stream().mapToLong(DestinationStatistics::recordsWaiting).sum());
    }

    private static String use(final MemoryUse part) {
        return part.name() + " " + (part.usedBytes() == null ? "" : MemorySize.mebibytes(part.usedBytes()) + " of ") +
            MemorySize.mebibytes(part.boundBytes()) + "M";
    }

    /** Sum of all destinations, with the fill level of the fullest. */
    private String spools() {
        final List<SpoolStatistics> all = now.destinations().stream().map(DestinationStatistics::spool).filter(Objects::nonNull)
            .toList();
        final double fullest = all.stream().mapToDouble((each) -> 100.0 * each.octetsHeld() / Math.max(1, each.octetsBound()))
            .max().orElse(0);
        return "spool     held " + Durations.count(all.stream().mapToLong(SpoolStatistics::recordsHeld).sum()) +
            String.format(Locale.ROOT, " (%.0f %% full)", fullest) +
            "  recovered " + Durations.count(all.stream().mapToLong(SpoolStatistics::recordsTakenUp).sum()) +
            "  perhaps twice " + Durations.count(all.stream().mapToLong(SpoolStatistics::recordsPerhapsTwice).sum()) +
            "  errors " + Durations.count(all.stream().mapToLong(SpoolStatistics::errors).sum());
    }

    /** With the rate if two snapshots are known. */
    private String total(final CounterId id) {
        final long value = now.counters().get(id);
        if (before == null || now.nowMs() <= before.nowMs()) {
            return Durations.count(value);
        }
        final double rate = (value - before.counters().get(id)) * 1000.0 / (now.nowMs() - before.nowMs());
        return Durations.count(value) + (rate == 0 ? "" : " (" + Durations.count(rate) + "/s)");
    }

    private static List<String> injection(final DelayStatistics delay) {
        final List<String> lines = new ArrayList<>();
        final Map<String, Double> gauges = delay.gauges();
        final StringBuilder line = new StringBuilder("segment  ");
        gauges.forEach((name, value) -> {
            if (name.startsWith("utilization")) {
                line.append(' ').append(name.replace('_', ' '))
                    .append(String.format(Locale.ROOT, " %.1f %%", 100 * value));
            } else if (name.startsWith("packets_per_reference")) {
                line.append("  1 reference in ").append(Durations.count(value));
            } else if ("reference_share".equals(name)) {
                line.append(String.format(Locale.ROOT, "  share %.3f %%", 100 * value));
            }
        });
        History.clocks(delay).forEach((each) -> line.append("  ").append(each.name()).append(' ')
            .append(Durations.text(each.offsetNs())).append(" ± ").append(Durations.text(each.errorNs())));
        line.append(delay.clockErrorNs() < 0 ? "  clock error not known" :
            "  clock error " + Durations.text(delay.clockErrorNs()));
        lines.add(line.toString());
        if (delay.gauges().containsKey("match_share")) {
            lines.add(matched(delay.counters()));
        }
        final Long both = delay.counters().get("lds_rli_flows");
        if (both != null) {
            final long agreed = delay.counters().getOrDefault("lds_rli_agreed", 0L);
            final long occupied = delay.sketches().stream().mapToLong(SketchStatistics::occupiedCells).sum();
            final long usable = delay.sketches().stream().mapToLong(SketchStatistics::usableCells).sum();
            final String cells = occupied == 0 ? "" :
                String.format(Locale.ROOT, "  cells usable %.1f %%", 100.0 * usable / occupied);
            lines.add("RLI, LDS  " + (both == 0 ? "no flow has both yet" : String.format(Locale.ROOT,
                "agree in %d of %d flows, %.1f %%", agreed, both, 100.0 * agreed / both)) + cells);
        }
        return lines;
    }

    private static String matched(final Map<String, Long> counters) {
        final long lost = counters.get("match_lost");
        final long all = counters.get("match_matched") + lost;
        return String.format(Locale.ROOT, "matched   %s  lost %s (%.3f %%)  not of the segment %s  undecided %s  unexpected %s",
            Durations.count(counters.get("match_matched")), Durations.count(lost), all == 0 ? 0 : 100.0 * lost / all,
            Durations.count(counters.get("match_not_of_segment")),
            Durations.count(counters.get("match_sent_undecided") + counters.get("match_received_undecided")),
            Durations.count(counters.get("match_unexpected")));
    }

    private static List<String> classes(final DelayStatistics delay) {
        final List<String> lines = new ArrayList<>();
        final int nameWidth = Math.max(10, delay.interval().stream().filter((each) -> each.segment() != null)
            .mapToInt((each) -> History.className(each, null).length()).max().orElse(0));
        final String format = "%-" + nameWidth + "s %-5s %7s %8s %8s %8s %8s %8s %6s";
        lines.add(String.format(
            Locale.ROOT, format, "class", "by", "packets", "mean", "p50", "p99", "rli", "lds", "lost"));
        final List<AggregateDelay> sketched = delay.sketchedInterval();
        final int count = Math.max(delay.interval().size(), sketched.size());
        final int limit = nameWidth > 10 ? SEGMENTS : CLASSES;
        for (int i = 0; i < Math.min(limit, count); i++) {
            final DelaySummary summary = i < delay.interval().size() ? delay.interval().get(i) : null;
            final AggregateDelay aggregate = i < sketched.size() ? sketched.get(i) : null;
            final boolean hasDelays = summary != null && summary.delays().count() > 0;
            final boolean isEstimated = summary != null && summary.estimates().count() > 0;
            lines.add(String.format(Locale.ROOT, format, History.className(summary, aggregate),
                !hasDelays ? "-" : summary.isMatched() ? "exact" : "rli",
                hasDelays ? Durations.count(summary.delays().count()) : "-",
                hasDelays ? Durations.text(summary.delays().meanNs()) : "-",
                hasDelays ? Durations.text(summary.delays().p50Ns()) : "-",
                hasDelays ? Durations.text(summary.delays().p99Ns()) : "-",
                isEstimated ? Durations.text(summary.estimates().meanNs()) : "-",
                aggregate == null ? "-" : Durations.text(aggregate.meanNs()),
                aggregate == null || aggregate.lostPackets() == null ? "-" : Durations.count(aggregate.lostPackets())));
        }
        return lines;
    }

    private List<String> flows(final StatusSnapshot snapshot, final int width, final int room) {
        final FlowList list = snapshot.flows();
        final FlowQuery all = control.query().first(0);
        final List<FlowRow> records = FlowRows.records(list.flows(), all);
        final List<FlowRow> rows = FlowRows.ordered(records, all);
        final int limit = control.query().limit();
        final List<FlowRow> shown = rows.subList(0, limit == 0 ? rows.size() : Math.min(limit, rows.size()));
        if (control.takeAnotherQuestion()) {
            history.clear();
        }
        history.add(now.nowMs(), records, rows, (key) -> all.grouping() == null ? key : all.grouping().of(key));
        final int chosen = control.chosen(shown.size());
        opened = control.page() != TopControl.Page.FLOW ? null : opened != null ? newest(rows) :
            shown.isEmpty() ? null : shown.get(chosen);
        if (control.page() == TopControl.Page.FLOW) {
            return opened == null ? List.of("no flow is in the list; esc goes back") : TopFlows.page(opened, history);
        }
        final List<String> lines = new ArrayList<>();
        lines.add("flows     living " + Durations.count(list.livingCount()) + "  ended in the last minute " +
            Durations.count(list.endedCount()));
        FlowRows.hour(list, now.nowMs()).forEach((each) -> lines.add("hour      " + each));
        lines.add(control.line());
        final int headers = lines.size() + 1;
        final int visible = Math.max(0, room == NO_LIMIT ? shown.size() : room - headers);
        final int first = Math.max(0, chosen - visible + 1);
        chosenLine = headers + chosen - first;
        lines.addAll(TopFlows.lines(shown, control.query().order(), width, Math.min(first, shown.size()), visible));
        return lines;
    }

    /** {@return the row that is open, as it was when it was in the list last} */
    private FlowRow newest(final List<FlowRow> rows) {
        return rows.stream().filter((row) -> row.key().equals(opened.key())).findFirst().orElse(opened);
    }

    private static String cut(final String text, final int width) {
        return text.length() <= width ? text : text.substring(0, width - 1) + "~";
    }

    private static String printable(final String line, final int width) {
        final String safe = line.codePoints().map((each) -> Character.isISOControl(each) ? '?' : each)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString().stripTrailing();
        return cut(safe, width);
    }
}
