package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTable;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.listing.SortKey;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** The rows of {@code flowlag top}, and the page of one. One thread. */
final class TopFlows {
    private static final int LEAST_NAME_WIDTH = 20;
    /** Widths of the screen from which on there is room for more columns beside both ends of a flow. */
    private static final int WIDE = 99;
    private static final int WIDER = 106;
    private static final int WIDEST = 124;
    private static final int WIDEST_TCP = 160;
    private static final int BAR = 30;
    private static final double PERCENT = 100;
    private static final String ABSENT = "-";

    /**
     * A column.
     *
     * @param key         that sorts by it; null for none.
     * @param leastScreen width of the screen that it needs.
     */
    private record Column(String name, int width, SortKey key, int leastScreen, Function<FlowRow, String> cell) {
    }

    private static final List<Column> COLUMNS = List.of(
        new Column("mean", 8, SortKey.MEAN, 0, (row) -> Durations.text(row.delay().meanNs())),
        new Column("bound", 8, SortKey.BOUND, 0, (row) -> Durations.text(row.delay().boundNs())),
        new Column("p50", 8, SortKey.P50, WIDEST, (row) -> Durations.text(row.delay().spread().p50Ns())),
        new Column("p99", 8, SortKey.P99, WIDE, (row) -> Durations.text(row.delay().spread().p99Ns())),
        new Column("max", 8, SortKey.MAX, WIDE, (row) -> Durations.text(row.delay().spread().maximumNs())),
        new Column("packets", 8, SortKey.PACKETS, 0, (row) -> count(row.traffic().packets())),
        new Column("octets", 8, SortKey.OCTETS, WIDEST, (row) -> count(row.traffic().octets())),
        new Column("lost", 6, SortKey.LOST, 0, (row) -> lost(row.loss())),
        new Column("loss_%", 6, SortKey.LOSS, WIDER, TopFlows::lossPercent),
        new Column("rtt", 8, SortKey.RTT, WIDEST_TCP, (row) -> Durations.text(row.tcp().roundTripMeanNs())),
        new Column("resent", 7, SortKey.RETRANSMITTED, WIDEST_TCP, (row) -> count(row.tcp().retransmitted())),
        new Column("state", 6, null, 0, (row) -> row.traffic().endReason() == RowTraffic.LIVING ? "living" : "ended"));

    private TopFlows() {
    }

    /** {@return a header and so many rows, around the chosen one} The column that rows are sorted by has a star. */
    static List<String> lines(final List<FlowRow> rows, final SortKey order, final int width, final int first, final int room) {
        final List<Column> columns = COLUMNS.stream().filter((each) -> width >= each.leastScreen()).toList();
        final int nameWidth = Math.max(LEAST_NAME_WIDTH, width - columns.stream().mapToInt((each) -> each.width() + 1).sum());
        final List<String> lines = new ArrayList<>();
        final StringBuilder header = new StringBuilder(pad("flow", nameWidth, true));
        columns.forEach((each) ->
            header.append(' ').append(pad((each.key() == order ? "*" : "") + each.name(), each.width(), false)));
        lines.add(header.toString());
        for (final FlowRow row : rows.subList(first, Math.min(rows.size(), first + room))) {
            final StringBuilder line = new StringBuilder(pad(row.key().text(), nameWidth, true));
            columns.forEach((each) -> line.append(' ').append(pad(each.cell().apply(row), each.width(), false)));
            lines.add(line.toString());
        }
        return lines;
    }

    /** {@return the page of a row: what its records say, and what happened from snapshot to snapshot} */
    static List<String> page(final FlowRow row, final RowHistory history) {
        final RowDelay delay = row.delay();
        final RowSpread spread = delay.spread();
        final List<String> lines = new ArrayList<>();
        lines.add(row.key().text());
        lines.add("records   " + row.traffic().flows() + "  packets " + count(row.traffic().packets()) + "  octets " +
            count(row.traffic().octets()) + "  since " + RowTable.clock(row.traffic().startNs()) +
            " UTC  for " + Durations.text(row.traffic().durationNs()));
        lines.add("delay     mean " + Durations.text(delay.meanNs()) + "  bound " + Durations.text(delay.boundNs()) +
            "  measured " + count(delay.measured()) + "  deviation " + Durations.text(spread.standardDeviationNs()));
        lines.add("          min " + Durations.text(spread.minimumNs()) + "  p50 " + Durations.text(spread.p50Ns()) + "  p90 " +
            Durations.text(spread.p90Ns()) + "  p99 " + Durations.text(spread.p99Ns()) + "  max " +
            Durations.text(spread.maximumNs()));
        lines.add("loss      " + lost(row.loss()) + "  share " + lossPercent(row) + " %");
        final RowTcp tcp = row.tcp();
        if (!tcp.equals(RowTcp.NONE)) {
            lines.add("tcp       handshake " + Durations.text(tcp.handshakeNs()) + "  round trip mean " +
                Durations.text(tcp.roundTripMeanNs()) + "  min " + Durations.text(tcp.roundTripMinimumNs()) + "  max " +
                Durations.text(tcp.roundTripMaximumNs()));
            lines.add("          retransmitted " + count(tcp.retransmitted()) + "  reordered " + count(tcp.outOfOrder()) +
                "  zero windows " + count(tcp.zeroWindows()));
        }
        lines.add("");
        lines.add(String.format(Locale.ROOT, "%-8s %10s %9s %6s", "until", "packets/s", "mean", "lost"));
        final List<RowHistory.Step> steps = history.steps(row.key());
        final long largestNs = steps.stream().filter((each) -> each.meanNs() != null)
            .mapToLong((each) -> Math.abs(each.meanNs())).max().orElse(0);
        for (final RowHistory.Step step : steps) {
            final int bar = step.meanNs() == null || largestNs == 0 ? 0 :
                (int)Math.round((double)BAR * Math.abs(step.meanNs()) / largestNs);
            lines.add(String.format(Locale.ROOT, "%-8s %10s %9s %6s %s", RowTable.clock(step.timeMs() * 1_000_000),
                step.packetsPerSecond() == null ? ABSENT : Durations.count(step.packetsPerSecond()),
                Durations.text(step.meanNs()), count(step.lost()), "#".repeat(bar)).stripTrailing());
        }
        return lines;
    }

    private static String lost(final RowLoss loss) {
        return loss.packets() == null ? ABSENT : loss.mark() + Durations.count(loss.packets());
    }

    private static String lossPercent(final FlowRow row) {
        final Double share = row.lossShare();
        return share == null ? ABSENT : String.format(Locale.ROOT, "%s%.2f", row.loss().isExact() ? "" : "<=", PERCENT * share);
    }

    private static String count(final Long number) {
        return number == null ? ABSENT : Durations.count(number);
    }

    private static String pad(final String text, final int width, final boolean isLeft) {
        final String own = text.length() <= width || !isLeft ? text : text.substring(0, width - 1) + "~";
        final String padding = " ".repeat(Math.max(0, width - own.length()));
        return isLeft ? own + padding : padding + own;
    }
}
