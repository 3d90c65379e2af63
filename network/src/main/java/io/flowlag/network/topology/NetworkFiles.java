package io.flowlag.network.topology;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.TextFile;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Reads the network that a text names: a file of YAML, or {@code rocketfuel:DIRECTORY}, {@code graphml:FILE},
 * {@code rfc8345:FILE}.
 */
public final class NetworkFiles {
    /** What a text may be. */
    public static final String SYNTAX = "FILE, rocketfuel:DIRECTORY, graphml:FILE or rfc8345:FILE";

    private static final long MOST_BYTES = 4 << 20;
    private static final String WEIGHTS = "weights.intra";

    private NetworkFiles() {
    }

    /** Makes a network of the text of a file. */
    private interface Format {
        Topology read(String text) throws TopologyException;
    }

    /**
     * Reads a network.
     *
     * @param named    as {@link #SYNTAX} has it.
     * @param problems gets every fault.
     * @return the network; null if there was a fault.
     */
    public static NetworkMap read(final String named, final Problems problems) {
        final int colon = named.indexOf(':');
        final String rest = named.substring(colon + 1);
        return switch (colon < 0 ? "" : named.substring(0, colon)) {
            case "rocketfuel" -> read(rest + "/" + WEIGHTS, TopologyFiles::rocketfuel, problems);
            case "graphml" -> read(rest, TopologyFiles::graphMl, problems);
            case "rfc8345" -> read(rest, TopologyFiles::rfc8345, problems);
            default -> {
                final String text = text(named, problems);
                yield text == null ? null : NetworkReader.read(named, text, problems);
            }
        };
    }

    private static NetworkMap read(final String name, final Format format, final Problems problems) {
        final String text = text(name, problems);
        try {
            return text == null ? null : NetworkMap.of(format.read(text));
        } catch (final TopologyException ex) {
            problems.add(Origin.DEFAULT, name + ": " + ex.getMessage());
            return null;
        }
    }

    private static String text(final String name, final Problems problems) {
        try {
            return TextFile.read(Path.of(name), "network", MOST_BYTES, problems);
        } catch (final InvalidPathException ex) {
            problems.addMissingInput(name + ": is no path: write " + SYNTAX);
            return null;
        }
    }
}
