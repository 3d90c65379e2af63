package io.flowlag.tests.support;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code flowlag meter} from a capture to an IPFIX file, with statistics. */
public final class Meter {
    private final Path directory;
    private final Map<String, String> options = new LinkedHashMap<>();
    private Flowlag flowlag = new Flowlag().inThisJvm();

    /** How it ended and what it left. */
    public record Outcome(Command.Result result, Path ipfixFile, Path statsFile) {
        /** {@return the exit code} */
        public int exitCode() {
            return result.exitCode();
        }

        /** {@return what the IPFIX file holds; nothing if there is none} */
        public Reception reception() {
            return Files.exists(ipfixFile) ? IpfixReader.read(ipfixFile) : new Reception(List.of(), List.of());
        }

        /** {@return the statistics} */
        public Stats stats() {
            return Stats.read(statsFile);
        }
    }

    /**
     * Whole flows by outer headers, fragments apart, as the ground truth has them.
     *
     * @param directory for the output.
     */
    public Meter(final Path directory) {
        this.directory = directory;
        option("--active", "1d").option("--idle", "1d").option("--fragments", "off").option("--tunnels", "outer");
    }

    /** Sets an option; the last value prevails. */
    public Meter option(final String name, final String value) {
        options.put(name, value);
        return this;
    }

    /** Replaces the way in which the product is started. */
    public Meter by(final Flowlag other) {
        flowlag = other;
        return this;
    }

    /**
     * Meters.
     *
     * @param captures in time order.
     * @return how it ended.
     */
    public Outcome run(final Path... captures) {
        final Path ipfix = directory.resolve(captures[0].getFileName() + ".ipfix");
        final Path stats = directory.resolve(captures[0].getFileName() + ".json");
        final List<Object> line = new ArrayList<>(List.of("meter", "-r"));
        line.addAll(List.of(captures));
        line.addAll(List.of("--export", "file:" + ipfix, "--stats", stats));
        options.forEach((name, value) -> line.addAll(List.of(name, value)));
        return new Outcome(flowlag.run(line.toArray()), ipfix, stats);
    }
}
