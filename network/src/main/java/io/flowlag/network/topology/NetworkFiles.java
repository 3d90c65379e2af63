package io.flowlag.network.topology;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.TextFile;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/**
 * Reads the network that a text names: a file of YAML, or {@code rocketfuel:DIRECTORY}, {@code graphml:FILE},
 * {@code rfc8345:FILE}.
 */
public final class NetworkFiles {
    /** What a text may be. */
    public static final String SYNTAX = "FILE, rocketfuel:DIRECTORY, graphml:FILE or rfc8345:FILE";

    /** Of a name in a file of YAML, as a regular expression: what is written, without quotation marks. */
    public static final String NAME_CHARACTER = "[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}&&[^'\"]]";
    /** Formats of other tools. */
    public static final List<String> FORMATS = List.of("rocketfuel", "graphml", "rfc8345");

    private static final long MOST_BYTES = 4 << 20;
    private static final String WEIGHTS = "weights.intra";

    private NetworkFiles() {
    }

    /** Makes a network of the text of a file. */
    private interface Format {
        NetworkMap read(String text) throws TopologyException;
    }

    /**
     * Reads a network.
     *
     * @param named    as {@link #SYNTAX} has it.
     * @param problems gets every fault.
     * @return the network; null if there was a fault.
     */
    public static NetworkMap read(final String named, final Problems problems) {
        final Source source = source(named, problems);
        return source == null ? null : parse(source.format, source.name, source.text, problems);
    }

    /** A file that was read: as {@link #parse} takes it. */
    public record Source(String format, String name, String text) {
    }

    /** Reads the file that a text names, as {@link #read} does; null if there was a fault. */
    public static Source source(final String named, final Problems problems) {
        final int colon = named.indexOf(':');
        final String format = colon < 0 ? "" : named.substring(0, colon);
        final boolean isKnown = FORMATS.contains(format);
        final String name = (isKnown ? named.substring(colon + 1) : named) + ("rocketfuel".equals(format) ? "/" + WEIGHTS : "");
        final String text = text(name, problems);
        return text == null ? null : new Source(isKnown ? format : "", name, text);
    }

    /**
     * Reads the text of a network.
     *
     * @param format   one of {@link #FORMATS}, or something else for YAML.
     * @param name     of the file, for messages.
     * @param problems gets every fault.
     * @return the network; null if there was a fault.
     */
    public static NetworkMap parse(final String format, final String name, final String text, final Problems problems) {
        return switch (format) {
            case "rocketfuel" -> parsed(name, text, (of) -> NetworkMap.of(TopologyFiles.rocketfuel(of)), problems);
            case "graphml" -> parsed(name, text, TopologyFiles::graphMlMap, problems);
            case "rfc8345" -> parsed(name, text, (of) -> NetworkMap.of(TopologyFiles.rfc8345(of)), problems);
            default -> NetworkReader.read(name, text, problems);
        };
    }

    private static NetworkMap parsed(final String name, final String text, final Format format, final Problems problems) {
        try {
            return format.read(text);
        } catch (final TopologyException ex) {
            problems.add(Origin.DEFAULT, name + ": " + ex.getMessage());
            return null;
        }
    }

    /** Reads the file of a {@link Source} again; null if there was a fault. */
    public static String text(final String name, final Problems problems) {
        try {
            return TextFile.read(Path.of(name), "network", MOST_BYTES, problems);
        } catch (final InvalidPathException ex) {
            problems.addMissingInput(name + ": is no path: write " + SYNTAX);
            return null;
        }
    }
}
