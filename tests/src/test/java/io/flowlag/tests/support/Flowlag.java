package io.flowlag.tests.support;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.terminal.Terminal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/**
 * The product as users start it: the runnable jar in a JVM of its own. It runs for seconds, so the JVM compiles without profiles,
 * which leaves processors to others. Immutable apart from its building methods; not thread-safe.
 */
public final class Flowlag {
    private static final int UNSAFE_WARNS_SINCE = 24;
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final Path THIS_JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final Path CLASS_ARCHIVE = Checkout.root().resolve(
        "tests/target/flowlag-java" + Runtime.version().feature() + ".jsa");
    private static volatile Set<String> commands;
    private static volatile boolean isClassArchiveMade;

    private final List<String> wrapper = new ArrayList<>();
    private final List<String> jvmOptions = new ArrayList<>();
    private boolean isInThisJvm;
    private Path jar = Checkout.jar();
    private Path java = THIS_JAVA;
    private Class<?> main;

    /** The jar on a JVM like this one. Ends the test if the jar is not built. */
    public Flowlag() {
        if (!Files.isRegularFile(Checkout.jar())) {
            throw Tools.missing(Checkout.jar() + " is not built: mvn -pl tests -am verify builds it first");
        }
        jvm("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
        if (Runtime.version().feature() >= UNSAFE_WARNS_SINCE) {
            jvm("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED");
        }
    }

    /** {@return an option of the JVM with which {@code bin/flowlag} starts as fast as these processes} */
    public static String fastStart() {
        new Flowlag().makeClassArchive();
        return "-XX:SharedArchiveFile=" + CLASS_ARCHIVE + " -Xlog:cds=off -Xlog:cds+dynamic=off -XX:TieredStopAtLevel=1";
    }

    /**
     * Makes what {@code bin/flowlag} keeps beside its jar: the classes as the JVM would prepare them at each start. One JVM of
     * the tests makes it for all of them.
     */
    private void makeClassArchive() {
        if (isClassArchiveMade) {
            return;
        }
        synchronized (Flowlag.class) {
            try (FileChannel lock = FileChannel.open(CLASS_ARCHIVE.resolveSibling(CLASS_ARCHIVE.getFileName() + ".lock"),
                StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                lock.lock();
                if (Files.notExists(CLASS_ARCHIVE) ||
                    Files.getLastModifiedTime(CLASS_ARCHIVE).compareTo(Files.getLastModifiedTime(jar)) < 0) {
                    final Path next = CLASS_ARCHIVE.resolveSibling(CLASS_ARCHIVE.getFileName() + ".next");
                    final List<String> line = new ArrayList<>(List.of(java.toString(), "-Xlog:disable",
                        "-XX:ArchiveClassesAtExit=" + next));
                    line.addAll(jvmOptions);
                    line.addAll(List.of("-jar", jar.toString(), "demo", "--stats", next + ".json"));
                    new Command(line).run().orFail();
                    Files.move(next, CLASS_ARCHIVE, StandardCopyOption.REPLACE_EXISTING);
                }
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
            isClassArchiveMade = true;
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
            commands = runInThisJvm("--help").output().lines()
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
     * Compiles as the JVM does by default, for runs that are long.
     *
     * @return this.
     */
    public Flowlag compiledFully() {
        return jvm("-XX:TieredStopAtLevel=4");
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
     * Starts by a class of the tests, which starts the product itself. It may use no library that the product does not have.
     *
     * @param mainClass takes the arguments.
     * @return this.
     */
    public Flowlag main(final Class<?> mainClass) {
        main = mainClass;
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
        if (java.equals(THIS_JAVA) && jar.equals(Checkout.jar())) {
            makeClassArchive();
            line.addAll(List.of("-XX:SharedArchiveFile=" + CLASS_ARCHIVE, "-Xlog:cds=off", "-Xlog:cds+dynamic=off"));
        }
        line.addAll(jvmOptions);
        if (main == null) {
            line.addAll(List.of("-jar", jar.toString()));
        } else {
            opened().forEach((each) -> line.add("--add-opens=" + each + "=ALL-UNNAMED"));
            line.addAll(List.of("-cp", jar + ":" + Checkout.root().resolve("tests/target/test-classes"), main.getName()));
        }
        for (final Object argument : arguments) {
            line.add(argument.toString());
        }
        return new Command(line);
    }

    /** What {@code -jar} reads in the manifest. */
    private List<String> opened() {
        try (JarFile file = new JarFile(jar.toFile())) {
            return List.of(file.getManifest().getMainAttributes().getValue("Add-Opens").split(" "));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
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

    /**
     * Waits until processes of the command {@code run} capture packets; fails if one ends before.
     *
     * @param runs started before.
     */
    public static void awaitMetering(final Command.Running... runs) {
        for (final Command.Running run : runs) {
            Deadline.await(START_TIMEOUT, () -> run.errors().contains("INFO  metering ") || !run.isAlive(), run::errors);
            if (!run.isAlive()) {
                throw new AssertionError(run.errors());
            }
        }
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
