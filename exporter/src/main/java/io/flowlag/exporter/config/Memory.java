package io.flowlag.exporter.config;

import java.util.List;
import java.util.stream.Stream;

/**
 * The memory of {@code run}: key {@code memory}, and what each part takes of it at the start. The parts are known where the
 * configuration was concluded for {@code run}, see {@link ConfigLoader#conclude(java.util.function.Function)}. Immutable.
 *
 * @param bytes bound of the process, octets.
 * @param parts whose sum is at most the bound; empty for other commands.
 */
public record Memory(long bytes, List<Part> parts) {
    /** Name of the part that may grow: sketches, sums of flows, packet caches, joint estimation and the exchange. */
    public static final String SKETCHES = "sketches";

    /** What the notes of sizes begin with that follow from the memory. */
    public static final String NOTE = "from memory=";

    /** A part of the process, and the octets that it takes at most, by formula. */
    public record Part(String name, long bytes) {
    }

    /** {@return the memory of a configuration} */
    public static Memory of(final ExporterConfig config) {
        return (Memory)config.sections().get(Memory.class);
    }

    /** {@return the parts with the octets that each may take, whose sum is the bound; {@link #SKETCHES} have what is spare} */
    public List<Part> bounds() {
        final boolean areSketched = parts.stream().anyMatch((each) -> each.name().equals(SKETCHES) && each.bytes() > 0);
        final Part sketches = new Part(SKETCHES, areSketched ? sketchesBytes() : 0);
        final Part spare = new Part("spare", areSketched ? 0 : spareBytes());
        return Stream.concat(parts.stream().map((each) -> each.name().equals(SKETCHES) ? sketches : each), Stream.of(spare))
            .filter((each) -> each.bytes() > 0).toList();
    }

    /** {@return octets that all parts take at the start} */
    public long takenBytes() {
        return parts.stream().mapToLong(Part::bytes).sum();
    }

    /** {@return octets that no part takes at the start; none without parts} */
    public long spareBytes() {
        return parts.isEmpty() ? 0 : bytes - takenBytes();
    }

    /**
     * {@return octets that {@link #SKETCHES} of all senders and segments may take together: all that no other part has. While
     * settings change, the tables of before and those of after share it.}
     */
    public long sketchesBytes() {
        return bytes - parts.stream().filter((each) -> !each.name().equals(SKETCHES)).mapToLong(Part::bytes).sum();
    }
}
