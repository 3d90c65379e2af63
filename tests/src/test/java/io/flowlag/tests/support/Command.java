package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * A child process with a deadline. Its output goes to files, so it cannot block on a full pipe. Not thread-safe.
 */
public final class Command {
    private static final Duration DEFAULT_TIMEOUT = Duration.ofMinutes(2);

    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private Path directory = Path.of("").toAbsolutePath();
    private Path input = Path.of("/dev/null");
    private boolean inputFromTest;
    private Duration timeout = DEFAULT_TIMEOUT;

    /** How a process ended and what it said. */
    public record Result(List<String> arguments, int exitCode, String output, String errors) {
        /** {@return the lines on standard error that are not empty} */
        public List<String> errorLines() {
            return errors.lines().filter(line -> !line.isBlank()).toList();
        }

        /** {@return this if the exit code is 0; fails otherwise} */
        public Result orFail() {
            if (exitCode != 0) {
                throw new AssertionError(this);
            }
            return this;
        }

        @Override
        public String toString() {
            return String.join(" ", arguments) + "\nexit code " + exitCode + "\n" + output + errors;
        }
    }

    /**
     * A command line.
     *
     * @param arguments the program first.
     */
    public Command(final List<String> arguments) {
        this.arguments.addAll(arguments);
    }

    /**
     * A command line.
     *
     * @param arguments the program first.
     * @return the command.
     */
    public static Command of(final Object... arguments) {
        final List<String> texts = new ArrayList<>();
        for (final Object argument : arguments) {
            texts.add(argument.toString());
        }
        return new Command(texts);
    }

    /** Sets an environment variable. */
    public Command environment(final String name, final String value) {
        environment.put(name, value);
        return this;
    }

    /** Sets the working directory. */
    public Command directory(final Path newDirectory) {
        directory = newDirectory;
        return this;
    }

    /** Sets the file that is standard input. */
    public Command input(final Path file) {
        input = file;
        return this;
    }

    /** Lets the test write standard input while the process runs. */
    public Command inputFromTest() {
        inputFromTest = true;
        return this;
    }

    /** Sets how long the process may take. */
    public Command timeout(final Duration newTimeout) {
        timeout = newTimeout;
        return this;
    }

    /** Runs to the end. */
    public Result run() {
        try (Running running = start()) {
            return running.finish();
        }
    }

    /** Starts and returns at once. */
    public Running start() {
        try {
            return new Running();
        } catch (final IOException ex) {
            throw new UncheckedIOException(String.join(" ", arguments), ex);
        }
    }

    /** A process under way; closing it ends it by force and removes its output. */
    public final class Running implements AutoCloseable {
        private final Path outputFile = Files.createTempFile("flowlag-test", ".out");
        private final Path errorFile = Files.createTempFile("flowlag-test", ".err");
        private final ExecutorService feeder = Executors.newSingleThreadExecutor();
        private final Process process;
        private volatile IOException inputFailure;

        private Running() throws IOException {
            // Who runs the tests may ignore these, as nohup does; children inherit that, and a JVM then has no handler.
            final List<String> line = new ArrayList<>(List.of("env", "--default-signal=HUP,INT"));
            line.addAll(arguments);
            final ProcessBuilder builder = new ProcessBuilder(line)
                .directory(directory.toFile())
                .redirectInput(inputFromTest ? Redirect.PIPE : Redirect.from(input.toFile()))
                .redirectOutput(outputFile.toFile())
                .redirectError(errorFile.toFile());
            builder.environment().putAll(environment);
            process = builder.start();
        }

        /** {@return whether it has not ended} */
        public boolean isAlive() {
            return process.isAlive();
        }

        /** {@return its process id} */
        public long pid() {
            return process.pid();
        }

        /** {@return standard output so far} */
        public String output() {
            return read(outputFile);
        }

        /** {@return standard error so far} */
        public String errors() {
            return read(errorFile);
        }

        /** Ends the process in order. Fails if its exit code is not 0. */
        public Result stop() {
            signal("TERM");
            return finish().orFail();
        }

        /**
         * Sends a signal.
         *
         * @param name such as {@code TERM}.
         */
        public void signal(final String name) {
            // The shell has kill built in; the program of that name is in a package that a small system lacks.
            Command.of("/bin/sh", "-c", "kill -" + name + " " + process.pid()).run().orFail();
        }

        /**
         * Starts to write to standard input from a thread of its own, since the process may stop reading for a while.
         *
         * @param octets to write, after those of earlier calls.
         */
        public void feed(final byte[] octets) {
            feeder.execute(() -> {
                try {
                    process.getOutputStream().write(octets);
                    process.getOutputStream().flush();
                } catch (final IOException ex) {
                    inputFailure = ex;
                }
            });
        }

        /** Ends standard input after what was fed. */
        public void endInput() {
            feeder.execute(() -> {
                try {
                    process.getOutputStream().close();
                } catch (final IOException ex) {
                    inputFailure = ex;
                }
            });
        }

        /** {@return why standard input could not be written, or null} */
        public IOException inputFailure() {
            return inputFailure;
        }

        /** Waits for the end. */
        public Result finish() {
            try {
                if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly().waitFor();
                    throw new AssertionError("not ended within " + timeout + ": " + result());
                }
            } catch (final InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new AssertionError(ex);
            }
            return result();
        }

        private Result result() {
            return new Result(List.copyOf(arguments), process.exitValue(), output(), errors());
        }

        @Override
        public void close() {
            process.destroyForcibly();
            feeder.shutdown();
            try {
                process.waitFor();
                Files.deleteIfExists(outputFile);
                Files.deleteIfExists(errorFile);
            } catch (final InterruptedException ex) {
                Thread.currentThread().interrupt();
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        private static String read(final Path file) {
            try {
                return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }
}
