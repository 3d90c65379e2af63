package io.flowlag.tests.support;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.terminal.Terminal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The product as users start it: the runnable jar in a JVM of its own. Immutable apart from its building methods; not
 * thread-safe.
 */
public final class Flowlag {
    private static final int UNSAFE_WARNS_SINCE = 24;
    private static volatile Set<String> commands;

    private final List<String> wrapper = new ArrayList<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private boolean isInThisJvm;
    private Path jar = Checkout.jar();
    private Path java = Path.of(System.getProperty("java.home"), "bin", "java");

    /** The jar on a JVM like this one. Ends the test if the jar is not built. */
    public Flowlag() {
        if (!Files.isRegularFile(Checkout.jar())) {
            throw Tools.missing(Checkout.jar() + " is not built: mvn -pl tests -am verify builds it first");
        }
        if (Runtime.version().feature() >= UNSAFE_WARNS_SINCE) {
            jvm("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED");
        }
    }

    /**
     * The same, for a command that not every build has. Ends the test if this one has not.
     *
     * @param command such as {@code meter}.
     * @return ready to be started.
     */
    public static Flowlag with(final String command) {
        final Flowlag flowlag = new Flowlag();
        if (commands == null) {
            commands = flowlag.run("--help").output().lines()
                .map(line -> line.trim().split(" ")[0]).collect(Collectors.toUnmodifiableSet());
        }
        if (!commands.contains(command)) {
            throw Tools.missing(Checkout.jar() + " has no command " + command);
        }
        return flowlag;
    }

    /**
     * Adds options of the JVM.
     *
     * @param options such as {@code -Xmx64m}.
     * @return this.
     */
    public Flowlag jvm(final String... options) {
        jvmOptions.addAll(Arrays.asList(options));
        return this;
    }

    /**
     * Puts a command before the JVM.
     *
     * @param command such as {@code setpriv} and its options.
     * @return this.
     */
    public Flowlag under(final String... command) {
        wrapper.addAll(Arrays.asList(command));
        return this;
    }

    /**
     * Takes a copy of the jar, for users who may not look into the checkout.
     *
     * @param copy where it lies.
     * @return this.
     */
    public Flowlag jar(final Path copy) {
        jar = copy;
        return this;
    }

    /**
     * Takes another JVM.
     *
     * @param otherJava its launcher.
     * @return this.
     */
    public Flowlag java(final Path otherJava) {
        java = otherJava;
        return this;
    }

    /**
     * Runs in the JVM of the test: the same code without the start of a process, for tests of many small inputs.
     *
     * @return this.
     */
    public Flowlag inThisJvm() {
        isInThisJvm = true;
        return this;
    }

    /**
     * The command line, ready to be started.
     *
     * @param arguments of the product.
     * @return the command.
     */
    public Command command(final Object... arguments) {
        final List<String> line = new ArrayList<>(wrapper);
        line.add(java.toString());
        line.addAll(jvmOptions);
        line.add("-jar");
        line.add(jar.toString());
        for (final Object argument : arguments) {
            line.add(argument.toString());
        }
        return new Command(line);
    }

    /**
     * Runs to the end.
     *
     * @param arguments of the product.
     * @return how it ended.
     */
    public Command.Result run(final Object... arguments) {
        return isInThisJvm ? runInThisJvm(arguments) : command(arguments).run();
    }

    private static Command.Result runInThisJvm(final Object... arguments) {
        final ByteArrayOutputStream output = new ByteArrayOutputStream();
        final ByteArrayOutputStream errors = new ByteArrayOutputStream();
        final Terminal terminal = new Terminal(
            new PrintStream(output, false, StandardCharsets.UTF_8), new PrintStream(errors, true, StandardCharsets.UTF_8), false);
        final String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
        final int exitCode = Main.run(terminal, texts);
        terminal.out().flush();
        return new Command.Result(
            List.of(texts), exitCode, output.toString(StandardCharsets.UTF_8), errors.toString(StandardCharsets.UTF_8));
    }
}
