package io.flowlag.exporter.runtime.collect;

import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.FieldText;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Aligned columns, written as records come.
 * <ul>
 * <li>Always: addresses, protocol, ports, packets, octets, start (UTC), duration and end reason.
 * <li>From the first record with a delay: mean, standard deviation and error bound of the delay, its estimator, the interpolated
 *     mean if the estimator is another, packets lost, and the number of packets of the mean.
 * <li>From the first record that has them: quantiles of the delay.
 * <li>From the first record that has it: the mean by sketches.
 * </ul>
 * {@code -} is an absent value; {@code <=} marks a loss that is only an upper bound. The header is repeated when columns are
 * added or grow; they never shrink. Options records are shown only if verbose, as {@code # name=value ...}.
 */
final class TableFormatter implements RecordFormatter {
    private static final String ABSENT = "-";
    private static final DateTimeFormatter START =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String[] END_REASONS = {ABSENT, "idle", "active", "end", "forced", "resources"};
    private static final String[] ESTIMATORS = {
        ABSENT, "interpolated", "left", "sketch", "joint", "exact-sums", "exact-match"};
    private static final int UPPER_BOUND = 2;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;

    private static final String[] FLOW_HEADER = {
        "src", "dst", "proto", "sport", "dport", "packets", "octets", "start", "duration_ms", "end"};
    private static final String[] DELAY_HEADER = {"mean_us", "sd_us", "bound_us", "estimator", "interp_us", "lost", "measured"};
    private static final String[] QUANTILE_HEADER = {"p50_us", "p90_us", "p99_us"};
    private static final String[] QUANTILES = {
        "flowlagDelayP50Nanoseconds", "flowlagDelayP90Nanoseconds", "flowlagDelayP99Nanoseconds"};
    private static final String SKETCH_HEADER = "sketch_us";
    private static final int DELAY_COLUMNS = FLOW_HEADER.length + DELAY_HEADER.length;
    private static final int QUANTILE_COLUMNS = DELAY_COLUMNS + QUANTILE_HEADER.length;
    private static final int COLUMNS = QUANTILE_COLUMNS + 1;
    private static final int IPV6_WIDTH = 39;
    private static final int[] LEFT_ALIGNED = {0, 1, 2, 7, 9, 13};

    private final boolean isVerbose;
    private final RecordNames.Cache namesCache = new RecordNames.Cache();
    private final String[] cells = new String[COLUMNS];
    private final int[] widths = {15, 15, 5, 5, 5, 9, 11, 23, 11, 6, 9, 9, 9, 12, 9, 6, 9, 9, 9, 9, 9};
    private final boolean[] isLeftAligned = new boolean[COLUMNS];
    private final StringBuilder value = new StringBuilder();
    private RecordNames names;
    private int columnCount;
    private boolean hasHeader;

    TableFormatter(final boolean isVerbose) {
        this(isVerbose, TableStart.UNKNOWN);
    }

    TableFormatter(final boolean isVerbose, final TableStart start) {
        this.isVerbose = isVerbose;
        columnCount = start.hasSketches() ? COLUMNS : start.hasDelays() ? QUANTILE_COLUMNS : 0;
        final int addressWidth = start.hasIpv6() ? IPV6_WIDTH : widths[0];
        Arrays.fill(widths, 0, 2, addressWidth);
        final int delayWidth = decimal(start.mostDelayNs() / NANOS_PER_MICRO).length();
        for (int i = FLOW_HEADER.length; i < widths.length; i++) {
            widths[i] = Math.max(widths[i], delayWidth);
        }
        for (final int column : LEFT_ALIGNED) {
            isLeftAligned[column] = true;
        }
    }

    @Override
    public boolean append(final CollectedRecord record, final StringBuilder text) {
        names = namesCache.of(record);
        if (record.isOptions()) {
            return isVerbose && appendOptions(record, text);
        }
        readFlow(record);
        readDelay(record);
        final int columnsBefore = columnCount;
        columnCount = Math.max(columnCount, columnsWithValues());
        final boolean isWider = columnCount > columnsBefore;
        if (grow(cells) || isWider || !hasHeader) {
            hasHeader = true;
            appendHeader(text);
        }
        appendLine(cells, text);
        return true;
    }

    private int columnsWithValues() {
        if (!cells[QUANTILE_COLUMNS].equals(ABSENT)) {
            return COLUMNS;
        }
        if (!cells[DELAY_COLUMNS].equals(ABSENT)) {
            return QUANTILE_COLUMNS;
        }
        for (int i = FLOW_HEADER.length; i < DELAY_COLUMNS; i++) {
            if (!cells[i].equals(ABSENT)) {
                return DELAY_COLUMNS;
            }
        }
        return FLOW_HEADER.length;
    }

    private void appendHeader(final StringBuilder text) {
        final String[] header = new String[COLUMNS];
        System.arraycopy(FLOW_HEADER, 0, header, 0, FLOW_HEADER.length);
        System.arraycopy(DELAY_HEADER, 0, header, FLOW_HEADER.length, DELAY_HEADER.length);
        System.arraycopy(QUANTILE_HEADER, 0, header, DELAY_COLUMNS, QUANTILE_HEADER.length);
        header[QUANTILE_COLUMNS] = SKETCH_HEADER;
        appendLine(header, text);
    }

    private boolean grow(final String[] line) {
        boolean hasGrown = false;
        for (int i = 0; i < columnCount; i++) {
            hasGrown |= line[i].length() > widths[i];
            widths[i] = Math.max(widths[i], line[i].length());
        }
        return hasGrown;
    }

    private void appendLine(final String[] line, final StringBuilder text) {
        for (int i = 0; i < columnCount; i++) {
            final String padding = " ".repeat(widths[i] - line[i].length());
            text.append(i == 0 ? "" : "  ");
            text.append(isLeftAligned[i] ? line[i] : padding);
            text.append(!isLeftAligned[i] ? line[i] : i == columnCount - 1 ? "" : padding);
        }
        text.append('\n');
    }

    private boolean appendOptions(final CollectedRecord record, final StringBuilder text) {
        text.append('#');
        final String[] keys = names.names();
        for (int i = 0; i < keys.length; i++) {
            value.setLength(0);
            FieldValues.append(record, i, value);
            text.append(' ').append(keys[i]).append('=').append(printable(value));
        }
        text.append('\n');
        return true;
    }

    /** Untrusted text must not send control sequences to the terminal. */
    private static String printable(final CharSequence free) {
        return free.toString().replaceAll("\\p{Cc}", "?");
    }

    private void readFlow(final CollectedRecord record) {
        cells[0] = address(record, "sourceIPv4Address", "sourceIPv6Address");
        cells[1] = address(record, "destinationIPv4Address", "destinationIPv6Address");
        cells[2] = protocol(record, names.indexOf("protocolIdentifier"));
        cells[3] = number(record, "sourceTransportPort");
        cells[4] = number(record, "destinationTransportPort");
        cells[5] = number(record, "packetDeltaCount", "packetTotalCount");
        cells[6] = number(record, "octetDeltaCount", "octetTotalCount");
        final FlowTimes times = FlowTimes.of(record, names);
        cells[7] = times.hasStart() ? START.format(instant(times.startNs())) : ABSENT;
        cells[8] = times.hasDuration() ? decimal(times.durationNs() / NANOS_PER_MILLI) : ABSENT;
        cells[9] = label(record, "flowEndReason", END_REASONS);
    }

    private void readDelay(final CollectedRecord record) {
        final int column = FLOW_HEADER.length;
        cells[column] = micros(record, "flowlagDelayMeanNanoseconds");
        if (cells[column].equals(ABSENT)) {
            cells[column] = number(record, "pathDelayMeanDeltaMicroseconds");
        }
        cells[column + 1] = micros(record, "flowlagDelayStandardDeviationNanoseconds");
        cells[column + 2] = micros(record, "flowlagDelayErrorBoundNanoseconds");
        cells[column + 3] = label(record, "flowlagDelayEstimator", ESTIMATORS);
        cells[column + 4] = micros(record, "flowlagDelayInterpolatedMeanNanoseconds");
        final String lost = number(record, "flowlagLostPacketDeltaCount");
        final int kind = names.indexOf("flowlagLossKind");
        final boolean isUpperBound = kind >= 0 && record.unsigned(kind) == UPPER_BOUND;
        for (int i = 0; i < QUANTILES.length; i++) {
            cells[DELAY_COLUMNS + i] = micros(record, QUANTILES[i]);
        }
        cells[QUANTILE_COLUMNS] = micros(record, "flowlagDelaySketchMeanNanoseconds");
        cells[column + 6] = number(record, "flowlagDelayPacketDeltaCount");
        cells[column + 5] = isUpperBound && !lost.equals(ABSENT) ? "<=" + lost : lost;
    }

    private String address(final CollectedRecord record, final String ipv4Name, final String ipv6Name) {
        value.setLength(0);
        final int ipv4 = names.indexOf(ipv4Name);
        final int ipv6 = names.indexOf(ipv6Name);
        if (ipv4 >= 0 && record.isTyped(ipv4)) {
            FieldText.appendIpv4(value, record.buffer(), record.fieldOffset(ipv4));
        } else if (ipv6 >= 0 && record.isTyped(ipv6)) {
            FieldText.appendIpv6(value, record.buffer(), record.fieldOffset(ipv6));
        } else {
            value.append(ABSENT);
        }
        return value.toString();
    }

    private String number(final CollectedRecord record, final String... elementNames) {
        for (final String elementName : elementNames) {
            final int index = names.indexOf(elementName);
            if (index >= 0 && record.isTyped(index)) {
                return Long.toUnsignedString(record.unsigned(index));
            }
        }
        return ABSENT;
    }

    private String micros(final CollectedRecord record, final String elementName) {
        final int index = names.indexOf(elementName);
        return index < 0 || !record.isTyped(index) ? ABSENT : decimal(record.signed(index) / NANOS_PER_MICRO);
    }

    private String label(final CollectedRecord record, final String elementName, final String[] labels) {
        final int index = names.indexOf(elementName);
        if (index < 0 || !record.isTyped(index)) {
            return ABSENT;
        }
        final long number = record.unsigned(index);
        return number > 0 && number < labels.length ? labels[(int)number] : Long.toUnsignedString(number);
    }

    private static String protocol(final CollectedRecord record, final int index) {
        if (index < 0 || !record.isTyped(index)) {
            return ABSENT;
        }
        final int number = (int)record.unsigned(index);
        return switch (number) {
            case 1 -> "ICMP";
            case 2 -> "IGMP";
            case 6 -> "TCP";
            case 17 -> "UDP";
            case 47 -> "GRE";
            case 50 -> "ESP";
            case 58 -> "ICMP6";
            case 89 -> "OSPF";
            case 132 -> "SCTP";
            default -> Integer.toString(number);
        };
    }

    private static Instant instant(final long epochNs) {
        return Instant.ofEpochMilli(TimeUnit.NANOSECONDS.toMillis(epochNs));
    }

    private static String decimal(final double number) {
        return String.format(Locale.ROOT, "%.3f", number);
    }
}
