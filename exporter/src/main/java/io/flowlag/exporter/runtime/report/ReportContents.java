package io.flowlag.exporter.runtime.report;

import com.fasterxml.jackson.databind.util.RawValue;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.HeldRows;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowFilter;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.RowGroup;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowWriter;
import io.flowlag.exporter.runtime.collect.RecordRows;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.sketch.quantile.LogHistogram;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a report says, gathered from records as they come: sums, the course of time, the flows and groups, the distribution of
 * delays. Memory is bounded by {@link HeldRows}, {@link FlowHistories} and {@link ReportSeries}. One thread.
 */
public final class ReportContents implements Consumer<CollectedRecord> {
    /** The most that may be listed. */
    static final int MOST_FLOWS = 1_000;
    static final int MOST_GROUPS = 100;
    /** The flows that are listed, as a table in text. */
    static final String PLAIN = "plain";
    private static final int MOST_BARS = 60;
    private static final int MATCHING = 6;
    /** One listed flow in so many is there for its loss. */
    private static final int SHARE_OF_LOSS = 4;
    /** In the order of element 12. */
    private static final String[] ESTIMATORS = {
        "an unnamed estimator", "interpolation between reference packets", "the reference packet before",
        "sketches of both points", "references and sketches together", "sums of both points", "matching of every packet",
        "references of several paths"};
    private static final long NS_PER_MS = 1_000_000;
    private static final Grouping FLOWS = Grouping.ofFlows();
    private static final RowKey NO_KEY =
        new RowKey(null, null, RowKey.NONE, RowKey.NONE, RowKey.NONE, RowKey.NONE, RowKey.NONE);

    private final FlowQuery query;
    private final HeldRows heldFlows;
    private final HeldRows heldGroups;
    private final FlowHistories histories = new FlowHistories();
    private final ReportSeries series = new ReportSeries();
    private final RecordRows reader = new RecordRows();
    private final RowGroup total = new RowGroup(NO_KEY);
    private final LogHistogram read = new LogHistogram();
    private final LogHistogram ofPackets = new LogHistogram();
    private final LogHistogram ofRecords = new LogHistogram();
    private final Map<Integer, Long> estimators = new TreeMap<>();
    private long records;
    private long boundedRecords;
    private long quantileRecords;
    private long delayRecords;
    private long lossRecords;
    private long exactLossRecords;
    private long lost;
    private long packetsOfLoss;
    /** Records of which every packet is matched, and packets matched that may be a lost one's twin. */
    private long wholeRecords;
    private long doubted;

    /** A row, as the formats for programs have it, with its name for people, and its history where it has one. */
    record Entry(String label, Object row, Course history) {
    }

    /** A flow over time: each list has an entry for each of its rows, null where it is unknown; times are ms, delays ns. */
    record Course(
        List<Object> startMs, List<Object> durationMs, List<Object> packets, List<Object> octets, List<Object> meanNs,
        List<Object> boundNs, List<Object> p99Ns, List<Object> maxNs, List<Object> lost, boolean isWhole) {
    }

    /**
     * How many packets have delays between two edges, ns, ascending, one more than counts; whether these are packets' own delays
     * or means of records. Quantiles of packets' own where there are enough, else null.
     */
    record Histogram(boolean isOfPackets, List<Long> edges, List<Long> counts, Long p50Ns, Long p99Ns) {
    }

    /** Lost packets, or the most that they can be, of records that know it; the packets received in these. */
    record Loss(long lost, boolean isExact, long packets, long records, long ofRecords) {
    }

    /** Nothing yet; groups are by the grouping of the query, which must have one. */
    public ReportContents(final FlowQuery query) {
        this.query = query;
        heldFlows = new HeldRows(query.by(FLOWS).first(0));
        heldGroups = new HeldRows(query.first(MOST_GROUPS));
    }

    @Override
    public void accept(final CollectedRecord record) {
        accept(record, true, true);
    }

    /** {@return takes records for all but the course of time, which others tell} */
    public Consumer<CollectedRecord> flows() {
        return (record) -> accept(record, true, false);
    }

    /** {@return takes records for the course of time alone} */
    public Consumer<CollectedRecord> course() {
        return (record) -> accept(record, false, true);
    }

    /** Intervals are of all flows: with a filter they say nothing of those asked for. */
    private void accept(final CollectedRecord record, final boolean isOfFlows, final boolean isOfCourse) {
        if (record.isOptions()) {
            reader.learn(record);
            final ClassInterval interval = isFiltered() ? null : ClassInterval.of(record, read);
            if (interval != null && isOfCourse) {
                series.add(interval);
            }
            if (interval != null && isOfFlows) {
                ofPackets.add(interval.histogram());
            }
            return;
        }
        reader.of(record).stream().filter((row) -> HeldRows.matches(query, row)).forEach((row) -> {
            if (isOfCourse) {
                histories.add(FLOWS.of(row.key()), row);
                series.add(row);
            }
            if (isOfFlows) {
                add(row);
            }
        });
    }

    private boolean isFiltered() {
        return !query.filter().equals(RowFilter.ALL);
    }

    private void add(final FlowRow row) {
        records++;
        total.add(row);
        heldFlows.add(row, null);
        heldGroups.add(row, null);
        final RowDelay delay = row.delay();
        if (delay.meanNs() != null) {
            delayRecords++;
            boundedRecords += delay.boundNs() != null || delay.isExact() ? 1 : 0;
            quantileRecords += delay.spread().p50Ns() != null ? 1 : 0;
            estimators.merge(delay.estimator(), 1L, Long::sum);
            if (delay.estimator() == MATCHING && delay.measured() != null && row.traffic().packets() != null) {
                wholeRecords += delay.measured().equals(row.traffic().packets()) ? 1 : 0;
                doubted += row.traffic().packets() - delay.measured();
            }
            if (delay.measured() != null && delay.measured() > 0) {
                ofRecords.add(delay.meanNs(), delay.measured());
            }
        }
        if (row.loss().packets() != null) {
            lossRecords++;
            exactLossRecords += row.loss().isExact() ? 1 : 0;
            lost += row.loss().packets();
            packetsOfLoss += row.traffic().packets() == null ? 0 : row.traffic().packets();
        }
    }

    /** Gives what the page shows, by name, and forgets the flows and groups. */
    Map<String, Object> take() {
        final List<FlowRow> flows = new ArrayList<>();
        heldFlows.take((row, text) -> flows.add(row));
        final List<Entry> listed = new ArrayList<>();
        final RowWriter writer = RowWriter.of(RowFormat.JSON, FLOWS);
        listed(flows).forEach((row) -> listed.add(entry(writer, row, course(row))));
        final RowWriter table = RowWriter.of(RowFormat.TABLE, FLOWS);
        final StringBuilder plain = new StringBuilder();
        listed(flows).forEach((row) -> table.append(row, plain));
        table.finish(plain);
        final List<Entry> groups = new ArrayList<>();
        final RowWriter groupWriter = RowWriter.of(RowFormat.JSON, query.grouping());
        heldGroups.take((row, text) -> groups.add(entry(groupWriter, row, null)));
        final Map<String, Object> contents = new LinkedHashMap<>();
        contents.put("total", entry(writer, total.row(), null));
        contents.put("loss", lossRecords == 0 ? null :
            new Loss(lost, exactLossRecords == lossRecords, packetsOfLoss, lossRecords, records));
        contents.put("bound_is", wholeRecords > 0 && wholeRecords == delayRecords ? "precision of timestamps" : "95 % bound");
        contents.put("has_rates", series.isWhole());
        contents.put("order", orderText());
        contents.put("flow_count", flows.size());
        contents.put("quality", quality(flows, listed.size()));
        contents.put("steps", List.of(series.steps()));
        contents.put("histogram", histogram());
        contents.put("flows", listed);
        contents.put(PLAIN, plain.toString());
        contents.put("groups", groups);
        return contents;
    }

    /** Without delays, flows in the order of their mean are in that of their packets. */
    private String orderText() {
        return query.order() == null && delayRecords == 0 ? "packets" : query.orderText();
    }

    private static Entry entry(final RowWriter writer, final FlowRow row, final Course history) {
        final StringBuilder text = new StringBuilder();
        writer.append(row, text);
        return new Entry(row.key().text(), new RawValue(text.toString().strip()), history);
    }

    /** The first of the order, and the others that lost most. */
    private List<FlowRow> listed(final List<FlowRow> flows) {
        final int most = query.limit() == 0 ? MOST_FLOWS : Math.min(MOST_FLOWS, query.limit());
        final List<FlowRow> listed = new ArrayList<>(flows.subList(0, Math.min(most, flows.size())));
        flows.stream().skip(most).filter((row) -> row.loss().packets() != null && row.loss().packets() > 0)
            .sorted(Comparator.comparing((row) -> -row.loss().packets())).limit(most / SHARE_OF_LOSS).forEach(listed::add);
        return listed;
    }

    private Course course(final FlowRow flow) {
        final List<FlowRow> rows = histories.of(flow.key());
        return new Course(
            values(rows, (row) -> row.traffic().startNs() / NS_PER_MS),
            values(rows, (row) -> row.traffic().durationNs() == null ? null : row.traffic().durationNs() / NS_PER_MS),
            values(rows, (row) -> row.traffic().packets()), values(rows, (row) -> row.traffic().octets()),
            values(rows, (row) -> row.delay().meanNs()), values(rows, (row) -> row.delay().boundNs()),
            values(rows, (row) -> row.delay().spread().p99Ns()), values(rows, (row) -> row.delay().spread().maximumNs()),
            values(rows, (row) -> row.loss().isWhole() && row.loss().isExact() ? row.loss().packets() : null),
            rows.stream().allMatch((row) -> row.traffic().packets() != null) && flow.traffic().packets() != null ?
                rows.stream().mapToLong((row) -> row.traffic().packets()).sum() == flow.traffic().packets() :
                rows.stream().mapToLong((row) -> row.traffic().flows()).sum() == flow.traffic().flows());
    }

    private static List<Object> values(final List<FlowRow> rows, final Function<FlowRow, Object> value) {
        final List<Object> values = new ArrayList<>();
        rows.forEach((row) -> values.add(value.apply(row)));
        return values;
    }

    /** Null without delays. */
    private Histogram histogram() {
        final LogHistogram delays = ofPackets.count() > 0 ? ofPackets : ofRecords;
        final List<Long> edges = new ArrayList<>();
        final List<Long> counts = new ArrayList<>();
        delays.forEachBar(MOST_BARS, (from, to, count) -> {
            if (edges.isEmpty()) {
                edges.add(from);
            }
            edges.add(to);
            counts.add(count);
        });
        return delays.count() == 0 ? null : new Histogram(delays == ofPackets, edges, counts,
            quantile(0.5, StepCell.LEAST_OF_P50), quantile(0.99, StepCell.LEAST_OF_P99));
    }

    /** Within the delays measured, which buckets reach beyond. */
    private Long quantile(final double quantile, final int least) {
        final RowSpread spread = total.row().delay().spread();
        return ofPackets.count() < least ? null : spread.minimumNs() == null || spread.maximumNs() == null ?
            Long.valueOf(ofPackets.quantile(quantile)) :
            Long.valueOf(Math.max(spread.minimumNs(), Math.min(spread.maximumNs(), ofPackets.quantile(quantile))));
    }

    private List<String> quality(final List<FlowRow> flows, final int listed) {
        final FlowRow all = total.row();
        final List<String> lines = new ArrayList<>();
        lines.add(counted(records, "record") + " of " + counted(flows.size(), "flow") + ".");
        if (delayRecords == 0) {
            lines.add("No record has a delay.");
        } else {
            final Long measured = all.delay().measured();
            final Long packets = all.traffic().packets();
            lines.add((measured == null || packets == null || packets == 0 ? "Delays" : String.format(Locale.ROOT,
                "Delays of %s of %s packets (%.2f %%)", number(measured), number(packets), 100.0 * measured / packets)) +
                " are in " + counted(delayRecords, "record") + ": " + estimators.entrySet().stream().map((each) ->
                number(each.getValue()) + " by " + estimator(each.getKey())).collect(Collectors.joining(", ")) + ".");
            if (doubted > 0) {
                lines.add("Matching leaves " + number(doubted) + " packets without a sure delay: they may be twins (with the " +
                    "same content) of lost ones, which the totals as printed count as matched.");
            }
            lines.add(number(boundedRecords) + " of these records have a bound that holds the mean's error in 95 % of cases" +
                (wholeRecords == 0 ? "." : "; where every packet is matched, as in " + number(wholeRecords) +
                ", the mean is exact and its bound is the precision of timestamps."));
        }
        lines.add(lossRecords == 0 ? "No record knows its loss." : "Loss is known in " + number(lossRecords) + " of " +
            number(records) + " records: " +
            number(exactLossRecords) + " have its number, " + number(lossRecords - exactLossRecords) + " an upper bound." +
            (wholeRecords == 0 ? "" : " What no record tells, as after a flow's last, is lost in the totals as printed alone."));
        if (ofPackets.count() > 0) {
            lines.add("The distribution is of " + number(ofPackets.count()) + " packets' delays; no bar is narrower than 2 %.");
        } else if (ofRecords.count() > 0) {
            lines.add((isFiltered() ? "The distribution of delays is of all flows" : "No record has the distribution of delays") +
                ": what is drawn are the means of records, by their packets.");
        }
        final long merged = flows.stream().filter((row) -> row.traffic().flows() > 1 && row.delay().meanNs() != null).count();
        if (quantileRecords > 0 && merged > 0) {
            lines.add("Quantiles are those of each record. From several, as of " + number(merged) +
                " of the flows, no quantile of all follows; the largest delay does.");
        }
        if (listed < flows.size()) {
            lines.add(number(listed) + " flows are listed: the first by " + orderText() + ", and those that lost most.");
        }
        lines.addAll(series.remarks());
        Stream.of(heldFlows.remark(), heldGroups.remark()).filter((remark) -> !remark.isEmpty()).distinct()
            .forEach((remark) -> lines.add(remark + "."));
        return lines;
    }

    private static String estimator(final int number) {
        return number < ESTIMATORS.length ? ESTIMATORS[number] : "estimator " + number;
    }

    private static String counted(final long value, final String what) {
        return number(value) + ' ' + what + (value == 1 ? "" : "s");
    }

    private static String number(final long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }
}
