package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.CollectorServer;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.MessageStreamReader;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.BufferedInputStream;
import java.io.BufferedWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * {@code flowlag collect}: receives or reads IPFIX, writes the records as text, and ends with a line of statistics.
 * {@link #open} binds every address, so that {@link #addresses} is known before {@link #run} serves them.
 * <p>
 * One thread calls {@code open}, {@code run} and {@code close}; any thread may read {@link #counters} and {@link #addresses}.
 * Owns its sockets and input. Allocates with each record.
 */
public final class Collector implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Collector.class);
    private static final long POLL_WAIT_MS = 100;
    /** Duty cycles after the stop for data still in the sockets. */
    private static final int DRAIN_TURNS = 1_000;
    private static final int FLUSH_CHARACTERS = 64 * 1024;
    private static final int GZIP_MAGIC = 0x1F8B;
    private static final String STANDARD_INPUT = "-";

    private final CollectOptions options;
    private final OutputStream rawOut;
    private final Writer out;
    private final PrintStream err;
    private final NanoClock clock;
    private final ElementRegistry registry;
    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final CollectingProcess process;
    private final StringBuilder text = new StringBuilder();
    private RecordFormatter formatter;
    private CollectorServer server;
    private HelperThread handshakes;
    private boolean isStallTold;
    private IOException outputFailure;
    private long writtenCount;

    private Collector(
        final CollectOptions options,
        final ElementRegistry registry,
        final OutputStream out,
        final PrintStream err,
        final NanoClock clock) {
        this.options = options;
        this.rawOut = out;
        this.out = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
        this.err = err;
        this.clock = clock;
        this.registry = registry;
        this.formatter = formatter(options.columns());
        this.process = new CollectingProcess(registry, CollectorLimits.DEFAULTS, counters, this::onRecord);
    }

    private RecordFormatter formatter(final List<String> columns) {
        return RecordFormatter.of(options.listing(), options.isVerbose(), columns);
    }

    /**
     * Opens, runs and closes.
     *
     * @param out  for the records, UTF-8; flushed, not closed.
     * @param stop polled several times a second; true to end.
     * @throws ExitException if collecting cannot begin or ended early.
     */
    public static void run(
        final CollectOptions options,
        final ElementRegistry registry,
        final OutputStream out,
        final PrintStream err,
        final BooleanSupplier stop) {
        try (Collector collector = open(options, registry, out, err)) {
            collector.run(stop);
        }
    }

    /**
     * Binds every address.
     *
     * @param out for the records, UTF-8; flushed, not closed.
     * @return the collector; the caller runs and closes it.
     * @throws ExitException if an address is unavailable.
     */
    public static Collector open(
        final CollectOptions options,
        final ElementRegistry registry,
        final OutputStream out,
        final PrintStream err) {
        return open(options, registry, out, err, SystemNanoClock.INSTANCE);
    }

    static Collector open(
        final CollectOptions options,
        final ElementRegistry registry,
        final OutputStream out,
        final PrintStream err,
        final NanoClock clock) {
        final Collector collector = new Collector(options, registry, out, err, clock);
        try {
            collector.listen();
        } catch (final ExitException ex) {
            collector.close();
            throw ex;
        }
        return collector;
    }

    /** {@return the addresses bound, in the order of the options; none when files are read} */
    public List<InetSocketAddress> addresses() {
        return server == null ? List.of() : server.addresses();
    }

    /** {@return the counters} */
    public CounterSet<CollectorCounter> counters() {
        return counters;
    }

    /**
     * Collects until the files end, a limit is reached, or the caller stops it; then writes the statistics.
     *
     * @param stop polled several times a second; true to end.
     * @throws ExitException if a file cannot be read or is damaged, or the records cannot be written.
     */
    public void run(final BooleanSupplier stop) {
        ExitException failure = null;
        if (server != null) {
            serve(stop);
        } else {
            if (options.listing().format() == RowFormat.CSV && options.files().stream().allMatch(Collector::canBeReadTwice)) {
                formatter = formatter(columns(stop));
            }
            failure = readFiles(stop);
        }
        formatter.finish(text);
        flush();
        if (!options.isQuiet()) {
            err.println(ClosingLine.of(counters) + formatter.remark());
        }
        if (outputFailure != null) {
            throw new ExitException(ExitCode.CANNOT_WRITE, "cannot write the records: " + outputFailure.getMessage());
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Uses other credentials for addresses under TLS from now on, see {@link CollectorServer#renew}. By the thread that runs. */
    public void renew(final TlsCredentials newer) {
        server.renew(newer);
    }

    @Override
    public void close() {
        if (server == null) {
            return;
        }
        try {
            server.close();
        } catch (final IOException ex) {
            err.println("collect: closing the sockets failed: " + ex.getMessage());
        }
    }

    private void listen() {
        if (options.listen().isEmpty()) {
            return;
        }
        try {
            handshakes = new HelperThread("collect-handshake", Heartbeat.STUCK_NS);
            server = new CollectorServer(process, handshakes);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.NO_INPUT, "the system gives no sockets: " + ex.getMessage());
        }
        for (final ListenAddress address : options.listen()) {
            listen(address);
        }
    }

    private void listen(final ListenAddress address) {
        try {
            switch (address.kind()) {
                case UDP -> server.listenUdp(address.resolve());
                case TCP -> server.listenTcp(address.resolve());
                default -> server.listenTls(address.resolve(), options.tls(), true);
            }
        } catch (final UnknownHostException ex) {
            throw new ExitException(ExitCode.NO_INPUT, address + ": no such host; write an address of this machine");
        } catch (final SocketException ex) {
            throw bindFailure(address, ex);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.NO_INPUT, address + " cannot be opened: " + ex.getMessage());
        }
    }

    private static ExitException bindFailure(final ListenAddress address, final SocketException ex) {
        final String reason = String.valueOf(ex.getMessage());
        final String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("permission denied")) {
            return new ExitException(
                ExitCode.NO_PERMISSION, address + ": not permitted; take a port above 1023 or more rights");
        }
        if (lower.contains("in use")) {
            return new ExitException(
                ExitCode.NO_INPUT, address + " is in use by another process; stop that one or take another port");
        }
        return new ExitException(ExitCode.NO_INPUT, address + " cannot be opened: " + reason);
    }

    private void serve(final BooleanSupplier stop) {
        long lastMessageNs = clock.nanoTime();
        long messageCount = 0;
        while (!stop.getAsBoolean() && !isDone()) {
            final long nowNs = clock.nanoTime();
            poll(nowNs, POLL_WAIT_MS);
            tellStall(nowNs);
            if (counters.get(CollectorCounter.MESSAGES) != messageCount) {
                messageCount = counters.get(CollectorCounter.MESSAGES);
                lastMessageNs = clock.nanoTime();
            } else if (options.idleNs() > 0 && messageCount > 0 && nowNs - lastMessageNs >= options.idleNs()) {
                return;
            }
        }
        for (int i = 0; i < DRAIN_TURNS && !isDone(); i++) {
            if (poll(clock.nanoTime(), 0) == 0) {
                return;
            }
        }
    }

    private void tellStall(final long nowNs) {
        final boolean isStalled = handshakes.isStalled(nowNs);
        if (isStalled && !isStallTold) {
            LOG.error("collect-handshake stalled for more than {} s: no exporter can connect by TLS meanwhile",
                Heartbeat.STUCK_NS / Nanoseconds.PER_SECOND);
        }
        isStallTold = isStalled;
    }

    private int poll(final long nowNs, final long waitMs) {
        try {
            final int workCount = server.poll(nowNs, waitMs);
            formatter.settle(text);
            flush();
            return workCount;
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.NO_INPUT, "receiving failed: " + ex.getMessage());
        }
    }

    private boolean isDone() {
        return outputFailure != null || options.recordLimit() > 0 && writtenCount >= options.recordLimit();
    }

    /** A named pipe can be read only once. */
    private static boolean canBeReadTwice(final String file) {
        return !file.equals(STANDARD_INPUT) && (Files.isRegularFile(Path.of(file)) || !Files.exists(Path.of(file)));
    }

    /** Reads every file for its field names. Faults are reported later, when the records are read. */
    private List<String> columns(final BooleanSupplier stop) {
        final ColumnSurvey survey = new ColumnSurvey(options.isVerbose());
        final Collector reader = new Collector(options, registry, OutputStream.nullOutputStream(), err, clock);
        reader.formatter = survey;
        reader.readFiles(stop);
        return survey.columns();
    }

    /** Reads every file; returns the first failure, or null. */
    private ExitException readFiles(final BooleanSupplier stop) {
        ExitException first = null;
        for (final String file : options.files()) {
            final ExitException failure = readFile(file, stop);
            first = first == null ? failure : first;
        }
        return first;
    }

    private ExitException readFile(final String file, final BooleanSupplier stop) {
        final String name = displayName(file);
        try (MessageStreamReader reader = new MessageStreamReader(process, open(file, stop), name)) {
            boolean hasMore = true;
            while (hasMore && !stop.getAsBoolean() && !isDone()) {
                hasMore = reader.readMessage(clock.nanoTime());
            }
            return reader.damage() == null || isDone() || stop.getAsBoolean() ? null : damage(name, reader);
        } catch (final AccessDeniedException ex) {
            return new ExitException(ExitCode.NO_INPUT, name + ": not permitted to read; check its owner and mode");
        } catch (final NoSuchFileException ex) {
            return new ExitException(ExitCode.NO_INPUT, name + ": no such file");
        } catch (final EOFException ex) {
            return new ExitException(ExitCode.DAMAGED_INPUT, name + " is cut inside the header of its compression");
        } catch (final ZipException ex) {
            return new ExitException(
                ExitCode.DAMAGED_INPUT, name + " is no gzip file, though it begins like one: " + ex.getMessage());
        } catch (final IOException ex) {
            return new ExitException(ExitCode.NO_INPUT, name + " cannot be read: " + ex.getMessage());
        }
    }

    private static ExitException damage(final String name, final MessageStreamReader reader) {
        return reader.isForeign() ?
            new ExitException(ExitCode.NO_INPUT, name + " is not an IPFIX file (RFC 5655)") :
            new ExitException(ExitCode.DAMAGED_INPUT, name + ' ' + reader.damage() + "; what could be read was written");
    }

    /** A read that may block must end when the caller stops. */
    private static InputStream octets(final String file, final BooleanSupplier stop) throws IOException {
        if (canBeReadTwice(file)) {
            return Files.newInputStream(Path.of(file));
        }
        return new StoppableInput(
            () -> file.equals(STANDARD_INPUT) ? System.in : Files.newInputStream(Path.of(file)), stop);
    }

    private static InputStream open(final String file, final BooleanSupplier stop) throws IOException {
        final InputStream in = new BufferedInputStream(octets(file, stop), FLUSH_CHARACTERS);
        try {
            in.mark(Short.BYTES);
            final int magic = magic(in);
            in.reset();
            return magic == GZIP_MAGIC ? new GZIPInputStream(in, FLUSH_CHARACTERS) : in;
        } catch (final IOException ex) {
            in.close();
            throw ex;
        }
    }

    /** The next two octets; negative at the end. */
    private static int magic(final InputStream in) throws IOException {
        return in.read() << Byte.SIZE | in.read();
    }

    /**
     * {@return whether a file, plain or gzip, begins as an IPFIX file does} What cannot be read, or not twice, does not.
     *
     * @param file its path.
     */
    public static boolean isIpfix(final String file) {
        if (!canBeReadTwice(file)) {
            return false;
        }
        try (InputStream in = open(file, () -> false)) {
            return magic(in) == MessageHeader.VERSION;
        } catch (final IOException ex) {
            return false; // the one who reads it says why
        }
    }

    private static String displayName(final String file) {
        return file.equals(STANDARD_INPUT) ? "standard input" : file;
    }

    /** A message with many records of fields without octets could expand to more text than fits into memory. */
    private void onRecord(final CollectedRecord record) {
        if (!isDone() && formatter.append(record, text)) {
            writtenCount++;
        }
        if (text.length() >= FLUSH_CHARACTERS) {
            flush();
        }
    }

    private void flush() {
        if (text.isEmpty() || outputFailure != null) {
            return;
        }
        try {
            out.append(text);
            out.flush();
            if (rawOut instanceof PrintStream stream && stream.checkError()) {
                outputFailure = new IOException(ResultStream.FAILURE);
            }
        } catch (final IOException ex) {
            outputFailure = ex;
        }
        text.setLength(0);
    }
}
