package io.flowlag.tests.benchmark;

import io.flowlag.common.time.Nanoseconds;
import com.sun.jna.Native;
import com.sun.jna.Platform;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs a program to its end and measures it. One at a time in a process: the processor time is that of the children that ended
 * meanwhile. Memory is sampled at intervals, so a late peak may be missed; more frequent sampling would take processor time from
 * the program.
 *
 * @param wallNs    from its start to its end.
 * @param cpuNs     of the program and its children, user and system.
 * @param peakBytes of resident memory, its own and its children's.
 * @param output    what it printed, on both streams.
 */
record MeasuredProcess(int exitCode, long wallNs, long cpuNs, long peakBytes, String output) {
    private static final int SAMPLE_MS = 20;
    private static final int SAMPLES_BETWEEN_CHILDREN = 5;
    private static final int CHILDREN = -1;
    private static final int USAGE_BYTES = 256;
    private static final long NS_PER_MICROSECOND = 1_000L;
    private static final long NS_PER_TICK = 10_000_000L;
    private static final int USER_TICKS = 11;
    private static final int SYSTEM_TICKS = 12;

    /** Of the C library. */
    private static final class Calls {
        static {
            Native.register(Calls.class, Platform.C_LIBRARY_NAME);
        }

        static native int getrusage(int who, byte[] usage);
    }

    /**
     * Runs a program.
     *
     * @param directory where it runs, and where its output is kept meanwhile.
     * @param limit     seconds after which it is killed.
     * @throws IOException          if it cannot be started.
     * @throws InterruptedException if interrupted; the program is killed.
     */
    static MeasuredProcess run(final List<String> command, final Path directory, final long limit)
        throws IOException, InterruptedException {
        final Path output = directory.resolve("output.txt");
        final Map<Long, Long> peaks = new HashMap<>();
        final Map<Long, Long> ticks = new HashMap<>();
        final long cpuBeforeNs = childrenCpuNs();
        final long startNs = System.nanoTime();
        final ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true)
            .redirectOutput(output.toFile());
        // Prevents a build of this program.
        builder.environment().put("FLOWLAG_BUILD", "never");
        final Process process = builder.start();
        try {
            process.getOutputStream().close();
            List<ProcessHandle> children = List.of();
            for (int samples = 0; !process.waitFor(SAMPLE_MS, TimeUnit.MILLISECONDS); samples++) {
                if (samples % SAMPLES_BETWEEN_CHILDREN == 0) {
                    children = process.descendants().toList();
                }
                sample(process.pid(), peaks, ticks);
                children.forEach(child -> sample(child.pid(), peaks, ticks));
                if (System.nanoTime() - startNs > limit * Nanoseconds.PER_SECOND) {
                    throw new IOException(command.get(0) + " did not end within " + limit + " s");
                }
            }
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        final long wallNs = System.nanoTime() - startNs;
        final long cpuNs = Math.max(
            childrenCpuNs() - cpuBeforeNs, NS_PER_TICK * ticks.values().stream().mapToLong(Long::longValue).sum());
        return new MeasuredProcess(process.exitValue(), wallNs, cpuNs,
            peaks.values().stream().mapToLong(Long::longValue).sum(),
            new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
    }

    private static long childrenCpuNs() {
        final byte[] usage = new byte[USAGE_BYTES];
        if (Calls.getrusage(CHILDREN, usage) != 0) {
            throw new IllegalStateException("getrusage: errno " + Native.getLastError());
        }
        final ByteBuffer buffer = ByteBuffer.wrap(usage).order(ByteOrder.nativeOrder());
        return (buffer.getLong(0) + buffer.getLong(16)) * Nanoseconds.PER_SECOND +
            (buffer.getLong(8) + buffer.getLong(24)) * NS_PER_MICROSECOND;
    }

    private static void sample(final long pid, final Map<Long, Long> peaks, final Map<Long, Long> ticks) {
        final Path directory = Path.of("/proc", Long.toString(pid));
        try {
            for (final String line : Files.readAllLines(directory.resolve("status"), StandardCharsets.ISO_8859_1)) {
                if (line.startsWith("VmHWM:")) {
                    peaks.merge(pid, 1024 * Long.parseLong(line.replaceAll("\\D", "")), Math::max);
                }
            }
            final String stat = Files.readString(directory.resolve("stat"), StandardCharsets.ISO_8859_1);
            final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            ticks.put(pid, Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]));
        } catch (final IOException ex) {
            // It has ended: the last sample applies.
        }
    }
}
