package io.flowlag.exporter.config;

import io.flowlag.exporter.config.ExporterConfig.Transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Checks relations between values, and between values and the machine. Every fault is added to the problems. */
final class Relations {
    private static final long MAX_UDP_PAYLOAD_BYTES = 65507;
    private static final Set<PosixFilePermission> TOO_OPEN = Set.of(PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);

    private final Map<ConfigKey<?>, Setting> settings;
    private final List<DestinationSpec> destinations;
    private final Problems problems;

    Relations(final Map<ConfigKey<?>, Setting> settings, final List<DestinationSpec> destinations, final Problems problems) {
        this.settings = settings;
        this.destinations = destinations;
        this.problems = problems;
    }

    void check() {
        notMore(ConfigTable.IDLE_TIMEOUT, ConfigTable.ACTIVE_TIMEOUT);
        notMore(ConfigTable.TCP_END_TIMEOUT, ConfigTable.IDLE_TIMEOUT);
        enterpriseNumber();
        new DelayRelations(settings, problems).check();
        sharding();
        digest();
        tls();
        stats();
        status();
        messageSizes();
        spools();
    }

    private void spools() {
        final Setting common = settings.get(ConfigTable.SPOOL);
        for (final DestinationSpec spec : destinations) {
            final Setting setting = spec.overrides().getOrDefault(ConfigTable.SPOOL, common);
            final Path directory = (Path)setting.value();
            if (directory != null && Files.exists(directory) && !Files.isDirectory(directory)) {
                problems.add(setting.origin(), ConfigTable.SPOOL.path(), setting.text(), "is no directory: name one, or none");
            }
            final DestinationUri uri = spec.uri();
            if (directory != null && uri.transport() == Transport.FILE && Files.exists(uri.file()) &&
                !Files.isRegularFile(uri.file())) {
                problems.add(spec.origin(), ConfigTable.DESTINATIONS.path(), uri.text(),
                    "is no regular file, so nothing can be written behind what is there: give it spool=none");
            }
        }
    }

    /** One duration must not exceed another: a default is lowered, a given value is refused. */
    private void notMore(final ConfigKey<Long> lesserKey, final ConfigKey<Long> greaterKey) {
        final Setting lesser = settings.get(lesserKey);
        final Setting greater = settings.get(greaterKey);
        if ((Long)lesser.value() <= (Long)greater.value()) {
            return;
        }
        if (lesser.origin().isDefault()) {
            final String note = "as low as " + greaterKey.path();
            settings.put(lesserKey, new Setting(greater.value(), greater.text(), Origin.DEFAULT, note));
        } else {
            problem(lesserKey, "is more than " + greaterKey.path() + "=" + greater.text() + ": lower this or raise that");
        }
    }

    private void enterpriseNumber() {
        final long number = (Long)settings.get(ConfigTable.ENTERPRISE_NUMBER).value();
        if (number == 0) {
            problem(ConfigTable.ENTERPRISE_NUMBER, "0 stands for IANA's own elements: write your Private Enterprise Number");
        } else if (number == ConfigTable.REVERSE_ENTERPRISE_NUMBER) {
            problem(ConfigTable.ENTERPRISE_NUMBER,
                "29305 stands for reverse elements (RFC 5103): write your Private Enterprise Number");
        }
    }

    private void digest() {
        final boolean hasKey = settings.get(ConfigTable.DIGEST_KEY_FILE).value() != null;
        if (hasKey && Boolean.FALSE.equals(settings.get(ConfigTable.DIGEST).value())) {
            problem(ConfigTable.DIGEST_KEY_FILE, "a key without digest: set decode.digest to on, or leave the key out");
        }
        readable(ConfigTable.DIGEST_KEY_FILE, true);
        readable(ConfigTable.REFERENCE_KEY_FILE, true);
        for (final ExporterConfig.Sender sender : ConfigTable.SENDERS.cast(settings.get(ConfigTable.SENDERS).value())) {
            final String fault = sender.keyFile() == null ? null : fault(sender.keyFile(), true);
            if (fault != null) {
                problem(ConfigTable.SENDERS, "session " + sender.session() + ": " + sender.keyFile() + " " + fault);
            }
        }
        readable(ConfigTable.CLOCK_FILE, false);
    }

    private void sharding() {
        if (settings.get(ConfigTable.THREADING).value() != ExporterConfig.Threading.SHARDED) {
            if (settings.get(ConfigTable.SHARDS).value() != null) {
                problem(ConfigTable.SHARDS, "is for threading sharded: set that, or leave this out");
            }
            return;
        }
        final Setting shards = settings.get(ConfigTable.SHARDS);
        if (shards.value() == null) {
            final long count = Conclusion.automaticShards();
            settings.put(ConfigTable.SHARDS,
                new Setting(count, Long.toString(count), shards.origin(), "auto: a processor less than there are, at least 2"));
        }
        if (settings.get(ConfigTable.ROLE).value() != ExporterConfig.Role.NONE) {
            problem(ConfigTable.THREADING, "measures no delay, and segment.role is " + settings.get(ConfigTable.ROLE).text() +
                ": set threading to pipelined or shared, or leave the role out");
        }
        if (settings.get(ConfigTable.CHECKPOINT_FILE).value() != null) {
            problem(ConfigTable.THREADING, "makes no checkpoint: set threading to pipelined or shared, or leave " +
                ConfigTable.CHECKPOINT_FILE.path() + " out");
        }
        if (settings.get(ConfigTable.SOURCE).value() == ExporterConfig.SourceKind.PCAP) {
            problem(ConfigTable.THREADING, "needs the kernel to share packets out, and " + ConfigTable.SOURCE.path() +
                " is pcap: set that to afpacket, or threading to pipelined or shared");
        }
    }

    private void tls() {
        readable(ConfigTable.TLS_CERTIFICATE, false);
        readable(ConfigTable.TLS_KEY, true);
        readable(ConfigTable.TLS_TRUST, false);
        readable(ConfigTable.EXCHANGE_KEY_FILE, true);
        readable(ConfigTable.EXCHANGE_TLS_CERTIFICATE, false);
        readable(ConfigTable.EXCHANGE_TLS_KEY, true);
        readable(ConfigTable.EXCHANGE_TLS_TRUST, false);
        together(ConfigTable.TLS_CERTIFICATE, ConfigTable.TLS_KEY);
        together(ConfigTable.TLS_KEY, ConfigTable.TLS_CERTIFICATE);
        for (final DestinationSpec spec : destinations) {
            if (spec.uri().transport() == Transport.TLS) {
                needed(spec, ConfigTable.TLS_CERTIFICATE);
                needed(spec, ConfigTable.TLS_KEY);
                needed(spec, ConfigTable.TLS_TRUST);
            }
        }
    }

    private void together(final ConfigKey<Path> given, final ConfigKey<Path> missing) {
        final boolean hasTlsDestination = destinations.stream().anyMatch((spec) -> spec.uri().transport() == Transport.TLS);
        if (!hasTlsDestination && settings.get(given).value() != null && settings.get(missing).value() == null) {
            problem(given, "is given without " + missing.path() + ": give both");
        }
    }

    private void needed(final DestinationSpec spec, final ConfigKey<Path> key) {
        if (settings.get(key).value() == null) {
            problems.add(spec.origin(), ConfigTable.DESTINATIONS.path(), spec.uri().text(), "tls needs " + key.path() +
                ": name a PEM file there");
        }
    }

    private void stats() {
        final Setting interval = settings.get(ConfigTable.STATS_INTERVAL);
        final Path file = (Path)settings.get(ConfigTable.STATS_FILE).value();
        if (interval.value() != null && (file == null || "-".equals(file.toString()))) {
            problem(ConfigTable.STATS_INTERVAL, "needs stats.file, the path of a file to write anew");
        }
    }

    private void status() {
        final Path file = (Path)settings.get(ConfigTable.STATUS_FILE).value();
        if (file != null && !(Boolean)settings.get(ConfigTable.STATUS_ENABLED).value()) {
            problem(ConfigTable.STATUS_FILE, "is not written with status.enabled off: leave one out");
        } else if (file != null && "-".equals(file.toString())) {
            problem(ConfigTable.STATUS_FILE, "must be a file: name one, or auto");
        }
    }

    private void messageSizes() {
        final Setting common = settings.get(ConfigTable.MAX_MESSAGE_SIZE);
        for (final DestinationSpec spec : destinations) {
            final Setting setting = spec.overrides().getOrDefault(ConfigTable.MAX_MESSAGE_SIZE, common);
            if (spec.uri().transport() == Transport.UDP && setting.value() != null &&
                (Long)setting.value() > MAX_UDP_PAYLOAD_BYTES) {
                problems.add(setting.origin(), ConfigTable.MAX_MESSAGE_SIZE.path(), setting.text(),
                    "no UDP datagram holds that (" +
                    spec.uri().text() + "): " + MAX_UDP_PAYLOAD_BYTES + " or less, and 1400 to pass without fragments");
            }
        }
    }

    private void readable(final ConfigKey<Path> key, final boolean isSecret) {
        final Path file = (Path)settings.get(key).value();
        final String fault = file == null ? null : fault(file, isSecret);
        if (fault != null) {
            problem(key, fault);
        }
    }

    /** The fault of an input file, with the remedy; null if there is none. */
    private static String fault(final Path file, final boolean isSecret) {
        if (!Files.isRegularFile(file)) {
            return Files.exists(file) ? "is no regular file: name a file" : "no such file: check the path";
        }
        if (!Files.isReadable(file)) {
            return "may not be read: check its owner and mode";
        }
        return isSecret && isTooOpen(file) ? "holds a secret that others may read or replace: chmod 600 " + file : null;
    }

    private static boolean isTooOpen(final Path file) {
        try {
            return Files.getPosixFilePermissions(file).stream().anyMatch(TOO_OPEN::contains);
        } catch (final UnsupportedOperationException e) {
            return false; // a file system without permissions
        } catch (final IOException e) {
            return true; // unknown permissions are not trusted
        }
    }

    private void problem(final ConfigKey<?> key, final String message) {
        final Setting setting = settings.get(key);
        problems.add(setting.origin(), key.path(), setting.text(), message);
    }
}
