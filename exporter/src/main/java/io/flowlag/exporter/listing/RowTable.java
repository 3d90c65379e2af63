package io.flowlag.exporter.listing;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.sketch.quantile.QuantileSketch;
import org.agrona.concurrent.UnsafeBuffer;

import java.math.BigDecimal;
import java.math.MathContext;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Aligned columns, as wide as the first rows need, which are held until there are {@link #HELD} or no more come.
 * <ul>
 * <li>Always: addresses, protocol, ports, packets, octets, start (UTC), duration and end reason; of groups what they have in
 *     common and the number of records.
 * <li>From the first row with a delay: mean, standard deviation and error bound of the delay, its estimator, packets lost and
 *     their share, the number of packets of the mean, quantiles and the largest delay.
 * <li>From the first row that has them: the interpolated mean if the estimator is another, the mean by sketches; of TCP the
 *     handshake, the mean round trip of data, packets sent again or out of order, and those that close the window;
 *     where packets were sampled, how many they stand for, with the 95 % error; of a time that stands out its begin and end
 *     (UTC), its worst mean, and the usual one.
 * </ul>
 * {@code -} is an absent value; {@code <=} marks a loss that is only an upper bound, {@code >=} that of a group whose other
 * records do not know theirs, and its share is of those that do. {@code interp_%} and {@code sketch_%} say how far the means
 * beside them are from {@code mean_us}. The header is repeated when columns are added or grow, on a terminal alone; they never
 * shrink. Of columns wider than the terminal those that matter less are left out, and a line above the header names them.
 */
public final class RowTable implements RowWriter {
    /** Rows that are held for the width of the columns. */
    static final int HELD = 256;

    private static final String ABSENT = "-";
    private static final DateTimeFormatter START =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String[] END_REASONS = {ABSENT, "idle", "active", "end", "forced", "resources"};
    private static final String[] ESTIMATORS = {
        ABSENT, "interpolated", "left", "sketch", "joint", "exact-sums", "exact-match", "mixed-paths"};
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double PERCENT = 100;
    private static final String HEADER_COLOUR = "\033[1m";
    private static final String LOSS_COLOUR = "\033[31m";
    private static final String PLAIN = "\033[0m";
    /** Of counts and delays, where more rows come: so that larger ones need no new header. */
    private static final int ROOMY = 9;
    private static final String SEPARATOR = "  ";
    /** What a narrow terminal shows of rows behind their key and what they are chosen or sorted by; others come last. */
    private static final List<String> RANKS = List.of(
        "mean_us", "lost", "from", "to", "packets", "bound_us", "p99_us", "max_us", "loss_%", "octets", "flows", "estimate",
        "rtt_us", "retransmitted", "start", "duration_ms");
    /** So many columns behind the key are shown, if need be over several lines; without a value too, for that is an answer. */
    private static final int LEAST_VALUES = 2;
    /** Of a row that is named. */
    private static final long LEAST_PACKETS = 10;
    private static final double UPPER_QUARTILE = 0.75;
    /** Of a quantile within 1 to 8 %. */
    private static final MathContext QUANTILE_DIGITS = new MathContext(3);

    /**
     * A column.
     *
     * @param part       of the rows with which it is shown.
     * @param roomyWidth least width where more rows come.
     */
    private record Column(String name, boolean isLeft, RowPart part, int roomyWidth, Function<FlowRow, String> cell) {
    }

    private final List<Column> columns = new ArrayList<>();
    private final int keys;
    private final Listing listing;
    private final int most;
    private final List<FlowRow> held = new ArrayList<>();
    private final Set<RowPart> shown = EnumSet.of(RowPart.TRAFFIC);
    private final int[] widths;
    private final boolean[] isLeftOut;
    private final boolean[] hasValue;
    private String toldLeftOut = "";
    private boolean hasHeader;
    private boolean isRoomy;
    private boolean lacksQuantile;
    private boolean lacksSpread;
    private boolean lacksLoss;
    /** Of rows that come. */
    private final UnsafeBuffer means = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
    private FlowRow slowest;
    private FlowRow mostLost;

    /** A table of a row a record, or of groups, that holds so many rows. */
    RowTable(final Grouping grouping, final Listing listing, final int most) {
        this.listing = listing;
        this.most = most;
        addKey(grouping);
        keys = columns.size();
        final boolean isGrouped = grouping != null;
        if (isGrouped) {
            number("flows", RowPart.TRAFFIC, 5, (row) -> count(row.traffic().flows()));
        }
        number("packets", RowPart.TRAFFIC, ROOMY, (row) -> count(row.traffic().packets()));
        number("octets", RowPart.TRAFFIC, 11, (row) -> count(row.traffic().octets()));
        number("estimate", RowPart.SAMPLE, ROOMY, (row) -> row.traffic().sample() == null ? ABSENT :
            Long.toString(Math.round(row.traffic().sample().packets())));
        number("+-", RowPart.SAMPLE, 6, (row) -> row.traffic().sample() == null ? ABSENT :
            Long.toString(row.traffic().sample().error()));
        text("start", (row) -> start(row.traffic().startNs()));
        number("duration_ms", RowPart.TRAFFIC, 0, (row) -> decimal(row.traffic().durationNs(), NANOS_PER_MILLI));
        if (!isGrouped) {
            text("end", (row) -> row.traffic().endReason() == RowTraffic.LIVING ? "living" :
                label(row.traffic().endReason(), END_REASONS));
        }
        addMeasured();
        widths = columns.stream().mapToInt((column) -> column.name().length()).toArray();
        isLeftOut = new boolean[widths.length];
        hasValue = new boolean[widths.length];
    }

    private void addKey(final Grouping grouping) {
        if (grouping == null || grouping.has(Grouping.Part.SRC)) {
            address("src", (row) -> row.key().source() == null ? ABSENT : RowFields.text(row.key().source()));
        }
        if (grouping == null || grouping.has(Grouping.Part.DST)) {
            address("dst", (row) -> row.key().destination() == null ? ABSENT : RowFields.text(row.key().destination()));
        }
        if (grouping == null || grouping.has(Grouping.Part.PROTO)) {
            text("proto", (row) -> row.key().protocol() < 0 ? ABSENT : Protocols.name(row.key().protocol()));
        }
        if (grouping == null || grouping.has(Grouping.Part.SPORT)) {
            number("sport", RowPart.TRAFFIC, 5, (row) -> key(row.key().sourcePort()));
        }
        if (grouping == null || grouping.has(Grouping.Part.DPORT)) {
            number("dport", RowPart.TRAFFIC, 5, (row) -> key(row.key().destinationPort()));
        }
        if (grouping != null && grouping.has(Grouping.Part.APP)) {
            text("app", (row) -> row.key().application() == null ? ABSENT : row.key().application());
        }
        if (grouping != null && grouping.has(Grouping.Part.DSCP)) {
            number("dscp", RowPart.TRAFFIC, 0, (row) -> key(row.key().dscp()));
        }
        if (grouping != null && grouping.has(Grouping.Part.SEGMENT)) {
            number("segment", RowPart.TRAFFIC, 0, (row) -> key(row.key().segmentId()));
        }
    }

    private void addMeasured() {
        columns.add(new Column("from", true, RowPart.SPELL, 0, (row) -> clock(row.traffic().startNs())));
        columns.add(new Column("to", true, RowPart.SPELL, 0, (row) -> clock(row.traffic().endNs())));
        delay("mean_us", (row) -> micros(row.delay().meanNs()));
        delay("sd_us", (row) -> micros(row.delay().spread().standardDeviationNs()));
        delay("bound_us", (row) -> micros(row.delay().boundNs()));
        columns.add(new Column("estimator", true, RowPart.DELAY, 12, (row) ->
            row.delay().estimator() == RowDelay.MIXED ? "mixed" : label(row.delay().estimator(), ESTIMATORS)));
        number("interp_us", RowPart.INTERPOLATED, ROOMY, (row) -> micros(row.delay().interpolatedNs()));
        number("interp_%", RowPart.INTERPOLATED, 8, (row) -> difference(row.delay().interpolatedNs(), row.delay().meanNs()));
        number("worst_us", RowPart.SPELL, 0, (row) -> row.spell() == null ? ABSENT : micros(row.spell().worstNs()));
        number("usual_us", RowPart.SPELL, 0, (row) -> row.spell() == null ? ABSENT : micros(row.spell().usualNs()));
        number("lost", RowPart.DELAY, 6, (row) -> row.loss().packets() == null ? ABSENT :
            row.loss().mark() + row.loss().packets());
        number("loss_%", RowPart.DELAY, 0, RowTable::lossPercent);
        delay("measured", (row) -> count(row.delay().measured()));
        delay("p50_us", (row) -> quantile(row.delay().spread().p50Ns(), row));
        delay("p90_us", (row) -> quantile(row.delay().spread().p90Ns(), row));
        delay("p99_us", (row) -> quantile(row.delay().spread().p99Ns(), row));
        delay("max_us", (row) -> micros(row.delay().spread().maximumNs()));
        number("sketch_us", RowPart.SKETCH, ROOMY, (row) -> micros(row.delay().sketchNs()));
        number("sketch_%", RowPart.SKETCH, 8, (row) -> difference(row.delay().sketchNs(), row.delay().meanNs()));
        number("handshake_us", RowPart.TCP, ROOMY, (row) -> micros(row.tcp().handshakeNs()));
        number("rtt_us", RowPart.TCP, ROOMY, (row) -> micros(row.tcp().roundTripMeanNs()));
        number("retransmitted", RowPart.TCP, 0, (row) -> count(row.tcp().retransmitted()));
        number("reordered", RowPart.TCP, 0, (row) -> count(row.tcp().outOfOrder()));
        number("zero_windows", RowPart.TCP, 0, (row) -> count(row.tcp().zeroWindows()));
    }

    private void address(final String name, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, true, RowPart.TRAFFIC, 15, cell));
    }

    private void text(final String name, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, true, RowPart.TRAFFIC, 6, cell));
    }

    private void delay(final String name, final Function<FlowRow, String> cell) {
        number(name, RowPart.DELAY, ROOMY, cell);
    }

    private void number(final String name, final RowPart part, final int roomyWidth, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, false, part, roomyWidth, cell));
    }

    @Override
    public void append(final FlowRow row, final StringBuilder text) {
        held.add(row);
        if (hasHeader || held.size() == most) {
            settle(text);
        }
    }

    /** Appends a line that is no row. */
    public void appendLine(final CharSequence line, final StringBuilder text) {
        settle(text);
        text.append(line).append('\n');
    }

    @Override
    public void settle(final StringBuilder text) {
        isRoomy = true;
        writeHeld(text);
    }

    @Override
    public void finish(final StringBuilder text) {
        writeHeld(text);
        if (!hasHeader) {
            appendHeader(text);
        }
    }

    @Override
    public String remark() {
        final List<String> remarks = new ArrayList<>();
        if (isRoomy && slowest != null && standsOut(slowest.delay().meanNs())) {
            remarks.add("slowest " + slowest.key().text() + ", mean " + micros(slowest.delay().meanNs()) + " us");
        }
        if (isRoomy && mostLost != null) {
            remarks.add("most lost " + mostLost.key().text() + ", " + mostLost.loss().mark() + mostLost.loss().packets() +
                " or " + lossPercent(mostLost) + " %");
        }
        if (isRoomy && lacksLoss) {
            remarks.add("lost is - where it is not known, as of flows that began before the measurement or were live at its end");
        }
        if (lacksSpread || lacksQuantile) {
            remarks.add(lacksSpread ? "a mean of sums has no sd, quantiles and max" :
                "p50, p90 and p99 are - below 20, 100 and 1000 delays of one record");
        }
        return String.join("; ", remarks);
    }

    /** What {@link #remark} is of; rows that come as they end are in no order. */
    private void note(final FlowRow row) {
        final RowDelay delay = row.delay();
        lacksQuantile |= delay.meanNs() != null && delay.spread().p99Ns() == null;
        lacksSpread |= delay.estimator() == FlowDelay.ESTIMATOR_FLOW_SUMS && delay.spread().p50Ns() == null;
        lacksLoss |= delay.meanNs() != null && row.loss().packets() == null;
        if (delay.meanNs() != null) {
            QuantileSketch.record(means, 0, delay.meanNs());
            final boolean isEnough = delay.measured() != null && delay.measured() >= LEAST_PACKETS;
            slowest = isEnough && (slowest == null || delay.meanNs() > slowest.delay().meanNs()) ? row : slowest;
        }
        final Double share = row.lossShare();
        final Long packets = row.traffic().packets();
        if (share != null && share > 0 && packets != null && packets + row.loss().packets() >= LEAST_PACKETS &&
            (mostLost == null || share > mostLost.lossShare())) {
            mostLost = row;
        }
    }

    /** Of the rows so far. */
    private boolean standsOut(final long meanNs) {
        final double upperNs = QuantileSketch.quantile(means, 0, UPPER_QUARTILE);
        return QuantileSketch.count(means, 0) >= Outliers.LEAST &&
            meanNs > Outliers.above(upperNs, upperNs - QuantileSketch.quantile(means, 0, 1 - UPPER_QUARTILE));
    }

    private void writeHeld(final StringBuilder text) {
        if (held.isEmpty()) {
            return;
        }
        final boolean isFixed = listing.parts() != null && hasHeader;
        if (listing.parts() != null && isRoomy) {
            shown.addAll(listing.parts());
        }
        final List<String[]> lines = new ArrayList<>();
        boolean isNew = !hasHeader;
        for (final FlowRow row : held) {
            isNew |= !isFixed && show(row);
            note(row);
            lines.add(columns.stream().map((column) -> column.cell().apply(row)).toArray(String[]::new));
        }
        for (final String[] line : lines) {
            isNew |= grow(line) && !isFixed;
        }
        if (isNew) {
            appendHeader(text);
        }
        for (int i = 0; i < lines.size(); i++) {
            final Long lost = held.get(i).loss().packets();
            appendCells(lines.get(i), lost != null && lost > 0 ? LOSS_COLOUR : null, text);
        }
        held.clear();
    }

    private void appendHeader(final StringBuilder text) {
        hasHeader = true;
        fit(text);
        appendCells(columns.stream().map(Column::name).toArray(String[]::new), HEADER_COLOUR, text);
    }

    /** Leaves out what has no room on the terminal, and appends a line that names it if that is news. */
    private void fit(final StringBuilder text) {
        if (listing.width() == 0) {
            return;
        }
        final List<Integer> all = IntStream.range(0, columns.size()).filter((i) -> shown.contains(columns.get(i).part())).boxed()
            .sorted(Comparator.comparingInt(this::rank)).toList();
        int room = listing.width() + SEPARATOR.length();
        for (int i = 0; i < all.size(); i++) {
            final int width = widths[all.get(i)] + SEPARATOR.length();
            while (i < keys + LEAST_VALUES && width > room) {
                room += listing.width();
            }
            isLeftOut[all.get(i)] = width > room;
            room -= width > room ? 0 : width;
        }
        final String leftOut = all.stream().sorted().filter((i) -> isLeftOut[i]).map((i) -> columns.get(i).name())
            .collect(Collectors.joining(", "));
        if (!leftOut.equals(toldLeftOut)) {
            toldLeftOut = leftOut;
            text.append(leftOut.isEmpty() ? "" : "(no room for " + leftOut + ": a pipe, such as | less -S, shows them)\n");
        }
    }

    private int rank(final int index) {
        final String name = columns.get(index).name();
        final int rank = RANKS.indexOf(name);
        final boolean isAsked = listing.query().keys().stream().anyMatch((key) -> name.startsWith(key.label().replace('-', '_')));
        return index < keys ? -2 : isAsked ? -1 : rank < 0 || rank >= LEAST_VALUES && !hasValue[index] ? RANKS.size() : rank;
    }

    private boolean show(final FlowRow row) {
        final RowDelay delay = row.delay();
        boolean isNew = (delay.meanNs() != null || row.loss().packets() != null) && shown.add(RowPart.DELAY);
        isNew |= delay.interpolatedNs() != null && shown.add(RowPart.INTERPOLATED);
        isNew |= delay.sketchNs() != null && shown.add(RowPart.SKETCH);
        isNew |= !row.tcp().equals(RowTcp.NONE) && shown.add(RowPart.TCP);
        isNew |= row.traffic().sample() != null && shown.add(RowPart.SAMPLE);
        isNew |= row.spell() != null && shown.add(RowPart.SPELL);
        return isNew;
    }

    private boolean grow(final String[] line) {
        boolean hasGrown = false;
        for (int i = 0; i < line.length; i++) {
            final Column column = columns.get(i);
            if (shown.contains(column.part())) {
                final int width = Math.max(line[i].length(), isRoomy ? column.roomyWidth() : 0);
                final boolean isValue = !line[i].equals(ABSENT);
                hasGrown |= isLeftOut[i] ? isValue && !hasValue[i] : width > widths[i];
                hasValue[i] |= isValue;
                widths[i] = Math.max(widths[i], width);
            }
        }
        return hasGrown;
    }

    /** A colour is of the whole header, and of the lost packets of a row. */
    private void appendCells(final String[] line, final String colour, final StringBuilder text) {
        final boolean isHeader = HEADER_COLOUR.equals(colour);
        text.append(listing.isColoured() && isHeader ? colour : "");
        String separator = "";
        for (int i = 0; i < line.length; i++) {
            final Column column = columns.get(i);
            if (isLeftOut[i] || !shown.contains(column.part())) {
                continue;
            }
            final boolean isMarked = listing.isColoured() && !isHeader && colour != null && column.name().startsWith("los");
            final String padding = " ".repeat(widths[i] - line[i].length());
            text.append(separator).append(column.isLeft() ? "" : padding).append(isMarked ? colour : "").append(line[i])
                .append(isMarked ? PLAIN : "").append(column.isLeft() ? padding : "");
            separator = SEPARATOR;
        }
        while (text.charAt(text.length() - 1) == ' ') {
            text.setLength(text.length() - 1);
        }
        text.append(listing.isColoured() && isHeader ? PLAIN : "").append('\n');
    }

    private static String lossPercent(final FlowRow row) {
        final Double share = row.lossShare();
        return share == null ? ABSENT :
            (row.loss().isExact() ? "" : "<=") + String.format(Locale.ROOT, "%.2f", PERCENT * share);
    }

    /** How far a mean by another estimator is from that of the row, in percent. */
    private static String difference(final Long otherNs, final Long meanNs) {
        return otherNs == null || meanNs == null || meanNs == 0 ? ABSENT :
            String.format(Locale.ROOT, "%+.1f", PERCENT * (otherNs - meanNs) / Math.abs(meanNs));
    }

    private static String key(final long number) {
        return number < 0 ? ABSENT : Long.toString(number);
    }

    private static String count(final Long number) {
        return number == null ? ABSENT : Long.toUnsignedString(number);
    }

    private static String start(final Long startNs) {
        return time(START, startNs);
    }

    /** {@return hour, minute and second (UTC) of a time in ns since the epoch; {@code -} if it is null} */
    public static String clock(final Long timeNs) {
        return time(CLOCK, timeNs);
    }

    private static String time(final DateTimeFormatter format, final Long timeNs) {
        return timeNs == null ? ABSENT : format.format(Instant.ofEpochMilli(Math.floorDiv(timeNs, (long)NANOS_PER_MILLI)));
    }

    private static String label(final int number, final String[] labels) {
        return number >= 0 && number < labels.length ? labels[number] : Integer.toString(number);
    }

    private static String micros(final Long valueNs) {
        return decimal(valueNs, NANOS_PER_MICRO);
    }

    private static String quantile(final Long valueNs, final FlowRow row) {
        return quantile(valueNs, row.delay().spread().maximumNs());
    }

    /** {@return a quantile in microseconds, with the digits it deserves, not above the largest delay, which is exact} */
    public static String quantile(final Long valueNs, final Long maximumNs) {
        if (valueNs == null) {
            return ABSENT;
        }
        final BigDecimal rounded = BigDecimal.valueOf(valueNs).round(QUANTILE_DIGITS);
        return maximumNs != null && rounded.compareTo(BigDecimal.valueOf(maximumNs)) >= 0 ? micros(maximumNs) :
            rounded.movePointLeft(3).toPlainString();
    }

    private static String decimal(final Long valueNs, final double unitNs) {
        return valueNs == null ? ABSENT : String.format(Locale.ROOT, "%.3f", valueNs / unitNs);
    }
}
