package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.file.FileAccess;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.RecordField;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.collect.Collector;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * {@code flowlag collect}: a Collecting Process that prints records until its input ends or it is stopped. Runs once, on the
 * command's thread.
 */
public final class CollectProcess {
    private static final Logger LOG = LoggerFactory.getLogger(CollectProcess.class);

    private CollectProcess() {
    }

    /** Collects records. The configuration has the enterprise number of flowlag's elements. */
    public static ExitCode run(final ExporterConfig config, final CollectOptions options, final Terminal terminal) {
        final boolean hasTls = options.tls() != null;
        final Signals signals = Signals.install(hasTls ? Signals.HangUp.RELOADS : Signals.HangUp.STOPS);
        final ByteArrayOutputStream statistics = new ByteArrayOutputStream();
        try (PrintStream statisticsOut = new PrintStream(statistics, true, StandardCharsets.UTF_8);
            Collector collector = Collector.open(
                options.withColumns(RecordField.names()),
                FlowElements.registry((int)config.exporting().enterpriseNumber()), terminal.out(), statisticsOut)) {
            collector.run(() -> {
                if (hasTls && signals.takeReloadRequest()) {
                    renew(collector, config.exporting().tls());
                }
                return signals.isStopRequested();
            });
            tell(terminal, statistics);
            return ExitCode.DONE;
        } catch (final ExitException ex) {
            tell(terminal, statistics);
            if (ex.exitCode() == ExitCode.CANNOT_WRITE && terminal.isReaderGone()) {
                return ExitCode.CANNOT_WRITE;
            }
            throw ex;
        }
    }

    private static void renew(final Collector collector, final ExporterConfig.Tls tls) {
        try {
            final String fault = FileAccess.fault(tls.key(), true);
            if (fault != null) {
                throw new IOException(tls.key() + " " + fault);
            }
            collector.renew(TlsCredentials.load(tls.key(), tls.certificate(), tls.trust()));
            LOG.info("key and certificates were read again");
        } catch (final IOException ex) {
            LOG.error("key and certificates stay as they were: {}", ex.getMessage());
        }
    }

    /** The options of a collector that listens; throws an {@link ExitException} if credentials for TLS cannot be read. */
    public static CollectOptions listening(final ExporterConfig config, final List<ListenAddress> addresses) {
        if (addresses.stream().noneMatch((address) -> address.kind() == SessionKind.TLS)) {
            return CollectOptions.DEFAULTS.withListen(addresses);
        }
        final ExporterConfig.Tls tls = config.exporting().tls();
        try {
            return CollectOptions.DEFAULTS
                .withTls(TlsCredentials.load(tls.key(), tls.certificate(), tls.trust()).context())
                .withListen(addresses);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, ex.getMessage());
        }
    }

    private static void tell(final Terminal terminal, final ByteArrayOutputStream statistics) {
        final String line = statistics.toString(StandardCharsets.UTF_8).stripTrailing();
        if (!line.isEmpty()) {
            terminal.message(line);
        }
    }
}
