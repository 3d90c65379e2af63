package io.flowlag.exporter.monitoring;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.HeldRows;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTable;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.exporter.listing.RowWriter;
import io.flowlag.exporter.listing.SortKey;
import io.flowlag.exporter.listing.UnknownValues;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Flows of a running process as rows. Stateless. */
public final class FlowRows {
    /** Of a slow time that is named unasked. */
    private static final long LEAST_SPELL_NS = 2_000_000_000L;
    private static final long NS_PER_MS = 1_000_000;
    private static final long MS_PER_SECOND = 1000;
    private static final long SECONDS_PER_MINUTE = 60;

    private FlowRows() {
    }

    /** {@return the rows that are asked for, in their order} */
    public static List<FlowRow> of(final List<FlowView> flows, final FlowQuery query) {
        return ordered(records(flows, query), query);
    }

    /** {@return the records that are asked for, before they are put in groups} */
    static List<FlowRow> records(final List<FlowView> flows, final FlowQuery query) {
        return flows.stream().map(FlowRows::of).filter((row) -> HeldRows.matches(query, row)).toList();
    }

    /** {@return the rows of such records} */
    static List<FlowRow> ordered(final List<FlowRow> records, final FlowQuery query) {
        final HeldRows held = new HeldRows(query);
        records.forEach((row) -> held.add(row, null));
        final List<FlowRow> rows = new ArrayList<>();
        held.take((row, text) -> rows.add(row));
        return rows;
    }

    /** {@return so many flows, the slowest first, with all records of a flow in one row} */
    static List<FlowRow> slowest(final List<FlowView> flows, final int count) {
        return of(flows, FlowQuery.ALL.by(Grouping.ofFlows()).first(count));
    }

    /** Appends the flows that are asked for. Returns what they lack of what is asked for, in words; empty if nothing. */
    public static String append(final List<FlowView> flows, final Listing listing, final StringBuilder text) {
        final RowWriter writer = RowWriter.of(listing);
        final UnknownValues unknown = new UnknownValues(listing.query());
        flows.forEach((flow) -> unknown.onRow(of(flow)));
        of(flows, listing.query()).forEach((row) -> {
            unknown.onShown();
            writer.append(row, text);
        });
        writer.finish(text);
        return flows.isEmpty() ? "no such flow lives or ended in the last minute" : unknown.remark();
    }

    /**
     * Appends what is asked for of the rows of the last hour, of a grouping, in their order if no other is asked for. Their
     * losses have no packets to be a share of, and are counted.
     */
    public static void append(
        final List<FlowRow> rows, final Grouping grouping, final Listing listing, final StringBuilder text) {
        final RowWriter writer = RowWriter.of(
            new Listing(listing.format(), FlowQuery.ALL.by(grouping), listing.isColoured()).fitting(listing.width()));
        final FlowQuery asked = listing.query().by(null);
        final FlowQuery query = asked.order() == SortKey.LOSS ? asked.sorted(SortKey.LOST, asked.isRising()) : asked;
        final List<FlowRow> matching = rows.stream().filter((row) -> HeldRows.matches(query, row)).toList();
        (query.order() == null ? matching.subList(0, query.limit() == 0 ? matching.size() :
            Math.min(query.limit(), matching.size())) : ordered(matching, query)).forEach((row) -> writer.append(row, text));
        writer.finish(text);
    }

    /** {@return what stood out in the last hour, a line each: the slow time of a flow, and losses; empty if nothing did} */
    public static List<String> hour(final FlowList list, final long nowMs) {
        final List<FlowRow> rows = list.worst().getOrDefault(WorstOfHour.GROUPINGS.get(0), List.of());
        return Stream.concat(
            rows.stream().filter((row) -> row.spell() != null && row.spell().usualNs() != null &&
                row.traffic().endNs() != null && row.traffic().durationNs() >= LEAST_SPELL_NS).limit(1)
                .map((row) -> "slow" + when(row, nowMs) + ", mean " + Durations.text(row.delay().meanNs()) + ", usually " +
                    Durations.text(row.spell().usualNs()) + ": " + row.key().text()),
            rows.stream().filter((row) -> row.loss().packets() != null && row.traffic().endNs() != null).limit(1)
                .map((row) -> "lost " + row.loss().packets() + when(row, nowMs) + ": " + row.key().text())).toList();
    }

    private static String when(final FlowRow row, final long nowMs) {
        final long ago = (nowMs - Math.floorDiv(row.traffic().endNs(), NS_PER_MS)) / MS_PER_SECOND;
        return " from " + RowTable.clock(row.traffic().startNs()) + " to " + RowTable.clock(row.traffic().endNs()) + " (" +
            (ago < SECONDS_PER_MINUTE ? ago + " s" : ago / SECONDS_PER_MINUTE + " min") + " ago)";
    }

    private static FlowRow of(final FlowView flow) {
        return new FlowRow(
            new RowKey(Prefix.of(flow.source()), Prefix.of(flow.destination()), flow.protocol(), flow.sourcePort(),
                flow.destinationPort(), flow.dscp(), flow.segmentId() == null ? RowKey.NONE : flow.segmentId()),
            new RowTraffic(1, flow.packets(), flow.octets(), flow.startNs(), flow.endNs() - flow.startNs(),
                flow.isLiving() ? RowTraffic.LIVING : EndReason.valueOf(flow.endReason().toUpperCase(Locale.ROOT)).code()),
            flow.meanNs() == null ? RowDelay.NONE : delay(flow),
            flow.lostPackets() == null ? RowLoss.UNKNOWN : new RowLoss(flow.lostPackets(), flow.isLossExact()),
            flow.tcp() == null ? RowTcp.NONE : flow.tcp());
    }

    private static RowDelay delay(final FlowView flow) {
        return new RowDelay(flow.meanNs(), flow.samples(), flow.boundNs(), flow.isExact(), estimator(flow.estimator()),
            new RowSpread(flow.standardDeviationNs(), flow.minimumNs(), flow.p50Ns(), flow.p90Ns(), flow.p99Ns(),
                flow.maximumNs()),
            flow.interpolatedMeanNs(), flow.sketchMeanNs());
    }

    /** {@return the number of an estimator} */
    private static int estimator(final String name) {
        for (int code = FlowDelay.ESTIMATOR_INTERPOLATED; code <= FlowDelay.ESTIMATOR_MIXED_PATHS; code++) {
            if (name.equals(FlowView.estimator(code))) {
                return code;
            }
        }
        return 0;
    }
}
