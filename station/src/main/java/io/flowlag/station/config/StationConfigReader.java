package io.flowlag.station.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.common.config.TextFile;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;
import io.flowlag.common.config.YamlReader;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.JobSettings;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Reads the configuration of a station whole, with line and column of each fault. Used by one thread. */
public final class StationConfigReader {
    private static final String EXAMPLE = "network: {name: backbone, topology: backbone.yaml}";
    private static final long MOST_BYTES = 1 << 20;
    /** Of which one is followed. */
    private static final int MOST_FLOWS = 65_535;
    private static final ValueType<Long> SLOW = UnitValue.duration("1us", "10s");
    private static final ValueType<Long> LENGTH = UnitValue.duration("1s", "1h");
    private static final ValueType<Long> LATENESS = UnitValue.duration("5s", "1h");
    private static final ValueType<Long> LATE_LIMIT = UnitValue.duration("5s", "24h");
    private static final ValueType<Long> INTERVAL = UnitValue.duration("1s", "1h");
    private static final ValueType<Long> PARALLELISM = UnitValue.count("1", "128");
    private static final ValueType<Long> ENTERPRISE = UnitValue.count("1", "4294967295");
    private static final ValueType<Double> CONFIDENCE = ValueType.of("0.5 to 0.999", StationConfigReader::confidence);
    private static final ValueType<Integer> SHARE = ValueType.of("1 or 1/2 to 1/65535", StationConfigReader::share);
    private static final ValueType<Long> FLOWS = UnitValue.count("1k", "100m");

    private final Path file;
    private final Problems problems;
    private final Sections sections;

    private StationConfigReader(final Path file, final Problems problems) {
        this.file = file;
        this.problems = problems;
        sections = new Sections(problems);
    }

    /**
     * Reads a configuration and the network that it names. Files are relative to its own.
     *
     * @param problems gets every fault.
     * @return null if there was a fault.
     */
    public static StationConfig read(final Path file, final Problems problems) {
        final String yaml = TextFile.read(file, "configuration", MOST_BYTES, problems);
        try {
            return yaml == null ? null : new StationConfigReader(file, problems).config(
                new YamlReader(file.toString(), EXAMPLE, problems).read(yaml));
        } catch (final IOException ex) {
            problems.addMissingInput(file + ": cannot be read: " + ex.getMessage());
            return null;
        }
    }

    private StationConfig config(final ConfigNode.Mapping root) {
        final Map<String, ConfigNode.Entry> keys = sections.keys(
            "", root, "network", "listen", "windows", "paths", "locate", "slos", "view", "alerts", "flink", "enterprise-number",
            "kafka");
        final JobSettings job = job(keys, root.origin());
        final StationConfig config = new StationConfig(job, new ListenSection(file, problems).read(keys.get("listen")),
            new ViewSection(file, problems).read(keys.get("view"), keys.get("alerts")), flink(keys),
            new KafkaSection(file, problems).read(keys.get("kafka")));
        return problems.isEmpty() ? config : null;
    }

    private JobSettings job(final Map<String, ConfigNode.Entry> keys, final Origin origin) {
        final Map<String, ConfigNode.Entry> network = sections.keys("network", keys.get("network"), "name", "topology", "slow");
        final Map<String, ConfigNode.Entry> locate = sections.keys("locate", keys.get("locate"), "confidence");
        final JobSettings.Windows windows = windows(keys, origin);
        final JobSettings.Paths paths = paths(keys);
        final double confidence = sections.value("locate", locate.get("confidence"), CONFIDENCE, 0.95);
        final int enterpriseNumber = sections.value("", keys.get("enterprise-number"), ENTERPRISE,
            (long)FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER).intValue();
        final String topology = sections.text("network", network.get("topology"), null);
        if (topology == null) {
            problems.add(origin, "network.topology: is missing: name a file such as backbone.yaml");
            return null;
        }
        final NetworkFiles.Source source = NetworkFiles.source(resolved(topology), problems);
        final NetworkMap map =
            source == null ? null : NetworkFiles.parse(source.format(), source.name(), source.text(), problems);
        if (map == null) {
            return null;
        }
        return new JobSettings(sections.text("network", network.get("name"), "network"), source.format(), source.name(),
            source.text(), enterpriseNumber, sections.value("network", network.get("slow"), SLOW, 500_000L), confidence, windows,
            paths, new ServiceLevels(sections, problems, map).read(keys.get("slos")));
    }

    private JobSettings.Paths paths(final Map<String, ConfigNode.Entry> keys) {
        final Map<String, ConfigNode.Entry> paths = sections.keys("paths", keys.get("paths"), "share", "flows");
        return new JobSettings.Paths(
            sections.value("paths", paths.get("share"), SHARE, JobSettings.Paths.USUAL.oneOf()),
            sections.value("paths", paths.get("flows"), FLOWS, (long)JobSettings.Paths.USUAL.flows()).intValue());
    }

    private JobSettings.Windows windows(final Map<String, ConfigNode.Entry> keys, final Origin origin) {
        final Map<String, ConfigNode.Entry> windows =
            sections.keys("windows", keys.get("windows"), "length", "lateness", "late-limit");
        final JobSettings.Windows times = new JobSettings.Windows(ms("windows", windows.get("length"), LENGTH, "60s"),
            ms("windows", windows.get("lateness"), LATENESS, "75s"), ms("windows", windows.get("late-limit"), LATE_LIMIT, "1h"));
        if (TimeUnit.HOURS.toMillis(1) % times.lengthMs() != 0) {
            problems.add(windows.get("length").origin(), "windows.length: does not divide an hour: give such as 10s or 60s");
        }
        if (times.lateLimitMs() < times.latenessMs()) {
            problems.add(windows.containsKey("late-limit") ? windows.get("late-limit").origin() : origin,
                "windows.late-limit: is below windows.lateness: give at least that");
        }
        return times;
    }

    private EmbeddedJob.Settings flink(final Map<String, ConfigNode.Entry> keys) {
        final Map<String, ConfigNode.Entry> flink =
            sections.keys("flink", keys.get("flink"), "checkpoints", "interval", "parallelism");
        return new EmbeddedJob.Settings(
            sections.file("flink", flink.get("checkpoints"), file), ms("flink", flink.get("interval"), INTERVAL, "10s"),
            sections.value("flink", flink.get("parallelism"), PARALLELISM, 0L).intValue());
    }

    /** Files are relative to the configuration; a format stays in front. */
    private String resolved(final String named) {
        final int colon = named.indexOf(':');
        final boolean hasFormat = colon > 0 && NetworkFiles.FORMATS.contains(named.substring(0, colon));
        final String before = hasFormat ? named.substring(0, colon + 1) : "";
        return before + file.resolveSibling(named.substring(before.length()));
    }

    private long ms(final String path, final ConfigNode.Entry entry, final ValueType<Long> type, final String otherwise) {
        try {
            return TimeUnit.NANOSECONDS.toMillis(sections.value(path, entry, type, type.parse(otherwise)));
        } catch (final BadValueException ex) {
            throw new IllegalStateException("default " + otherwise, ex);
        }
    }

    private static Double confidence(final String text) throws BadValueException {
        if (!text.matches("0\\.[0-9]{1,4}") || Double.parseDouble(text) < 0.5 || Double.parseDouble(text) > 0.999) {
            throw new BadValueException("must be 0.5 to 0.999");
        }
        return Double.parseDouble(text);
    }

    /** One of how many. */
    private static Integer share(final String text) throws BadValueException {
        if (!text.matches("1(/[1-9][0-9]{0,4})?") || Integer.parseInt(text.substring(text.indexOf('/') + 1)) > MOST_FLOWS) {
            throw new BadValueException("must be 1 or 1/2 to 1/65535");
        }
        return Integer.parseInt(text.substring(text.indexOf('/') + 1));
    }
}
