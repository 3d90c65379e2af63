package io.flowlag.exporter.export;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.file.Disk;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.export.spool.Spool;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.ipfix.transport.StreamSettings;
import io.flowlag.ipfix.transport.TcpTransport;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.ipfix.transport.TlsTransport;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.UdpTransport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * Builds destinations from their configuration. Used by one thread at a time, at start and at a reload. Allocated objects belong
 * to the destination.
 */
public final class DestinationFactory {
    private static final int SPOOL_NAME_LIMIT = 80;
    private static final int RETAINED_MESSAGES = 4;

    private final boolean mayWait;
    private final boolean[] isEgress;
    private final Map<Integer, String> interfaceNames;
    private final Counters counters;
    /** Keyed by their files. A reload reads them again, and the exporting stage asks for them at each connection. */
    private final Map<ExporterConfig.Tls, TlsCredentials> credentials = new ConcurrentHashMap<>();
    private volatile List<? extends DelayView> delays = List.of();

    /**
     * A factory for one process.
     *
     * @param mayWait        whether the exporting stage offers a rejected record again: file replay.
     * @param isEgress       by observation point: whether its packets were captured on their way out of the interface.
     * @param interfaceNames by interface index, for options records.
     * @param counters       of the process, for options records.
     */
    public DestinationFactory(
        final boolean mayWait, final boolean[] isEgress, final Map<Integer, String> interfaceNames, final Counters counters) {
        this.mayWait = mayWait;
        this.isEgress = isEgress.clone();
        this.interfaceNames = Map.copyOf(interfaceNames);
        this.counters = counters;
    }

    /**
     * Adds delay to the options records of all destinations, existing and future.
     *
     * @param delayViews of the process, by segment; empty without delay measurement.
     */
    public void delay(final List<? extends DelayView> delayViews) {
        delays = delayViews;
    }

    /**
     * Reads credentials again. Destinations with these files use them at their next connection.
     *
     * @throws IOException if one cannot be read or has invalid contents; the message names it.
     */
    public void readCredentials(final ExporterConfig.Tls tls) throws IOException {
        credentials.put(tls, TlsCredentials.load(tls.key(), tls.certificate(), tls.trust()));
    }

    /**
     * Makes one destination; it connects in its first duty cycle.
     *
     * @throws IOException   if a file cannot be opened or credentials cannot be read; the message names it.
     * @throws ExitException if the spool cannot be written.
     */
    public Destination make(final ExporterConfig config, final ExporterConfig.Destination spec) throws IOException {
        final Transport transport = transport(config, spec);
        try {
            return make(spec.address().uri(), transport, config, spec, Disk.SYSTEM,
                hasSpool(spec) ? new HelperThread("spool", Long.MAX_VALUE)::execute : Runnable::run);
        } catch (final IOException ex) { // thrown by a spool only
            transport.close();
            throw new ExitException(ExitCode.CANNOT_WRITE,
                spec.address().uri() + ": the spool cannot be written: " + ex.getMessage() + ": check exporting.spool");
        }
    }

    private boolean hasSpool(final ExporterConfig.Destination spec) {
        return spec.spool().directory() != null && !mayWait;
    }

    /** A directory per destination, with a name that is readable and unique. */
    private static Path spoolDirectory(final ExporterConfig.Destination spec) {
        final CRC32C checksum = new CRC32C();
        checksum.update(spec.address().uri().getBytes(StandardCharsets.UTF_8));
        final String readable = spec.address().uri().replaceAll("[^A-Za-z0-9.-]+", "_");
        return spec.spool().directory().resolve(
            readable.substring(0, Math.min(readable.length(), SPOOL_NAME_LIMIT)) +
                String.format("-%08x", (int)checksum.getValue()));
    }

    /** Upper bounds of some destinations' spools. Returns octets of memory and of disk. */
    public static long[] spoolBounds(final List<ExporterConfig.Destination> destinations) {
        final long[] bounds = new long[2];
        for (final ExporterConfig.Destination spec : destinations) {
            if (spec.spool().directory() != null) {
                bounds[0] += Backlog.memoryBytes() + retainedBytes(spec) + RETAINED_MESSAGES * (long)spec.maxMessageBytes();
                bounds[1] += spec.spool().maxBytes();
            }
        }
        return bounds;
    }

    private static int retainedBytes(final ExporterConfig.Destination spec) {
        return spec.address().transport() == ExporterConfig.Transport.FILE ? FileTransport.bufferBytes() :
            spec.connection().sendBufferBytes();
    }

    /** Makes a destination without a spool that sends by a given transport, which it owns from now on. */
    public Destination make(
        final String name, final Transport transport, final ExporterConfig config, final ExporterConfig.Destination spec) {
        try {
            return make(name, transport, config, spec, Disk.SYSTEM, Runnable::run);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex); // thrown by a spool only
        }
    }

    /**
     * Makes a destination that sends by a given transport, which it owns from now on.
     *
     * @param disk of its spool.
     * @param jobs works on the files of its spool.
     * @throws IOException if the spool cannot be opened.
     */
    public Destination make(
        final String name, final Transport transport, final ExporterConfig config, final ExporterConfig.Destination spec,
        final Disk disk, final Spool.Jobs jobs) throws IOException {
        final int enterpriseNumber = (int)config.exporting().enterpriseNumber();
        final ElementRegistry registry = FlowElements.registry(enterpriseNumber);
        final boolean hasBiflows = config.metering().biflow();
        final TemplateCatalog catalog =
            new TemplateCatalog(registry, TemplateCatalog.DEFAULT_MAX_TEMPLATES * (hasBiflows ? 2 : 1));
        final FlowRecordEncoder encoder =
            new FlowRecordEncoder(registry, catalog, spec.profile(), isEgress, hasBiflows, counters);
        final Backlog backlog = !hasSpool(spec) ? null : new Backlog(
            spoolDirectory(spec), disk, spec.spool().maxBytes(), spec.spool().recordsPerSecond(), registry, catalog,
            jobs);
        final ExportingSession session = new ExportingSession(transport, settings(config, spec, backlog), catalog);
        final boolean isFull = spec.profile() == Profile.FULL;
        final OptionsExporter options = new OptionsExporter(
            session, catalog, config, spec, isFull ? enterpriseElements(registry, hasBiflows) : List.of(), interfaceNames,
            isFull ? () -> delays : List::of, counters);
        return backlog == null ? new IpfixDestination(name, session, encoder, options) :
            new SpooledDestination(name, session, encoder, options, backlog);
    }

    private SessionSettings settings(
        final ExporterConfig config, final ExporterConfig.Destination spec, final Backlog backlog) {
        final SessionSettings settings = new SessionSettings()
            .observationDomainId((int)config.observationDomainId())
            .maxMessageBytes(spec.maxMessageBytes())
            .maxLingerMs(toMs(spec.flushIntervalNs()))
            .templateRefreshIntervalMs(toMs(spec.refresh().intervalNs()))
            .templateRefreshMessages(spec.refresh().messages())
            .lossless(mayWait);
        return backlog == null ? settings : settings.unsentRecords(backlog, retainedBytes(spec));
    }

    private Transport transport(final ExporterConfig config, final ExporterConfig.Destination spec) throws IOException {
        return switch (spec.address().transport()) {
            case UDP -> new UdpTransport(
                new Endpoint(spec.address().host(), spec.address().port()), spec.connection().sendBufferBytes(),
                spec.connection().rateLimitBps());
            case TCP -> new TcpTransport(streamSettings(spec));
            case TLS -> tlsTransport(config.exporting().tls(), spec);
            case FILE -> new FileTransport(spec.address().file(), hasSpool(spec) ? toMs(spec.connection().reconnectIntervalNs()) :
                0);
        };
    }

    private Transport tlsTransport(final ExporterConfig.Tls tls, final ExporterConfig.Destination spec) throws IOException {
        if (!credentials.containsKey(tls)) {
            readCredentials(tls);
        }
        return new TlsTransport(streamSettings(spec), () -> credentials.get(tls), spec.address().host(), tls.peers());
    }

    private static StreamSettings streamSettings(final ExporterConfig.Destination spec) {
        return StreamSettings.of(new Endpoint(spec.address().host(), spec.address().port()))
            .withTimes(toMs(spec.connection().connectTimeoutNs()), toMs(spec.connection().reconnectIntervalNs()))
            .withBuffers(spec.connection().sendBufferBytes(), StreamSettings.DEFAULT_SOCKET_SEND_BUFFER_BYTES)
            .withRateLimit(spec.connection().rateLimitBps());
    }

    private static List<InformationElement> enterpriseElements(final ElementRegistry registry, final boolean hasBiflows) {
        return registry.elements().stream()
            .filter(InformationElement::isEnterprise)
            .flatMap((element) -> hasBiflows ? Stream.of(element, element.reversed()) : Stream.of(element))
            .sorted(Comparator.comparingInt(InformationElement::elementId))
            .toList();
    }

    private static long toMs(final long ns) {
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }
}
