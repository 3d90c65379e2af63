package io.flowlag.tests.lab.network;

import io.flowlag.network.topology.Topology;
import io.flowlag.network.topology.TopologyException;
import io.flowlag.network.topology.TopologyFiles;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;

/**
 * Networks of the shared data, in the folder that {@code FLOWLAG_SHARED} names, otherwise in {@code shared} next to the
 * checkout; and networks of chance, which need no data.
 */
final class SharedNetworks {
    private static final String FOLDER = System.getenv("FLOWLAG_SHARED");

    private SharedNetworks() {
    }

    /** Reads {@code zoo/NAME} or {@code rocketfuel/NUMBER}; absent if it is not there. */
    static Optional<Topology> of(final String name) {
        // Tests run in the folder of their module.
        final Path beside = Path.of("..", Files.isDirectory(Path.of("..", "shared")) ? "" : "..", "shared");
        final Path shared = FOLDER == null ? beside : Path.of(FOLDER);
        final boolean isZoo = name.startsWith("zoo/");
        final Path file = shared.resolve("data/topology").resolve(isZoo ? name + ".graphml" : name + "/weights.intra");
        if (!Files.isReadable(file)) {
            return Optional.empty();
        }
        try {
            final String text = Files.readString(file);
            return Optional.of(isZoo ? TopologyFiles.graphMl(text) : TopologyFiles.rocketfuel(text));
        } catch (final IOException ex) {
            throw new UncheckedIOException(file + " cannot be read", ex);
        } catch (final TopologyException ex) {
            throw new IllegalStateException(file + ": " + ex.getMessage(), ex);
        }
    }

    /** A ring with as many chords as half its nodes; weights of chance, some of them equal. */
    static Topology ofChance(final int nodes, final long seed) {
        final Random random = new Random(seed);
        final Topology.Builder builder = new Topology.Builder();
        try {
            for (int i = 0; i < nodes; i++) {
                link(builder, i, (i + 1) % nodes, random);
            }
            for (int i = 0; i < nodes / 2; i++) {
                final int from = random.nextInt(nodes);
                link(builder, from, (from + 2 + random.nextInt(nodes - 3)) % nodes, random);
            }
            return builder.build();
        } catch (final TopologyException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void link(final Topology.Builder builder, final int from, final int to, final Random random)
        throws TopologyException {
        final String weight = String.valueOf(1 + random.nextInt(4));
        builder.link("n" + (100 + from), "n" + (100 + to), weight).link("n" + (100 + to), "n" + (100 + from), weight);
    }
}
