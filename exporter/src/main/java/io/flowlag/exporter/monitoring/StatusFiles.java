package io.flowlag.exporter.monitoring;


import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.status.SourceStatistics;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The default location of status files: {@code flowlag-PID.status} in the first directory that is writable. Any thread. */
public final class StatusFiles {
    private static final Path SYSTEM_DIRECTORY = Path.of("/run/flowlag");
    private static final String PREFIX = "flowlag-";
    private static final String SUFFIX = ".status";

    private final List<Path> directories;

    /** The directories of this user and system. */
    public StatusFiles() {
        this(directories(System.getenv(), System.getProperty("java.io.tmpdir"), System.getProperty("user.name")));
    }

    StatusFiles(final List<Path> directories) {
        this.directories = directories;
    }

    static List<Path> directories(final Map<String, String> environment, final String temporary, final String user) {
        final List<Path> directories = new ArrayList<>();
        // systemd sets it for RuntimeDirectory=; several directories are separated by colons.
        final String runtime = environment.get("RUNTIME_DIRECTORY");
        if (runtime != null && !runtime.isEmpty()) {
            directories.add(Path.of(runtime.split(":")[0]));
        }
        if (!directories.contains(SYSTEM_DIRECTORY)) {
            directories.add(SYSTEM_DIRECTORY);
        }
        final String ofUser = environment.get("XDG_RUNTIME_DIR");
        if (ofUser != null && !ofUser.isEmpty()) {
            directories.add(Path.of(ofUser, "flowlag"));
        }
        directories.add(Path.of(temporary, "flowlag-" + user));
        return List.copyOf(directories);
    }

    /** Chooses the file of a process in the first writable directory; deletes files of killed processes there. */
    Path forProcess(final long pid) throws IOException {
        for (final Path directory : directories) {
            if (isUsable(directory)) {
                deleteLeftovers(directory);
                return directory.resolve(PREFIX + pid + SUFFIX);
            }
        }
        throw new IOException("none of " + directories + " can be written: name a file with status.file");
    }

    /** A directory writable by others is not used, because they could place a file in it. */
    private static boolean isUsable(final Path directory) {
        try {
            if (!Files.exists(directory, LinkOption.NOFOLLOW_LINKS)) {
                if (!Files.isWritable(directory.getParent())) {
                    return false;
                }
                Files.createDirectory(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-x---")));
            }
            final Set<PosixFilePermission> mode =
                Files.getPosixFilePermissions(directory, LinkOption.NOFOLLOW_LINKS);
            return Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) && Files.isWritable(directory) &&
                !mode.contains(PosixFilePermission.OTHERS_WRITE);
        } catch (final IOException | UnsupportedOperationException | NullPointerException ex) {
            return false;
        }
    }

    private static void deleteLeftovers(final Path directory) {
        for (final Path file : files(directory)) {
            try (StatusFileReader reader = new StatusFileReader(file)) {
                if (reader.silence(System.currentTimeMillis()) != null && !StatusFileReader.isAlive(reader.pid())) {
                    Files.deleteIfExists(file);
                }
            } catch (final ExitException | IOException ex) {
                // foreign or undeletable files stay
                continue;
            }
        }
    }

    private static List<Path> files(final Path directory) {
        final List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory, PREFIX + "*" + SUFFIX)) {
            stream.forEach(files::add);
        } catch (final IOException ex) {
            return List.of();
        }
        return files;
    }

    /**
     * Finds the file of a running process, 0 for the only one of this network namespace, or of all if that has none; throws an
     * {@link ExitException} if there is none or several.
     */
    public Path find(final long pid) {
        final List<Path> found = new ArrayList<>();
        String silence = null;
        for (final Path directory : directories) {
            for (final Path file : files(directory)) {
                try (StatusFileReader reader = new StatusFileReader(file)) {
                    final String silent = reader.silence(System.currentTimeMillis());
                    if (pid != 0 && reader.pid() != pid) {
                        continue;
                    }
                    if (silent == null) {
                        found.add(file);
                    } else {
                        silence = silent;
                    }
                } catch (final ExitException ex) {
                    silence = ex.getMessage();
                }
            }
        }
        final List<Path> near = found.stream().filter(StatusFiles::isNear).toList();
        final List<Path> living = near.isEmpty() ? found : near;
        if (living.size() == 1) {
            return living.get(0);
        }
        if (living.isEmpty()) {
            throw new ExitException(ExitCode.NO_INPUT, silence != null ? silence :
                (pid == 0 ? "no running flowlag" : "no flowlag with process number " + pid) + " has a status file in " +
                directories.stream().map(Path::toString).reduce((left, right) -> left + ", " + right).orElse("") +
                ": start flowlag run, or name the file with --file");
        }
        throw new ExitException(ExitCode.NO_INPUT,
            "several run: choose one with --pid: " + living.stream().map(StatusFiles::text).sorted()
            .collect(Collectors.joining("; ")).replaceAll("\\p{Cc}", "?"));
    }

    /** {@return whether a process runs in the network namespace of this one, as far as that can be read} */
    private static boolean isNear(final Path file) {
        try (StatusFileReader reader = new StatusFileReader(file)) {
            return Files.readSymbolicLink(Path.of("/proc", Long.toString(reader.pid()), "ns/net"))
                .equals(Files.readSymbolicLink(Path.of("/proc/self/ns/net")));
        } catch (final ExitException | IOException ex) {
            return false;
        }
    }

    /** {@return the number of a process, what it measures, and since when} */
    private static String text(final Path file) {
        try (StatusFileReader reader = new StatusFileReader(file)) {
            final StatusSnapshot snapshot = reader.read();
            if (snapshot == null) {
                return reader.pid() + " (starts)";
            }
            return reader.pid() + " (" + snapshot.segments().stream().map((each) -> each.role() + " on ").distinct()
                .collect(Collectors.joining()) + snapshot.statistics().sources().stream().map(SourceStatistics::name).distinct()
                .collect(Collectors.joining(", ")) + " since " +
                Instant.ofEpochMilli(snapshot.statistics().startTimeMs()).truncatedTo(ChronoUnit.SECONDS) + ")";
        } catch (final ExitException ex) {
            return ex.getMessage();
        }
    }
}
