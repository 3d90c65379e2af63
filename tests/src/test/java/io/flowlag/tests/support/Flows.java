package io.flowlag.tests.support;

import io.flowlag.exporter.lab.TrafficFlows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** Sets of flows: read from truth files, summed by key, compared. */
public final class Flows {
    private static final int DIFFERENCES_SHOWN = 5;
    private static final long NS_PER_MS = 1_000_000L;

    private Flows() {
    }

    /**
     * Sums records by key.
     *
     * @param records of flows, several of one flow perhaps.
     * @return one flow a key, in order of keys.
     */
    public static Map<String, Flow> byKey(final Collection<Flow> records) {
        final Map<String, Flow> flows = new TreeMap<>();
        records.forEach(record -> flows.merge(record.key().toString(), record, Flow::plus));
        return flows;
    }

    /**
     * The ground truth of a shared capture.
     *
     * @param csv with the columns named in the data's README.
     * @return the flows.
     */
    public static List<Flow> ofTruthFile(final Path csv) {
        try (Stream<String> lines = Files.lines(csv)) {
            return lines.skip(1).filter(line -> !line.isBlank()).map(line -> line.split(",")).map(column -> new Flow(
                column[1], column[2], Integer.parseInt(column[3]), Integer.parseInt(column[4]), Integer.parseInt(column[5]),
                Long.parseLong(column[6]), Long.parseLong(column[7]),
                toMs(parseNs(column[9])), toMs(parseNs(column[10])))).toList();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * The truth about generated traffic.
     *
     * @param truth of the generator, after all was emitted.
     * @return the flows.
     */
    public static List<Flow> of(final TrafficFlows truth) {
        final List<Flow> flows = new ArrayList<>();
        for (int i = 0; i < truth.flowCount(); i++) {
            flows.add(new Flow(truth.sourceAddress(i), truth.destinationAddress(i), truth.protocol(i), truth.sourcePort(i),
                truth.destinationPort(i), truth.packets(i), truth.octets(i), toMs(truth.firstNs(i)), toMs(truth.lastNs(i))));
        }
        return flows;
    }

    /** The truth may hold times beyond 64 bits, which are not compared. */
    private static long parseNs(final String text) {
        return new BigInteger(text).longValue();
    }

    /** {@return whole milliseconds since the epoch, rounded down} */
    public static long toMs(final long timeNs) {
        return Math.floorDiv(timeNs, NS_PER_MS);
    }

    /**
     * Fails unless both have the same flows with the same packets, octets and times.
     *
     * @param expected records.
     * @param actual   records.
     * @param where    they were seen, for the message.
     */
    public static void assertSame(final Collection<Flow> expected, final Collection<Flow> actual, final String where) {
        assertSame(expected, actual, UnaryOperator.identity(), where);
    }

    /**
     * Fails unless both have the same flows with the same packets and octets.
     *
     * @param expected records.
     * @param actual   records.
     * @param where    they were seen, for the message.
     */
    public static void assertSameCounts(final Collection<Flow> expected, final Collection<Flow> actual, final String where) {
        assertSame(expected, actual, Flow::timeless, where);
    }

    private static void assertSame(
        final Collection<Flow> expected, final Collection<Flow> actual, final UnaryOperator<Flow> aspect, final String where) {
        final Map<String, Flow> wanted = byKey(expected);
        final Map<String, Flow> seen = byKey(actual);
        final List<String> differences = new ArrayList<>();
        wanted.forEach((key, flow) -> {
            final Flow other = seen.get(key);
            if (other == null) {
                differences.add("missing " + flow);
            } else if (!aspect.apply(flow).equals(aspect.apply(other))) {
                differences.add("expected " + flow + "\n     but was " + other);
            }
        });
        seen.forEach((key, flow) -> {
            if (!wanted.containsKey(key)) {
                differences.add("unexpected " + flow);
            }
        });
        if (!differences.isEmpty()) {
            throw new AssertionError(where + ": " + differences.size() + " of " + wanted.size() + " flows differ\n  " +
                String.join("\n  ", differences.subList(0, Math.min(DIFFERENCES_SHOWN, differences.size()))));
        }
    }
}
