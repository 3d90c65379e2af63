package io.flowlag.tests.benchmark;

import io.flowlag.exporter.runtime.FileReceiver;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts {@link FileReceiver} with the flags and stored classes with which {@code bin/flowlag} starts the program. */
final class ReceiverCommand {
    private ReceiverCommand() {
    }

    /**
     * The command line.
     *
     * @param program {@code bin/flowlag} of a source tree.
     * @throws IOException if the jar is not there.
     */
    static List<String> of(final Path program, final ReceiverInput input, final Path records) throws IOException {
        final Path jar = jar(program.toRealPath().getParent().getParent());
        final Path archive = jar.resolveSibling(jar.getFileName().toString().replaceFirst("\\.jar$", "") + "-java" +
            Runtime.version().feature() + ".jsa");
        final List<String> line = new ArrayList<>(List.of(
            "/usr/bin/env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=131072",
            Path.of(System.getProperty("java.home"), "bin/java").toString(),
            "-Xms64m", "-Xmx512m", "-Xmn48m", "-XX:MaxDirectMemorySize=64g", "-XX:+UseSerialGC", "-Xshare:auto",
            "-XX:+PerfDisableSharedMem", "-Dfile.encoding=UTF-8",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"));
        if (Runtime.version().feature() >= 24) {
            line.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        if (Files.exists(archive) && Files.size(archive) > 0) {
            line.addAll(List.of("-XX:SharedArchiveFile=" + archive, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"));
        }
        line.addAll(List.of("-cp", jar + ":" + ownClasses(), FileReceiver.class.getName(), input.capture().toString(),
            input.intervals().toString(), Long.toString(input.firstNs()), Integer.toString(input.columns()),
            Long.toString(input.packetCount()), records.toString(),
            Integer.toString(ReceiverInput.digestPayloadBytes(input.capture().toString()))));
        return line;
    }

    /** The jar that {@code bin/flowlag} uses without a build. */
    private static Path jar(final Path root) throws IOException {
        final Path built = root.resolve("exporter/target/flowlag.jar");
        final Path copy = root.resolve("target/flowlag.jar");
        final boolean isCopyGood = Files.exists(copy) &&
            !(Files.exists(built) && Files.getLastModifiedTime(built).compareTo(Files.getLastModifiedTime(copy)) > 0);
        return isCopyGood ? copy : built;
    }

    private static Path ownClasses() throws IOException {
        try {
            return Path.of(FileReceiver.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (final URISyntaxException ex) {
            throw new IOException(ex);
        }
    }
}
