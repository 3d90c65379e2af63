package io.flowlag.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.status.CounterId;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What {@code --stats} wrote. */
public final class Stats {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final JsonNode root;

    private Stats(final JsonNode root) {
        this.root = root;
    }

    /**
     * Reads a file.
     *
     * @param file that {@code --stats} named.
     * @return its content.
     */
    public static Stats read(final Path file) {
        try {
            return new Stats(JSON.readTree(file.toFile()));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** {@return the content of a file, which is empty while the file is not there} */
    public static JsonNode tree(final Path file) {
        return Files.exists(file) ? read(file).root : JSON.createObjectNode();
    }

    /**
     * A counter of one of several segments, or of the only one.
     *
     * @param stats   content of a file.
     * @param segment index of it.
     * @param label   of the counter.
     * @return its value.
     */
    public static long segmentCounter(final JsonNode stats, final int segment, final String label) {
        return (stats.has("delay") ? stats.get("delay") : stats.path("segments").path(segment)).path("counters").path(label)
            .asLong();
    }

    /** {@return the value of a counter} */
    public long counter(final CounterId id) {
        return number(root.path("counters"), id.label());
    }

    /**
     * A counter of the delay stage.
     *
     * @param label of it.
     * @return its value.
     */
    public long delayCounter(final String label) {
        return number(root.path("delay").path("counters"), label);
    }

    /**
     * A gauge of the delay stage.
     *
     * @param label of it.
     * @return its value.
     */
    public double delayGauge(final String label) {
        return root.path("delay").path("gauges").path(label).asDouble(Double.NaN);
    }

    /** {@return the end of the last interval of which sketches were compared, ns since the epoch; 0 before the first} */
    public long comparedThroughNs() {
        return root.path("delay").path("sketches").path(0).path("end_ns").asLong(0);
    }

    /** {@return the bound of memory that the process states, octets, its heap not included} */
    public long memoryBoundBytes() {
        return number(root, "memory_bound_bytes");
    }

    /** {@return the sum of all refusals} */
    public long refused() {
        return number(root.path("counters"), "refused");
    }

    /**
     * A number about one destination.
     *
     * @param index in the order of the command line.
     * @param field such as {@code records_failed}.
     * @return its value.
     */
    public long destination(final int index, final String field) {
        return number(root.path("destinations").path(index), field);
    }

    /**
     * A number about the spool of the first destination.
     *
     * @param field such as {@code records_perhaps_twice}.
     * @return its value.
     */
    public long spool(final String field) {
        return number(root.path("destinations").path(0).path("spool"), field);
    }

    /**
     * Computes the accounting identity from the counters alone, then compares it with the process's own result.
     *
     * @return this; fails if a packet or a record is unaccounted for.
     */
    public Stats orFailUnlessAccounted() {
        final long explained = counter(CounterId.DECODED) + refused() + counter(CounterId.FILTERED) +
            counter(CounterId.NOT_SAMPLED) + counter(CounterId.LOST_IN_KERNEL);
        final long decodedExplained = counter(CounterId.METERED) + counter(CounterId.SENDER_POINT) +
            counter(CounterId.REFERENCE_PACKETS) + counter(CounterId.OWN_TRAFFIC) +
            counter(CounterId.DROPPED_AT_PACKET_RING);
        boolean holds = counter(CounterId.CAPTURED) == explained && counter(CounterId.DECODED) == decodedExplained;
        for (final JsonNode destination : root.path("destinations")) {
            holds &= number(destination, "records_made") == number(destination, "records_exported") +
                number(destination, "records_failed") + number(destination, "records_waiting");
        }
        holds &= root.path("delay").path("identity").path("holds").asBoolean(true);
        if (!holds || !root.path("identity").path("holds").asBoolean()) {
            throw new AssertionError("not accounted for: " + root.toPrettyString());
        }
        return this;
    }

    private static long number(final JsonNode object, final String field) {
        if (!object.path(field).isNumber()) {
            throw new AssertionError("no number " + field + " in " + object.toPrettyString());
        }
        return object.path(field).asLong();
    }

    @Override
    public String toString() {
        return root.toPrettyString();
    }
}
