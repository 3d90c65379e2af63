package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.terminal.Terminal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The evaluated {@code flowlag}: a process of the launcher that {@link #PROPERTY} names, else of the source tree whose jar this
 * runs from. Without a jar, as in tests, it runs in this process.
 */
final class JudgedProduct {
    /** System property: the launcher of another version, such as {@code /opt/old/bin/flowlag}. */
    static final String PROPERTY = "flowlag.held-out.judged";

    private static final long SAMPLE_MS = 20;
    private static final String LAUNCHER = "bin/flowlag";

    private final Path launcher;

    /**
     * How a run ended.
     *
     * @param seconds    from its start to its end.
     * @param cpuSeconds of all its threads, as last sampled, 20 ms before its end; NaN if it was no process of its own.
     * @param messages   what it wrote to the terminal.
     */
    record Run(int exitCode, double seconds, double cpuSeconds, double peakBytes, String messages) {
    }

    JudgedProduct() {
        final String named = System.getProperty(PROPERTY);
        launcher = named == null ? ownLauncher() : Path.of(named);
    }

    private static Path ownLauncher() {
        try {
            final Path code = Path.of(Main.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path directory = Files.isRegularFile(code) ? code.getParent() : null;
            while (directory != null && !Files.isExecutable(directory.resolve(LAUNCHER))) {
                directory = directory.getParent();
            }
            return directory == null ? null : directory.resolve(LAUNCHER);
        } catch (final URISyntaxException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** {@return the evaluated version, as text} */
    String name() {
        return launcher == null ? "this process" : launcher.toString();
    }

    /** Runs a command to its end. */
    Run run(final List<String> arguments) throws IOException {
        return launcher == null ? runHere(arguments) : runProcess(arguments);
    }

    private static Run runHere(final List<String> arguments) {
        final ByteArrayOutputStream text = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(text, true, StandardCharsets.UTF_8);
        final long startNs = System.nanoTime();
        final int exitCode = Main.run(new Terminal(stream, stream, false), arguments.toArray(new String[0]));
        return new Run(exitCode, (System.nanoTime() - startNs) / 1e9, Double.NaN, Double.NaN,
            text.toString(StandardCharsets.UTF_8));
    }

    private Run runProcess(final List<String> arguments) throws IOException {
        final List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(arguments);
        final Path messages = Files.createTempFile("flowlag-held-out", ".txt");
        final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(messages.toFile());
        builder.environment().put("FLOWLAG_BUILD", "never");
        builder.environment().remove("FLOWLAG_JAVA_OPTS");
        final long startNs = System.nanoTime();
        final Process process = builder.start();
        try {
            Duration cpu = Duration.ZERO;
            double peakBytes = Double.NaN;
            boolean isEnded = false;
            while (!isEnded) {
                isEnded = process.waitFor(SAMPLE_MS, TimeUnit.MILLISECONDS);
                if (!isEnded) {
                    cpu = process.info().totalCpuDuration().orElse(cpu);
                    peakBytes = peakBytes(process.pid(), peakBytes);
                }
            }
            return new Run(process.exitValue(), (System.nanoTime() - startNs) / 1e9, cpu.toNanos() / 1e9, peakBytes,
                Files.readString(messages));
        } catch (final InterruptedException ex) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", ex);
        } finally {
            Files.delete(messages);
        }
    }

    private static double peakBytes(final long pid, final double before) {
        try {
            return Files.readAllLines(Path.of("/proc/" + pid + "/status")).stream().filter(line -> line.startsWith("VmHWM:"))
                .mapToDouble(line -> 1024 * Double.parseDouble(line.replaceAll("[^0-9]", ""))).findFirst().orElse(before);
        } catch (final IOException ex) {
            return before;
        }
    }
}
