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
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.JobSettings;
import io.flowlag.station.view.View;
import io.flowlag.station.view.ViewAccess;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/** Reads the configuration of a station whole, with line and column of each fault. Used by one thread. */
public final class StationConfigReader {
    private static final String EXAMPLE = "network: {name: backbone, topology: backbone.yaml}";
    private static final String LISTEN = "udp://HOST:PORT, tcp://HOST:PORT or " +
        "tls://HOST:PORT?certificate=FILE&key=FILE&authorities=FILE";
    private static final String NONE = "none";
    private static final String WEBHOOK = "write http://HOST/... or https://HOST/..., or none";
    private static final long MOST_BYTES = 1 << 20;
    private static final int MOST_PORT = 65_535;
    /** Of which one is followed. */
    private static final int MOST_FLOWS = 65_535;
    private static final int VIEW_PORT = 8080;
    private static final String HISTORY = "flowlag-history.db";
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
        final StationConfig config = new StationConfig(job, listeners(keys.get("listen")), view(keys), flink(keys),
            new KafkaSection(file, problems).read(keys.get("kafka")));
        return problems.isEmpty() ? config : null;
    }

    private JobSettings job(final Map<String, ConfigNode.Entry> keys, final Origin origin) {
        final Map<String, ConfigNode.Entry> network = section(keys, "network", "name", "topology", "slow");
        final Map<String, ConfigNode.Entry> locate = section(keys, "locate", "confidence");
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
        final Map<String, ConfigNode.Entry> paths = section(keys, "paths", "share", "flows");
        return new JobSettings.Paths(
            sections.value("paths", paths.get("share"), SHARE, JobSettings.Paths.USUAL.oneOf()),
            sections.value("paths", paths.get("flows"), FLOWS, (long)JobSettings.Paths.USUAL.flows()).intValue());
    }

    private JobSettings.Windows windows(final Map<String, ConfigNode.Entry> keys, final Origin origin) {
        final Map<String, ConfigNode.Entry> windows = section(keys, "windows", "length", "lateness", "late-limit");
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

    private View.Settings view(final Map<String, ConfigNode.Entry> keys) {
        final Map<String, ConfigNode.Entry> view = section(keys, "view", "listen", "history", "tls", "token");
        final Map<String, ConfigNode.Entry> alerts = section(keys, "alerts", "webhook");
        final ViewAccess access = access(view);
        final InetSocketAddress listen = viewAddress(view.get("listen"));
        if (listen != null && access != null) {
            access.fault(listen).ifPresent((fault) -> problems.add(
                view.get("listen").origin(), "view.listen", listen.getHostString() + ":" + listen.getPort(), fault));
        }
        return new View.Settings(listen, access, file.resolveSibling(sections.text("view", view.get("history"), HISTORY)),
            webhook(alerts.get("webhook")));
    }

    /** Null if a file cannot be used. */
    private ViewAccess access(final Map<String, ConfigNode.Entry> view) {
        final Map<String, ConfigNode.Entry> tls = section(view, "tls", "certificate", "key", "authorities");
        final Path certificate = path("view.tls", tls.get("certificate"));
        final Path key = path("view.tls", tls.get("key"));
        final Path authorities = path("view.tls", tls.get("authorities"));
        final ConfigNode.Entry token = view.get("token");
        if (view.containsKey("tls") && (certificate == null || key == null)) {
            problems.add(view.get("tls").origin(), "view.tls: needs certificate and key, files in PEM");
            return null;
        }
        try {
            final Optional<SSLContext> context = certificate == null ? Optional.empty() : Optional.of(TlsCredentials.load(
                key, certificate, authorities == null ? certificate : authorities).context()); // without, no client is asked
            final Path tokenFile = path("view", token);
            return new ViewAccess(context, authorities != null, tokenFile == null ? Optional.empty() : token(token, tokenFile));
        } catch (final IOException ex) {
            problems.add(view.get("tls").origin(), "view.tls: " + ex.getMessage());
            return null;
        }
    }

    private Optional<String> token(final ConfigNode.Entry entry, final Path tokenFile) {
        try {
            return Optional.of(ViewAccess.token(tokenFile));
        } catch (final IOException ex) {
            problems.add(entry.origin(), "view.token", tokenFile.toString(), ex.getMessage());
            return Optional.empty();
        }
    }

    private Optional<URI> webhook(final ConfigNode.Entry entry) {
        final String text = sections.text("alerts", entry, NONE);
        try {
            final URI uri = NONE.equals(text) ? null : new URI(text);
            if (uri == null || uri.getHost() != null && List.of("http", "https").contains(uri.getScheme())) {
                return Optional.ofNullable(uri);
            }
        } catch (final URISyntaxException ex) {
            problems.add(entry.origin(), "alerts.webhook", text, ex.getReason() + ": " + WEBHOOK);
            return Optional.empty();
        }
        problems.add(entry.origin(), "alerts.webhook", text, WEBHOOK);
        return Optional.empty();
    }

    private EmbeddedJob.Settings flink(final Map<String, ConfigNode.Entry> keys) {
        final Map<String, ConfigNode.Entry> flink = section(keys, "flink", "checkpoints", "interval", "parallelism");
        return new EmbeddedJob.Settings(
            path("flink", flink.get("checkpoints")), ms("flink", flink.get("interval"), INTERVAL, "10s"),
            sections.value("flink", flink.get("parallelism"), PARALLELISM, 0L).intValue());
    }

    private Map<String, ConfigNode.Entry> section(
        final Map<String, ConfigNode.Entry> keys, final String name, final String... known) {
        return sections.keys(name, keys.containsKey(name) ? keys.get(name).value() : null, known);
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

    private Path path(final String section, final ConfigNode.Entry entry) {
        final String text = sections.text(section, entry, NONE);
        return NONE.equals(text) ? null : file.resolveSibling(text);
    }

    private List<StationConfig.Listener> listeners(final ConfigNode.Entry entry) {
        final List<StationConfig.Listener> listeners = new ArrayList<>();
        if (entry == null) {
            listeners.add(new StationConfig.Listener(
                SessionKind.UDP, new InetSocketAddress(InetAddress.getLoopbackAddress(), Endpoint.IPFIX_PORT), null));
        }
        for (final ConfigNode.Scalar text : sections.items("", entry)) {
            try {
                listeners.add(listener(text.text()));
            } catch (final BadValueException ex) {
                problems.add(text.origin(), "listen", text.text(), ex.getMessage());
            }
        }
        return listeners;
    }

    private StationConfig.Listener listener(final String text) throws BadValueException {
        final int query = text.indexOf('?');
        try {
            final ListenAddress address = ListenAddress.parse(query < 0 ? text : text.substring(0, query));
            return new StationConfig.Listener(
                address.kind(), address.resolve(), credentials(address.kind(), query < 0 ? null : text.substring(query + 1)));
        } catch (final IllegalArgumentException ex) {
            throw new BadValueException("is no address to receive on: write " + LISTEN);
        } catch (final UnknownHostException ex) {
            throw new BadValueException("there is no such host: write an address of this machine");
        }
    }

    private StationConfig.Credentials credentials(final SessionKind kind, final String query) throws BadValueException {
        if (kind != SessionKind.TLS) {
            if (query != null) {
                throw new BadValueException("only tls:// takes files: write " + LISTEN);
            }
            return null;
        }
        final Map<String, Path> files = new HashMap<>();
        for (final String each : query == null ? new String[0] : query.split("&")) {
            final int equals = each.indexOf('=');
            files.put(equals < 0 ? each : each.substring(0, equals), file.resolveSibling(each.substring(equals + 1)));
        }
        if (!files.keySet().equals(Set.of("certificate", "key", "authorities"))) {
            throw new BadValueException("TLS needs certificate, key and authorities: write " + LISTEN);
        }
        return new StationConfig.Credentials(files.get("certificate"), files.get("key"), files.get("authorities"));
    }

    private InetSocketAddress viewAddress(final ConfigNode.Entry entry) {
        final String text = sections.text("view", entry, Integer.toString(VIEW_PORT));
        final int colon = text.lastIndexOf(':');
        final String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|]$", "");
        final String port = text.substring(colon + 1);
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > MOST_PORT) {
            problems.add(entry == null ? Origin.DEFAULT : entry.origin(), "view.listen", text, "must be PORT or HOST:PORT");
            return null;
        }
        try {
            final InetAddress address = host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host);
            return new InetSocketAddress(address, Integer.parseInt(port));
        } catch (final UnknownHostException ex) {
            problems.add(entry.origin(), "view.listen", text, "there is no such host");
            return null;
        }
    }
}
