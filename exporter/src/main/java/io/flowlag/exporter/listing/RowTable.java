package io.flowlag.exporter.listing;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;

/**
 * Aligned columns, as wide as the first rows need, which are held until there are {@link #HELD} or no more come.
 * <ul>
 * <li>Always: addresses, protocol, ports, packets, octets, start (UTC), duration and end reason; of groups what they have in
 *     common and the number of records.
 * <li>From the first row with a delay: mean, standard deviation and error bound of the delay, its estimator, packets lost and
 *     their share, the number of packets of the mean, quantiles and the largest delay.
 * <li>From the first row that has them: the interpolated mean if the estimator is another, the mean by sketches; of TCP the
 *     handshake, the mean round trip of data, packets sent again or out of order, and those that close the window;
 *     where packets were sampled, how many they stand for, with the 95 % error.
 * </ul>
 * {@code -} is an absent value; {@code <=} marks a loss that is only an upper bound, {@code >=} that of a group whose other
 * records do not know theirs, and its share is of those that do. The header is repeated when columns are
 * added or grow; they never shrink.
 */
public final class RowTable implements RowWriter {
    /** Rows that are held for the width of the columns. */
    static final int HELD = 256;

    private static final String ABSENT = "-";
    private static final DateTimeFormatter START =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
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

    /** When a column is shown. */
    private enum Shown {
        ALWAYS, WITH_DELAY, WITH_INTERPOLATED, WITH_SKETCH, WITH_TCP, WITH_SAMPLE
    }

    /**
     * A column.
     *
     * @param roomyWidth least width where more rows come.
     */
    private record Column(String name, boolean isLeft, Shown shown, int roomyWidth, Function<FlowRow, String> cell) {
    }

    private final List<Column> columns = new ArrayList<>();
    private final boolean isColoured;
    private final List<FlowRow> held = new ArrayList<>();
    private final Set<Shown> shown = EnumSet.of(Shown.ALWAYS);
    private final int[] widths;
    private boolean hasHeader;
    private boolean isRoomy;
    private boolean lacksQuantile;

    /** A table of a row a record, or of groups; coloured for a terminal. */
    RowTable(final Grouping grouping, final boolean isColoured) {
        this.isColoured = isColoured;
        addKey(grouping);
        final boolean isGrouped = grouping != null;
        if (isGrouped) {
            number("flows", Shown.ALWAYS, 5, (row) -> count(row.traffic().flows()));
        }
        number("packets", Shown.ALWAYS, ROOMY, (row) -> count(row.traffic().packets()));
        number("octets", Shown.ALWAYS, 11, (row) -> count(row.traffic().octets()));
        number("estimate", Shown.WITH_SAMPLE, ROOMY, (row) -> row.traffic().sample() == null ? ABSENT :
            Long.toString(Math.round(row.traffic().sample().packets())));
        number("+-", Shown.WITH_SAMPLE, 6, (row) -> row.traffic().sample() == null ? ABSENT :
            Long.toString(row.traffic().sample().error()));
        text("start", (row) -> start(row.traffic().startNs()));
        number("duration_ms", Shown.ALWAYS, 0, (row) -> decimal(row.traffic().durationNs(), NANOS_PER_MILLI));
        if (!isGrouped) {
            text("end", (row) -> row.traffic().endReason() == RowTraffic.LIVING ? "living" :
                label(row.traffic().endReason(), END_REASONS));
        }
        addMeasured();
        widths = columns.stream().mapToInt((column) -> column.name().length()).toArray();
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
            number("sport", Shown.ALWAYS, 5, (row) -> key(row.key().sourcePort()));
        }
        if (grouping == null || grouping.has(Grouping.Part.DPORT)) {
            number("dport", Shown.ALWAYS, 5, (row) -> key(row.key().destinationPort()));
        }
        if (grouping != null && grouping.has(Grouping.Part.APP)) {
            text("app", (row) -> row.key().application() == null ? ABSENT : row.key().application());
        }
        if (grouping != null && grouping.has(Grouping.Part.DSCP)) {
            number("dscp", Shown.ALWAYS, 0, (row) -> key(row.key().dscp()));
        }
        if (grouping != null && grouping.has(Grouping.Part.SEGMENT)) {
            number("segment", Shown.ALWAYS, 0, (row) -> key(row.key().segmentId()));
        }
    }

    private void addMeasured() {
        delay("mean_us", (row) -> micros(row.delay().meanNs()));
        delay("sd_us", (row) -> micros(row.delay().spread().standardDeviationNs()));
        delay("bound_us", (row) -> micros(row.delay().boundNs()));
        columns.add(new Column("estimator", true, Shown.WITH_DELAY, 12, (row) ->
            row.delay().estimator() == RowDelay.MIXED ? "mixed" : label(row.delay().estimator(), ESTIMATORS)));
        number("interp_us", Shown.WITH_INTERPOLATED, ROOMY, (row) -> micros(row.delay().interpolatedNs()));
        number("lost", Shown.WITH_DELAY, 6, (row) -> row.loss().packets() == null ? ABSENT :
            row.loss().mark() + row.loss().packets());
        number("loss_%", Shown.WITH_DELAY, 0, RowTable::lossPercent);
        delay("measured", (row) -> count(row.delay().measured()));
        delay("p50_us", (row) -> micros(row.delay().spread().p50Ns()));
        delay("p90_us", (row) -> micros(row.delay().spread().p90Ns()));
        delay("p99_us", (row) -> micros(row.delay().spread().p99Ns()));
        delay("max_us", (row) -> micros(row.delay().spread().maximumNs()));
        number("sketch_us", Shown.WITH_SKETCH, ROOMY, (row) -> micros(row.delay().sketchNs()));
        number("handshake_us", Shown.WITH_TCP, ROOMY, (row) -> micros(row.tcp().handshakeNs()));
        number("rtt_us", Shown.WITH_TCP, ROOMY, (row) -> micros(row.tcp().roundTripMeanNs()));
        number("retransmitted", Shown.WITH_TCP, 0, (row) -> count(row.tcp().retransmitted()));
        number("reordered", Shown.WITH_TCP, 0, (row) -> count(row.tcp().outOfOrder()));
        number("zero_windows", Shown.WITH_TCP, 0, (row) -> count(row.tcp().zeroWindows()));
    }

    private void address(final String name, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, true, Shown.ALWAYS, 15, cell));
    }

    private void text(final String name, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, true, Shown.ALWAYS, 6, cell));
    }

    private void delay(final String name, final Function<FlowRow, String> cell) {
        number(name, Shown.WITH_DELAY, ROOMY, cell);
    }

    private void number(final String name, final Shown when, final int roomyWidth, final Function<FlowRow, String> cell) {
        columns.add(new Column(name, false, when, roomyWidth, cell));
    }

    @Override
    public void append(final FlowRow row, final StringBuilder text) {
        held.add(row);
        if (hasHeader || held.size() == HELD) {
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
    }

    @Override
    public String remark() {
        return lacksQuantile ? "p50, p90 and p99 are - below 20, 100 and 1000 delays of one record" : "";
    }

    private void writeHeld(final StringBuilder text) {
        if (held.isEmpty()) {
            return;
        }
        final List<String[]> lines = new ArrayList<>();
        boolean isNew = !hasHeader;
        for (final FlowRow row : held) {
            isNew |= show(row);
            lacksQuantile |= row.delay().meanNs() != null && row.delay().spread().p99Ns() == null;
            lines.add(columns.stream().map((column) -> column.cell().apply(row)).toArray(String[]::new));
        }
        for (final String[] line : lines) {
            isNew |= grow(line);
        }
        if (isNew) {
            hasHeader = true;
            appendCells(columns.stream().map(Column::name).toArray(String[]::new), HEADER_COLOUR, text);
        }
        for (int i = 0; i < lines.size(); i++) {
            final Long lost = held.get(i).loss().packets();
            appendCells(lines.get(i), lost != null && lost > 0 ? LOSS_COLOUR : null, text);
        }
        held.clear();
    }

    private boolean show(final FlowRow row) {
        final RowDelay delay = row.delay();
        boolean isNew = (delay.meanNs() != null || row.loss().packets() != null) && shown.add(Shown.WITH_DELAY);
        isNew |= delay.interpolatedNs() != null && shown.add(Shown.WITH_INTERPOLATED);
        isNew |= delay.sketchNs() != null && shown.add(Shown.WITH_SKETCH);
        isNew |= !row.tcp().equals(RowTcp.NONE) && shown.add(Shown.WITH_TCP);
        isNew |= row.traffic().sample() != null && shown.add(Shown.WITH_SAMPLE);
        return isNew;
    }

    private boolean grow(final String[] line) {
        boolean hasGrown = false;
        for (int i = 0; i < line.length; i++) {
            final Column column = columns.get(i);
            if (shown.contains(column.shown())) {
                final int width = Math.max(line[i].length(), isRoomy ? column.roomyWidth() : 0);
                hasGrown |= width > widths[i];
                widths[i] = Math.max(widths[i], width);
            }
        }
        return hasGrown;
    }

    /** A colour is of the whole header, and of the lost packets of a row. */
    private void appendCells(final String[] line, final String colour, final StringBuilder text) {
        final boolean isHeader = HEADER_COLOUR.equals(colour);
        text.append(isColoured && isHeader ? colour : "");
        String separator = "";
        for (int i = 0; i < line.length; i++) {
            final Column column = columns.get(i);
            if (!shown.contains(column.shown())) {
                continue;
            }
            final boolean isMarked = isColoured && !isHeader && colour != null && column.name().startsWith("los");
            final String padding = " ".repeat(widths[i] - line[i].length());
            text.append(separator).append(column.isLeft() ? "" : padding).append(isMarked ? colour : "").append(line[i])
                .append(isMarked ? PLAIN : "").append(column.isLeft() ? padding : "");
            separator = "  ";
        }
        while (text.charAt(text.length() - 1) == ' ') {
            text.setLength(text.length() - 1);
        }
        text.append(isColoured && isHeader ? PLAIN : "").append('\n');
    }

    private static String lossPercent(final FlowRow row) {
        final Double share = row.lossShare();
        return share == null ? ABSENT :
            (row.loss().isExact() ? "" : "<=") + String.format(Locale.ROOT, "%.2f", PERCENT * share);
    }

    private static String key(final long number) {
        return number < 0 ? ABSENT : Long.toString(number);
    }

    private static String count(final Long number) {
        return number == null ? ABSENT : Long.toUnsignedString(number);
    }

    private static String start(final Long startNs) {
        return startNs == null ? ABSENT : START.format(Instant.ofEpochMilli(Math.floorDiv(startNs, (long)NANOS_PER_MILLI)));
    }

    private static String label(final int number, final String[] labels) {
        return number >= 0 && number < labels.length ? labels[number] : Integer.toString(number);
    }

    private static String micros(final Long valueNs) {
        return decimal(valueNs, NANOS_PER_MICRO);
    }

    private static String decimal(final Long valueNs, final double unitNs) {
        return valueNs == null ? ABSENT : String.format(Locale.ROOT, "%.3f", valueNs / unitNs);
    }
}
