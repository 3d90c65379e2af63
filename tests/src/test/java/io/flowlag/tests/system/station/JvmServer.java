package io.flowlag.tests.system.station;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A server in a JVM of its own: started, killed, and started again with the same arguments. Its output goes to a file. */
final class JvmServer implements AutoCloseable {
    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    private final Path log;
    private final ProcessBuilder builder;
    private Process process;

    /**
     * Not yet started.
     *
     * @param directory where it runs and its output is.
     * @param arguments of the JVM, of which the first ones are the same for all.
     */
    JvmServer(final Path directory, final String name, final List<String> arguments) {
        log = directory.resolve(name + ".log");
        final List<String> line = new ArrayList<>(List.of(JAVA.toString(), "-XX:+UseSerialGC", "-XX:+PerfDisableSharedMem"));
        line.addAll(arguments);
        builder = new ProcessBuilder(line).directory(directory.toFile()).redirectErrorStream(true)
            .redirectInput(new File("/dev/null")).redirectOutput(Redirect.appendTo(log.toFile()));
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** Sets a variable of its environment. */
    JvmServer with(final String name, final String value) {
        builder.environment().put(name, value);
        return this;
    }

    /** {@return the jars among the libraries of the tests whose names match, as a class path} */
    static String jars(final String names) {
        final Pattern pattern = Pattern.compile(names);
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter((jar) -> pattern.matcher(Path.of(jar).getFileName().toString()).matches())
            .collect(Collectors.joining(File.pathSeparator));
    }

    synchronized JvmServer start() {
        try {
            process = builder.start();
            return this;
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Starts, and waits for its end. Returns its output; fails if its exit code is not 0. */
    String run() {
        start();
        try {
            if (process.waitFor() != 0) {
                throw new AssertionError(log + ":\n" + output());
            }
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        return output();
    }

    /** {@return what it has written since it was first started} */
    String output() {
        try {
            return Files.readString(log);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** {@return whether it has ended with another code than 0} */
    synchronized boolean isRefused() {
        return process != null && !process.isAlive() && process.exitValue() != 0;
    }

    /** {@return time on processors so far} */
    synchronized Duration cpu() {
        return process == null ? Duration.ZERO : process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Sends SIGKILL and waits until the process is gone. */
    synchronized void kill() {
        if (process != null) {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (final InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void close() {
        kill();
    }
}
