package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.filter.BpfCompiler;
import io.flowlag.exporter.capture.filter.BpfFilterSupplier;
import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Sender;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.rli.reference.ReferenceSession;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks the contents that a configuration names: compiles the filter, reads keys and certificates, and builds a receiver's
 * settings, with the process's own code. Used by the command's thread, before anything is opened.
 */
public final class ContentCheck {
    private final Map<ConfigKey<?>, String> faults = new HashMap<>();

    private ContentCheck() {
    }

    /**
     * Checks a configuration. Without libpcap the filter is left unchecked.
     *
     * @throws io.flowlag.exporter.config.ConfigurationException with every fault, if there is one.
     */
    public static void check(final ExporterConfig config) {
        config.segments().forEach(ContentCheck::checkSegment);
        final List<ExporterConfig> receivers = config.segments().stream().filter((each) ->
            each.segment().role() == Role.RECEIVER && each.rli().injection().policy() != Policy.PASSIVE).toList();
        for (int i = 0; i < receivers.size(); i++) {
            for (final ExporterConfig earlier : receivers.subList(0, i)) {
                checkReferences(receivers.get(i), earlier);
            }
        }
    }

    /** References of one port and session that have a key in common differ by their source alone. */
    private static void checkReferences(final ExporterConfig config, final ExporterConfig earlier) {
        final boolean isSamePort = config.rli().references().port() == earlier.rli().references().port();
        final List<ReferenceSession> others = isSamePort ? ReferenceSessions.of(earlier.rli()) : List.of();
        if (isSamePort && ReferenceSessions.of(config.rli()).stream().anyMatch((each) ->
            others.stream().anyMatch((other) -> isLike(each, other)))) {
            config.refuse(Map.of(ConfigTable.REFERENCE_KEY_FILE, "the segment with id " + earlier.segment().id() +
                " has references of this session and key on the same port: give another session, key or rli.port"));
        }
    }

    private static boolean isLike(final ReferenceSession session, final ReferenceSession other) {
        final boolean isOtherSource = session.isSourceChecked() && other.isSourceChecked() &&
            (session.sourceHigh() != other.sourceHigh() || session.sourceLow() != other.sourceLow());
        return session.ssid() == other.ssid() && !isOtherSource && session.keys().stream().anyMatch((key) ->
            other.keys().stream().anyMatch((another) -> Arrays.equals(key, another)));
    }

    private static void checkSegment(final ExporterConfig config) {
        final ContentCheck check = new ContentCheck();
        check.filter(config.capture().filter());
        check.keys(config);
        check.tls(config.exporting().tls(), ConfigTable.TLS_CERTIFICATE, ConfigTable.TLS_KEY, ConfigTable.TLS_TRUST);
        if (config.exchange().tls() != null) {
            check.tls(config.exchange().tls(), ConfigTable.EXCHANGE_TLS_CERTIFICATE, ConfigTable.EXCHANGE_TLS_KEY,
                ConfigTable.EXCHANGE_TLS_TRUST);
        }
        if (config.exchange().listen() != null) {
            check.settings(config);
        }
        config.refuse(check.faults);
    }

    /**
     * Refuses threading sharded and sampled packets, for commands that always measure delay.
     *
     * @throws io.flowlag.exporter.config.ConfigurationException if there is one of them.
     */
    public static void requireOneFlowCache(final ExporterConfig config) {
        if (config.threading() == ExporterConfig.Threading.SHARDED) {
            config.refuse(Map.of(
                ConfigTable.THREADING, "measures no delay, which this command does: set it to pipelined or shared"));
        }
        final String problem = "leaves out packets, and this command measures delay: leave it out";
        if (config.metering().sampling().packets() > 1) {
            config.refuse(Map.of(ConfigTable.SAMPLING, problem));
        }
        if (config.metering().sampling().conversations() > 1) {
            config.refuse(Map.of(ConfigTable.SAMPLE_FLOWS, problem));
        }
    }

    /** Whether {@link #check} can check everything. Returns false if there is a filter and no libpcap to compile it. */
    public static boolean isFilterChecked(final ExporterConfig config) {
        return config.capture().filter() == null || BpfCompiler.isAvailable();
    }

    private void filter(final String expression) {
        if (expression == null || !BpfCompiler.isAvailable()) {
            return;
        }
        try {
            new BpfFilterSupplier(expression, (line) -> { });
        } catch (final CaptureException ex) {
            final String title = BpfCompiler.title(expression) + ": ";
            faults.put(ConfigTable.FILTER, ex.getMessage().replace(title, ""));
        }
    }

    private void keys(final ExporterConfig config) {
        if (config.decode().digestKeyFile() != null) {
            note(ConfigTable.DIGEST_KEY_FILE, DigestKey.fault(config.decode().digestKeyFile()));
        }
        if (config.rli().references().keyFile() != null) {
            note(ConfigTable.REFERENCE_KEY_FILE, ReferenceSessions.fault(config.rli().references().keyFile()));
        }
        for (final Sender sender : config.rli().references().senders()) {
            final String fault = sender.keyFile() == null ? null : ReferenceSessions.fault(sender.keyFile());
            note(ConfigTable.SENDERS,
                fault == null ? null : "session " + sender.session() + ": " + sender.keyFile() + " " + fault);
        }
        if (config.exchange().keyFile() != null) {
            read(ConfigTable.EXCHANGE_KEY_FILE, () -> SharedKey.load(config.exchange().keyFile()));
        }
    }

    private void tls(
        final ExporterConfig.Tls tls, final ConfigKey<Path> certificateKey, final ConfigKey<Path> keyKey,
        final ConfigKey<Path> trustKey) {
        if (tls.certificate() != null) {
            read(certificateKey, () -> TlsCredentials.certificates(tls.certificate()));
        }
        if (tls.trust() != null) {
            read(trustKey, () -> TlsCredentials.certificates(tls.trust()));
        }
        final boolean isRead = !faults.containsKey(certificateKey) && !faults.containsKey(trustKey);
        if (isRead && tls.key() != null && tls.certificate() != null && tls.trust() != null) {
            read(keyKey, () -> TlsCredentials.load(tls.key(), tls.certificate(), tls.trust()));
        }
    }

    /** The receiver's settings must fit the exchange. */
    private void settings(final ExporterConfig config) {
        try {
            SharedSettings.of(config, DigestKey.octets(null), 1, 0);
        } catch (final IllegalArgumentException ex) {
            note(ConfigTable.EXCHANGE_LISTEN, ex.getMessage());
        }
    }

    /** Runs a reader whose error message names its file. */
    private interface Reading {
        Object read() throws IOException;
    }

    private void read(final ConfigKey<?> key, final Reading reading) {
        try {
            reading.read();
        } catch (final IOException ex) {
            note(key, ex.getMessage());
        }
    }

    private void note(final ConfigKey<?> key, final String fault) {
        if (fault != null) {
            faults.putIfAbsent(key, fault);
        }
    }
}
