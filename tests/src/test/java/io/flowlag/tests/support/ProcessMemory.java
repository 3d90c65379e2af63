package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Memory, descriptors and threads of a JVM that runs with the serial collector. */
public final class ProcessMemory {
    private static final Pattern USED = Pattern.compile("(?:def new generation|tenured generation) .*used (\\d+)K");
    private static final int KIB = 1024;

    private final long pid;
    private final Path proc;

    /**
     * Of a process.
     *
     * @param pid of it.
     */
    public ProcessMemory(final long pid) {
        this.pid = pid;
        proc = Path.of("/proc", Long.toString(pid));
    }

    /** {@return resident memory, octets} */
    public long residentBytes() {
        return status("VmRSS") * KIB;
    }

    /** {@return how many threads it has} */
    public long threads() {
        return status("Threads");
    }

    private long status(final String name) {
        try {
            return Files.readAllLines(proc.resolve("status")).stream().filter((line) -> line.startsWith(name + ":"))
                .mapToLong((line) -> Long.parseLong(line.replaceAll("[^0-9]", ""))).findFirst().orElseThrow();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** {@return how many descriptors are open} */
    public long descriptors() {
        try (Stream<Path> files = Files.list(proc.resolve("fd"))) {
            return files.count();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Collects, and returns what is used behind that, octets. */
    public long heapBytes() {
        final String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        Command.of(jcmd, pid, "GC.run").run().orFail();
        final Matcher used = USED.matcher(Command.of(jcmd, pid, "GC.heap_info").run().orFail().output());
        long heapKib = 0;
        while (used.find()) {
            heapKib += Long.parseLong(used.group(1));
        }
        return heapKib * KIB;
    }
}
