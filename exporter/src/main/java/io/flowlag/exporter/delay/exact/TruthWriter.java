package io.flowlag.exporter.delay.exact;

import io.flowlag.ipfix.collect.FieldText;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.BufferedWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Writes the exact delays of all flows as comma-separated values: a header, then a line for each flow, sorted numerically by IP
 * version, addresses, protocol and ports. Only packets with a digest count.
 * <p>
 * Mean and standard deviation (divisor one less than the count) come from exact sums and have three decimals, rounded half up.
 * The four delay fields are empty where no packet matched, the deviation where only one did.
 * <p>
 * Called by the thread that owns the flows, when matching has ended. Allocates what it writes.
 */
public final class TruthWriter {
    /** The first line of the file. */
    public static final String HEADER = "src,dst,proto,sport,dport,sent,received,mean_ns,sd_ns,min_ns,max_ns";

    private static final int DECIMALS = 3;
    private static final int IPV4 = 4;

    private final SegmentFlows flows;

    private TruthWriter(final SegmentFlows flows) {
        this.flows = flows;
    }

    /**
     * Writes a file, replacing an existing one.
     *
     * @throws IOException if it cannot be written.
     */
    public static void write(final SegmentFlows flows, final Path file) throws IOException {
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            write(flows, writer);
        }
    }

    /**
     * Writes to a stream of characters, and leaves it open.
     *
     * @param to takes the lines, each with a line feed at its end.
     * @throws IOException if it cannot be written.
     */
    public static void write(final SegmentFlows flows, final Appendable to) throws IOException {
        final TruthWriter writer = new TruthWriter(flows);
        to.append(HEADER).append('\n');
        final StringBuilder line = new StringBuilder();
        for (final int flow : sorted(flows)) {
            line.setLength(0);
            writer.append(flow, line);
            to.append(line);
        }
    }

    private static int[] sorted(final SegmentFlows flows) {
        final Comparator<Integer> order = Comparator.<Integer>comparingInt(flows::ipVersion)
            .thenComparing(flows::sourceHigh, Long::compareUnsigned)
            .thenComparing(flows::sourceLow, Long::compareUnsigned)
            .thenComparing(flows::destinationHigh, Long::compareUnsigned)
            .thenComparing(flows::destinationLow, Long::compareUnsigned)
            .thenComparingInt(flows::protocol)
            .thenComparingInt(flows::sourcePort)
            .thenComparingInt(flows::destinationPort);
        return IntStream.range(0, flows.limit()).filter(flows::isLive).boxed().sorted(order)
            .mapToInt(Integer::intValue).toArray();
    }

    private void append(final int flow, final StringBuilder line) {
        appendAddress(flows.ipVersion(flow), flows.sourceHigh(flow), flows.sourceLow(flow), line);
        line.append(',');
        appendAddress(flows.ipVersion(flow), flows.destinationHigh(flow), flows.destinationLow(flow), line);
        line.append(',').append(flows.protocol(flow))
            .append(',').append(flows.sourcePort(flow))
            .append(',').append(flows.destinationPort(flow))
            .append(',').append(flows.sent(flow))
            .append(',').append(flows.received(flow));
        appendDelay(flows.delayBuffer(), flows.delayOffset(flow), line);
        line.append('\n');
    }

    private static void appendDelay(final DirectBuffer delays, final int offset, final StringBuilder line) {
        final long count = DelayCounters.count(delays, offset);
        if (count == 0) {
            line.append(",,,,");
            return;
        }
        final BigDecimal meanNs = BigDecimal.valueOf(DelayCounters.sumNs(delays, offset))
            .divide(BigDecimal.valueOf(count), DECIMALS, RoundingMode.HALF_UP);
        line.append(',').append(meanNs.toPlainString()).append(',');
        if (count > 1) {
            final BigDecimal deviationNs = new BigDecimal(DelayCounters.standardDeviationNs(delays, offset));
            line.append(deviationNs.setScale(DECIMALS, RoundingMode.HALF_UP).toPlainString());
        }
        line.append(',').append(DelayCounters.minimumNs(delays, offset))
            .append(',').append(DelayCounters.maximumNs(delays, offset));
    }

    /** Appends an address of IP version 4 or 6; the high half is 0 for IPv4. */
    public static void appendAddress(final int ipVersion, final long high, final long low, final StringBuilder line) {
        final UnsafeBuffer address = new UnsafeBuffer(new byte[2 * Long.BYTES]);
        address.putLong(0, high, ByteOrder.BIG_ENDIAN);
        address.putLong(Long.BYTES, low, ByteOrder.BIG_ENDIAN);
        if (ipVersion == IPV4) {
            FieldText.appendIpv4(line, address, Long.BYTES + Integer.BYTES);
        } else {
            FieldText.appendIpv6(line, address, 0);
        }
    }
}
