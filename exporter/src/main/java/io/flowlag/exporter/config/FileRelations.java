package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ExporterConfig.Transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static io.flowlag.exporter.config.ConfigTable.*;

/**
 * Checks the files that the process writes. None may be an input, a configuration file, or the output of another part of the
 * process. Links are resolved before files are compared. Every fault is added to the problems.
 */
final class FileRelations extends SettingsAccess {
    private static final String STANDARD_STREAM = "-";
    private static final Path DEVICES = Path.of("/dev");
    private static final List<ConfigKey<Path>> READ = List.of(
        DIGEST_KEY_FILE, CLOCK_FILE, REFERENCE_KEY_FILE, EXCHANGE_KEY_FILE,
        EXCHANGE_TLS_CERTIFICATE, EXCHANGE_TLS_KEY, EXCHANGE_TLS_TRUST,
        TLS_CERTIFICATE, TLS_KEY, TLS_TRUST);
    private static final List<ConfigKey<Path>> WRITTEN = List.of(
        CHECKPOINT_FILE, LOG_FILE, STATS_FILE, STATUS_FILE);
    /** Files that are created along with a file, by suffix. */
    private static final Map<ConfigKey<Path>, List<String>> COMPANIONS = Map.of(
        CHECKPOINT_FILE, List.of(".lock", ".ring", ".new", ".damaged"), STATS_FILE, List.of(".part"));

    /** A file of the command's own options, and the option that names it. */
    record OwnFile(String user, Path file) {
    }

    private final List<DestinationSpec> destinations;
    private final Map<Object, String> users = new HashMap<>();

    FileRelations(final Map<ConfigKey<?>, Setting> settings, final List<DestinationSpec> destinations, final Problems problems) {
        super(settings, problems);
        this.destinations = destinations;
    }

    void check(final List<OwnFile> inputs, final List<OwnFile> outputs) {
        inputs.forEach((input) -> read(input.user(), input.file()));
        READ.forEach((key) -> read(key.path(), value(key)));
        value(SENDERS).forEach((sender) -> read(SENDERS.path(), sender.keyFile()));
        for (final OwnFile output : outputs) {
            final String user = write(output.user(), output.file());
            if (user != null) {
                problems().add(Origin.commandLine(output.user()), output.file() + ": " + sameFile(user));
            }
        }
        WRITTEN.forEach(this::write);
        destinations();
    }

    private void destinations() {
        final Set<String> targets = new HashSet<>();
        for (final DestinationSpec spec : destinations) {
            final DestinationUri uri = spec.uri();
            final String path = DESTINATIONS.path();
            final String user = uri.transport() == Transport.FILE ? write(path, uri.file()) : null;
            if (user != null) {
                problems().add(spec.origin(), path, uri.text(), sameFile(user));
            } else if (!targets.add(uri.text())) {
                problems().add(spec.origin(), path, uri.text(), "is listed twice: leave one out");
            }
        }
    }

    private void write(final ConfigKey<Path> key) {
        final Path file = value(key);
        final String user = write(key.path(), file);
        if (user != null) {
            problem(key, sameFile(user));
            return;
        }
        for (final String suffix : file == null ? List.<String>of() : COMPANIONS.getOrDefault(key, List.of())) {
            final Path companion = file.resolveSibling(file.getFileName() + suffix);
            final String other = write(key.path() + " (with " + suffix + ")", companion);
            if (other != null) {
                problem(key, companion + " is made too, and " + sameFile(other));
            }
        }
    }

    private static String sameFile(final String user) {
        return "the same file is used by " + user + ": name another one";
    }

    /** Registers an input; several may read it. Pipes and devices cannot be overwritten and are skipped. */
    private void read(final String user, final Path file) {
        if (isFile(file) && isNewOrRegular(file)) {
            users.putIfAbsent(identity(file), user);
        }
    }

    /** Registers an output; returns its other user, or null. */
    private String write(final String user, final Path file) {
        return isFile(file) ? users.putIfAbsent(identity(file), user) : null;
    }

    /** Devices, such as /dev/null, may be shared. */
    private static boolean isFile(final Path file) {
        return file != null && !STANDARD_STREAM.equals(file.toString()) &&
            (isNewOrRegular(file) || !file.toAbsolutePath().normalize().startsWith(DEVICES));
    }

    private static boolean isNewOrRegular(final Path file) {
        return Files.isRegularFile(file) || !Files.exists(file);
    }

    private static Object identity(final Path file) {
        try {
            if (Files.isRegularFile(file)) {
                final Object fileKey = Files.readAttributes(file, BasicFileAttributes.class).fileKey();
                return fileKey == null ? file.toRealPath() : fileKey;
            }
            final Path directory = file.toAbsolutePath().getParent();
            return directory == null ? file : directory.toRealPath().resolve(file.getFileName());
        } catch (final IOException ex) {
            return file.toAbsolutePath().normalize(); // the path or its directory does not exist
        }
    }
}
