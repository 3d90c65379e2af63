package io.flowlag.exporter.runtime.run;

import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.EffectiveValue;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.SeveralSegments;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.exact.DigestKey;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.runtime.Destinations;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.exporter.terminal.LogFile;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Reads a changed configuration while the process runs, or refuses it as a whole. A disk that hangs must not stop the conductor:
 * a thread of its own opens and reads all files, one reload at a time. The conductor then uses what it brought. All methods but
 * the constructor are the conductor's; it may not change the configuration meanwhile.
 */
final class Reload {
    private static final int SHOWN_CHANGES = 20;
    private static final Logger LOG = LoggerFactory.getLogger(Reload.class);
    private static final long PATIENCE_NS = 10_000_000_000L;
    /** How long a reload waits for an earlier change of the segments. */
    private static final long CHANGE_PATIENCE_NS = 30_000_000_000L;

    private final Supplier<ExporterConfig> source;
    private final Destinations destinations;
    private final LiveSegments segments;
    private final Terminal terminal;
    private final DirectBuffer digestKey;
    private final HelperThread reader = new HelperThread("reload", Long.MAX_VALUE);
    private boolean isAsked;
    private long askedNs;
    private Future<Read> reading;
    private long beginNs;
    private boolean isSlownessTold;

    /**
     * What was read and opened: packets is null if the segments of packets are found as before, the log if it goes to standard
     * error.
     */
    record Read(
        ExporterConfig config, PacketSegments packets, List<LiveSegment.Keys> keys, LogFile log, List<Destination> destinations) {
    }

    /**
     * Reads nothing yet.
     *
     * @param source reads the same file and options again; throws a {@link ConfigurationException} if they are not in order.
     * @param first  the configuration at start.
     */
    Reload(
        final Supplier<ExporterConfig> source, final ExporterConfig first, final Destinations destinations,
        final LiveSegments segments, final Terminal terminal) {
        this.source = source;
        this.destinations = destinations;
        this.segments = segments;
        this.terminal = terminal;
        digestKey = digestKey(first);
    }

    private static DirectBuffer digestKey(final ExporterConfig config) {
        final Path file = config.decode().digestKeyFile();
        return file == null ? null : DigestKey.octets(file);
    }

    /** Asks for a reload. One that is under way may have read old files, so another one follows it. */
    void ask() {
        isAsked = true;
        askedNs = System.nanoTime();
    }

    boolean isUnderWay() {
        return reading != null;
    }

    /**
     * Begins what was asked for, or looks whether it is read.
     *
     * @param config in use.
     * @return what was read, until it is {@link #used}; null if there is nothing, or if it was refused.
     */
    Read poll(final ExporterConfig config, final List<DelayStage> stages) {
        if (reading == null && isAsked && (System.nanoTime() - askedNs >= CHANGE_PATIENCE_NS ||
            stages.stream().noneMatch(DelayStage::isChanging))) {
            isAsked = false;
            isSlownessTold = false;
            beginNs = System.nanoTime();
            reading = reader.submit(() -> read(config, stages));
        }
        if (reading != null && !isSlownessTold && System.nanoTime() - beginNs >= PATIENCE_NS) {
            isSlownessTold = true;
            LOG.warn("reload: a file, a disk or the exchange does not answer; until it does, the old configuration stays");
        }
        if (reading == null || !reading.isDone()) {
            return null;
        }
        final Read read = result(reading);
        if (read == null) {
            used();
        }
        return read;
    }

    void used() {
        reading = null;
    }

    private static Read result(final Future<Read> done) {
        try {
            return done.get();
        } catch (final ExecutionException ex) {
            throw new IllegalStateException(ex.getCause());
        } catch (final InterruptedException ex) {
            throw new IllegalStateException(ex); // it is done
        }
    }

    /** Returns null if the configuration is refused. */
    private Read read(final ExporterConfig config, final List<DelayStage> stages) {
        final ExporterConfig newer;
        try {
            newer = withRecords(config, segments.keepFollowed(source.get()));
        } catch (final ConfigurationException ex) {
            refuse(config, ex.errors());
            return null;
        } catch (final RuntimeException ex) {
            refuse(config, List.of(String.valueOf(ex.getMessage())));
            return null;
        }
        LogFile log = null;
        try {
            requireNoRestart(config, newer);
            // Refuses what cannot change before anything is opened; the time of the change is taken when it is used.
            final LiveSegments.Changes changes =
                segments.changesAt(config, newer, stages, new SystemEpochNanoClock().nanoTime());
            requireSameDigests(newer);
            final boolean isSelected = stages.size() > 1 && changes.selectFromNs() > 0;
            final PacketSegments packets = isSelected ? new PacketSegments(newer.segments()) : null;
            final List<LiveSegment.Keys> keys = segments.readKeys(newer);
            log = Logging.open(newer.log().file(), terminal);
            return new Read(newer, packets, keys, log, destinations.of(newer));
        } catch (final IllegalArgumentException | ExitException ex) {
            CloseHelper.quietClose(log);
            refuse(config, List.of(ex.getMessage()));
            return null;
        }
    }

    /** Memory stays, so a cut that was not there at the start may leave records without their last interval. */
    private static ExporterConfig withRecords(final ExporterConfig config, final ExporterConfig newer) {
        final ExporterConfig same = SeveralSegments.withRecordsOf(newer, config);
        if (same.lds().waitingRecords() < newer.lds().waitingRecords() && same.metering().cutNs() != config.metering().cutNs()) {
            LOG.warn("{}: a cut ends up to {} records, and {}={} stays until a restart: others do not wait for the end of " +
                "their interval (lds_records_not_waited counts them)", ConfigTable.CUT.path(), newer.lds().waitingRecords(),
                ConfigTable.LDS_WAITING.path(), same.lds().waitingRecords());
        }
        return same;
    }

    /** {@return what a reload changes, each key with its old and new value; a number stands for those beyond the first ones} */
    static String changes(final ExporterConfig config, final ExporterConfig newer) {
        final Map<String, String> before = new HashMap<>();
        config.effectiveValues().forEach((value) -> before.put(value.path(), value.text()));
        final List<String> changes = new ArrayList<>();
        for (final EffectiveValue value : newer.effectiveValues()) {
            final String old = before.remove(value.path());
            if (!value.text().equals(old)) {
                changes.add(value.path() + " = " + value.text() + (old == null ? " (new)" : " (was " + old + ")"));
            }
        }
        before.forEach((path, old) -> changes.add(path + " is no longer " + old));
        final int more = changes.size() - SHOWN_CHANGES;
        return changes.isEmpty() ? "no value changed" :
            String.join(", ", changes.subList(0, Math.min(changes.size(), SHOWN_CHANGES))) +
            (more > 0 ? " and " + more + " more" : "");
    }

    private static void requireNoRestart(final ExporterConfig config, final ExporterConfig newer) {
        if (!names(config).equals(names(newer))) {
            throw new IllegalArgumentException("segments: the list and its ids cannot change while running; restart for it");
        }
        final List<String> keys = config.restartKeys(newer);
        if (!keys.isEmpty()) {
            throw new IllegalArgumentException(keys.stream().map(Reload::withReason).collect(Collectors.joining(", ")) +
                " cannot change while running; restart for it");
        }
    }

    /** {@return the names of several segments; of one none, whose number is a key like others} */
    private static List<String> names(final ExporterConfig config) {
        return config.views().stream().map(ExporterConfig::name).toList();
    }

    private static String withReason(final String path) {
        final ConfigKey<?> key = ConfigTable.key(path.replaceFirst("^segments\\[[0-9]+]\\.", ""));
        return key == null || key.restartReason() == null ? path : path + " (" + key.restartReason().text() + ")";
    }

    /** Digests of both points are compared, so their key stays until the process ends. */
    private void requireSameDigests(final ExporterConfig newer) {
        if (!Objects.equals(digestKey, digestKey(newer))) {
            throw new IllegalArgumentException(ConfigTable.DIGEST_KEY_FILE.path() + "=" + newer.decode().digestKeyFile() +
                ": its key changed, which cannot be while running (" + ConfigTable.DIGEST_KEY_FILE.restartReason().text() +
                "): write the old one again, or restart for the new one");
        }
    }

    /** The log is reopened in any case, because log rotation uses the same signal. */
    private void refuse(final ExporterConfig config, final List<String> reasons) {
        String logFault = null;
        try {
            Logging.configure(config.log().level().name(), config.log().file(), terminal);
        } catch (final ExitException ex) {
            logFault = ex.getMessage();
        }
        reasons.forEach((reason) -> LOG.error("reload refused, the old configuration stays: {}", reason));
        if (logFault != null) { // the old log may be unread
            terminal.message("flowlag: reload refused, the old configuration stays: " + logFault);
        }
    }
}
