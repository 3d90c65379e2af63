package io.flowlag.exporter.fuzz;

import org.agrona.concurrent.UnsafeBuffer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs every target, each in a process with the flags of this one, and prints a table. An input that ends the process, such as
 * one behind which a target reads, is a finding and is kept, as is one that breaks a law. What a process says is in
 * {@code TARGET.log} beside the inputs, what the JVM says of a crash in {@code TARGET.crash}.
 */
final class FuzzAll {
    private static final Pattern REPORT =
        Pattern.compile(".*: (\\d+) inputs, .* (\\d+) a second; .* largest allocation (\\d+) octets");
    private static final Pattern KEPT = Pattern.compile("the input is (.*)");
    private static final Map<Integer, String> FINDINGS = Map.of(0, "none", 1, "law broken", FuzzMain.HANG_EXIT_CODE, "hang");

    private FuzzAll() {
    }

    /**
     * Runs.
     *
     * @param inputs       of a target.
     * @param packetInputs of a target that runs for each packet.
     * @param options      for each process.
     * @param keep         folder for what is found.
     * @return exit code: 0 without findings, else 1.
     * @throws IOException if a process cannot be started.
     */
    static int run(final long inputs, final long packetInputs, final List<String> options, final Path keep)
        throws IOException {
        Files.createDirectories(keep);
        row(System.out, "target", "inputs", "a second", "most allocated", "finding");
        boolean isClean = true;
        for (final String target : FuzzTargets.all().keySet()) {
            final List<String> arguments = new ArrayList<>(List.of(target, "--inputs",
                Long.toString(FuzzTargets.OF_PACKETS.contains(target) ? packetInputs : inputs), "--keep", keep.toString()));
            arguments.addAll(options);
            isClean &= runOne(FuzzMain.class, arguments, keep, System.out);
        }
        return isClean ? 0 : 1;
    }

    /**
     * Runs one target and prints its row.
     *
     * @param main      takes the arguments.
     * @param arguments of which the first names the target.
     * @return whether nothing was found.
     */
    static boolean runOne(final Class<?> main, final List<String> arguments, final Path keep, final PrintStream out)
        throws IOException {
        final String target = arguments.get(0);
        final Path crash = keep.resolve(target + ".crash");
        Files.deleteIfExists(crash);
        final List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString()));
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + crash,
            "-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String[] figures = {"", "", ""};
        String kept = "";
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
            PrintStream log = new PrintStream(keep.resolve(target + ".log").toFile(), StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.println(line);
                final Matcher report = REPORT.matcher(line);
                final Matcher input = KEPT.matcher(line);
                figures = report.matches() ? new String[] {report.group(1), report.group(2), report.group(3)} : figures;
                kept = input.matches() ? " " + input.group(1) : kept;
            }
        }
        final int exitCode = process.onExit().join().exitValue();
        String finding = Files.exists(crash) ? "crash" : FINDINGS.getOrDefault(exitCode, "ends with " + exitCode);
        if (Files.exists(crash)) {
            final byte[] latest = Files.readAllBytes(keep.resolve(target + FuzzMain.LATEST));
            finding += " " + FuzzMain.keep(keep, target, FuzzLoop.input(new UnsafeBuffer(latest)));
        }
        row(out, target, figures[0], figures[1], figures[2], finding + kept);
        return exitCode == 0;
    }

    private static void row(final PrintStream out, final Object... cells) {
        out.printf(Locale.ROOT, "%-16s %12s %10s %16s  %s%n", cells);
    }
}
