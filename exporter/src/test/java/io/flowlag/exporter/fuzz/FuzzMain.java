package io.flowlag.exporter.fuzz;

import org.agrona.IoUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What {@code bin/fuzz} runs: {@code TARGET [--inputs N] [--minutes N] [--seed N] [--keep FOLDER] [--replay FILE]
 * [--seeds FOLDER]}, of which the last writes the good inputs and does no more. Ends with 0 if no law was broken; else it writes
 * the input into the folder, says what happened, and ends with 1 (3 for a hang). A file {@code TARGET.latest} has the input
 * that ended the process. With {@code all} as target, every target runs in a process of its own, see {@link FuzzAll}.
 */
public final class FuzzMain {
    private static final long TIME_BOUND_NS = 100_000_000L;
    private static final long HANG_CPU_NS = 30_000_000_000L;
    private static final long BLOCKED_NS = 1_200_000_000_000L;
    private static final long REPORT_NS = 60_000_000_000L;
    private static final int BATCH = 10_000;
    private static final long MOST_GROWTH_BYTES = 16L << 20;
    static final int HANG_EXIT_CODE = 3;
    static final String LATEST = ".latest";

    private final String name;
    private final FuzzLoop loop;
    private final Path keep;
    private final PrintStream out = System.out;
    private final long startNs = System.nanoTime();

    private FuzzMain(final String name, final FuzzLoop loop, final Path keep) {
        this.name = name;
        this.loop = loop;
        this.keep = keep;
    }

    /**
     * Runs.
     *
     * @param args as the type says.
     * @throws IOException if an input cannot be read or kept.
     */
    public static void main(final String[] args) throws IOException {
        if (args.length == 0 || args.length % 2 == 0) {
            System.err.println("bin/fuzz all [--inputs N] [--packets N] [--minutes N] [--seed N] [--keep FOLDER]\n"
                + "bin/fuzz TARGET [--inputs N] [--minutes N] [--seed N] [--keep FOLDER] [--replay FILE] "
                + "[--seeds FOLDER]; targets: "
                + String.join(", ", FuzzTargets.all().keySet()));
            System.exit(64);
        }
        if (args[0].equals("all")) {
            System.exit(FuzzAll.run(Long.parseLong(option(args, "--inputs", "10000000")),
                Long.parseLong(option(args, "--packets", "100000000")),
                List.of("--minutes", option(args, "--minutes", "525600"), "--seed", option(args, "--seed", "1")),
                Path.of(option(args, "--keep", "target/fuzz"))));
        }
        final String replay = option(args, "--replay", null);
        if (replay != null) {
            final byte[] input = Files.readAllBytes(Path.of(replay));
            System.out.println("answer " + FuzzTargets.of(args[0]).take(input, input.length));
            return;
        }
        final String seeds = option(args, "--seeds", null);
        if (seeds != null) {
            writeSeeds(FuzzTargets.of(args[0]), Path.of(seeds));
            return;
        }
        final long seed = Long.parseLong(option(args, "--seed", "1"));
        final long inputs = Long.parseLong(option(args, "--inputs", Long.toString(Long.MAX_VALUE)));
        final long minutes = Long.parseLong(option(args, "--minutes", "525600"));
        final Path keep = Path.of(option(args, "--keep", "target/fuzz"));
        final FuzzTarget target = FuzzTargets.of(args[0]);
        final FuzzLoop loop = new FuzzLoop(target, seed, TIME_BOUND_NS, latest(keep, args[0], FuzzLoop.latestBytes(target)));
        System.exit(new FuzzMain(args[0], loop, keep).run(inputs, minutes * REPORT_NS));
    }

    /** A file that keeps its content when the process crashes. */
    static UnsafeBuffer latest(final Path keep, final String name, final int lengthBytes) throws IOException {
        Files.createDirectories(keep);
        final Path file = keep.resolve(name + LATEST);
        Files.deleteIfExists(file);
        return new UnsafeBuffer(IoUtil.mapNewFile(file.toFile(), lengthBytes));
    }

    private static void writeSeeds(final FuzzTarget target, final Path folder) throws IOException {
        Files.createDirectories(folder);
        for (final byte[] each : target.seeds()) {
            Files.write(folder.resolve("seed-" + Integer.toHexString(Arrays.hashCode(each))), each);
        }
    }

    private static String option(final String[] args, final String option, final String otherwise) {
        final int index = Arrays.asList(args).indexOf(option);
        return index < 0 ? otherwise : args[index + 1];
    }

    private int run(final long inputs, final long durationNs) throws IOException {
        final long threadId = Thread.currentThread().getId();
        final Thread watchdog = new Thread(() -> watch(threadId), "watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        try {
            loop.run(Math.min(inputs, 10L * BATCH));
            final long earlyBytes = usedBytes();
            long nextReportNs = startNs + REPORT_NS;
            while (loop.inputs() < inputs && System.nanoTime() - startNs < durationNs) {
                loop.run(Math.min(BATCH, inputs - loop.inputs()));
                if (System.nanoTime() >= nextReportNs) {
                    nextReportNs += REPORT_NS;
                    report("so far");
                }
            }
            final long growthBytes = usedBytes() - earlyBytes;
            report("done, heap grew by " + (growthBytes >> 10) + " KiB");
            return growthBytes > MOST_GROWTH_BYTES ? 1 : 0;
        } catch (final FuzzFault ex) {
            keep(ex.input());
            ex.printStackTrace(out);
            report("FAULT");
            return 1;
        }
    }

    private static long usedBytes() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private void report(final String what) {
        final double seconds = (System.nanoTime() - startNs) / 1e9;
        final double workSeconds = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e9;
        out.printf(Locale.ROOT, "%s: %s: %d inputs, %d MB, %.0f s (%.0f of them at work), %.0f a second; %d answers, corpus %d; "
            + "slowest %.3f ms, largest allocation %d octets%n", name, what, loop.inputs(), loop.octets() >> 20, seconds,
            workSeconds, loop.inputs() / seconds, loop.answers(), loop.corpusSize(), loop.slowestNs() / 1e6,
            loop.largestAllocationBytes());
    }

    private void keep(final byte[] input) throws IOException {
        out.println("the input is " + keep(keep, name, input));
    }

    static Path keep(final Path folder, final String name, final byte[] input) throws IOException {
        return Files.write(folder.resolve(name + "-" + Integer.toHexString(Arrays.hashCode(input)) + ".bin"), input);
    }

    /** An input hangs that uses so much of a processor, however little of it others leave, or that waits for ever. */
    private void watch(final long threadId) {
        final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long inputs = -1;
        long sinceNs = 0;
        long sinceCpuNs = 0;
        try {
            while (true) {
                Thread.sleep(1000);
                if (loop.inputs() != inputs) {
                    inputs = loop.inputs();
                    sinceNs = System.nanoTime();
                    sinceCpuNs = threads.getThreadCpuTime(threadId);
                } else if (threads.getThreadCpuTime(threadId) - sinceCpuNs > HANG_CPU_NS ||
                    System.nanoTime() - sinceNs > BLOCKED_NS) {
                    keep(loop.current());
                    Thread.getAllStackTraces().forEach((thread, stack) -> {
                        out.println(thread);
                        Arrays.stream(stack).forEach((each) -> out.println("    " + each));
                    });
                    out.println(name + ": HANG");
                    Runtime.getRuntime().halt(HANG_EXIT_CODE);
                }
            }
        } catch (final InterruptedException | IOException ex) {
            ex.printStackTrace(out);
        }
    }
}
