package io.flowlag.tests.launch;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.tests.benchmark.Profiles;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * {@code bin/flowlag}, the package's launcher and {@code java -jar}: what they say on a terminal on each JVM found, and when they
 * build. Building is seen by a Maven of our own, which copies the real jar and counts.
 */
@Timeout(120)
class LauncherTest {
    private static final String VERSION = "flowlag [0-9.]+ \\(commit ([0-9a-f]{7,}|unknown), Java [0-9._]+\\)\n";
    private static final String BUILDING = "flowlag: building, which takes a minute the first time ...\n";
    private static final int NEWEST_JAVA = 40;
    private static final Path ROOT = root();
    private static final Path JAR = ROOT.resolve("exporter/target/flowlag.jar");

    @TempDir
    Path directory;

    private record Outcome(int exitCode, String out, String err) {
    }

    @BeforeEach
    void needsTheJar() {
        assumeTrue(Files.exists(JAR), "no " + JAR + ": run the tests with mvn verify");
    }

    static Stream<Path> javaHomes() throws IOException {
        final List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
        if (System.getenv("JAVA25_HOME") != null) {
            homes.add(Path.of(System.getenv("JAVA25_HOME")));
        }
        final Path all = Path.of("/usr/lib/jvm");
        if (Files.isDirectory(all)) {
            try (Stream<Path> entries = Files.list(all)) {
                entries.forEach(homes::add);
            }
        }
        return homes.stream().filter((home) -> Files.isExecutable(home.resolve("bin/java")) && isSupported(home))
            .map(LauncherTest::real).distinct();
    }

    @ParameterizedTest
    @MethodSource("javaHomes")
    void shouldSayNothingForeignOnAnyJvm(final Path javaHome) throws IOException, InterruptedException {
        final Map<String, String> environment = Map.of("JAVA_HOME", javaHome.toString(), "FLOWLAG_BUILD", "never");
        final Outcome version = launch(ROOT.resolve("bin/flowlag"), environment, "--version");
        assertEquals("", version.err());
        assertTrue(version.out().matches(VERSION), version.out());
        assertEquals(0, version.exitCode());
        final Outcome help = launch(ROOT.resolve("bin/flowlag"), environment, "--help");
        assertEquals("", help.err());
        assertTrue(help.out().startsWith("Usage: flowlag "), help.out());
        final Outcome refusal = launch(ROOT.resolve("bin/flowlag"), environment, "check-config", "missing file.yaml");
        assertEquals("missing file.yaml: no such configuration file: check the path\n", refusal.err());
        assertEquals(66, refusal.exitCode());
    }

    @ParameterizedTest
    @MethodSource("javaHomes")
    void shouldReadAConfigurationWithoutForeignWords(final Path javaHome) throws IOException, InterruptedException {
        final Path file = Files.writeString(directory.resolve("a b.yaml"), "log: {level: debug}\n");
        final Outcome outcome = launch(ROOT.resolve("bin/flowlag"),
            Map.of("JAVA_HOME", javaHome.toString(), "FLOWLAG_BUILD", "never"), "check-config", file.toString());
        assertEquals("", outcome.err());
        assertEquals(0, outcome.exitCode());
    }

    /** The checkpoint needs native code and memory outside of the heap, of which Java 24 and later warn if they are not told. */
    @ParameterizedTest
    @MethodSource("javaHomes")
    void shouldSayNothingForeignFromThePackageOnAnyJvm(final Path javaHome) throws IOException {
        if (!"0".equals(Command.of("id", "-u").run().orFail().output().strip())) {
            throw Tools.missing("packets of lo are for root only");
        }
        final String installed = Files.readString(ROOT.resolve("exporter/packaging/launcher"));
        final Path launcher = directory.resolve("launcher");
        executable(launcher, installed.replace("$library/runtime", javaHome.toString())
            .replace("$library/flowlag.jar", JAR.toString()).replace("/usr/lib/flowlag", directory.toString()));
        final Path status = directory.resolve("status");
        final Command command = Command.of(launcher, "run", "-i", "lo", "--export", "file:" + directory.resolve("records"),
            "--set", "checkpoint.file=" + directory.resolve("checkpoint"), "--set", "status.file=" + status);
        try (Command.Running running = command.start()) {
            Deadline.await(Duration.ofSeconds(60), () -> Files.exists(status) || !running.isAlive(), running::errors);
            running.signal("TERM");
            final Command.Result ended = running.finish();
            assertEquals(0, ended.exitCode(), ended::toString);
            assertFalse(ended.errors().contains("WARNING"), ended::toString);
        }
    }

    /** The name is given in octets: the JVM of this test may not know the letter either. */
    @ParameterizedTest
    @ValueSource(strings = {"", "C", "POSIX", "C.UTF-8"})
    void shouldOpenFilesOfAnyNameInAnyLocale(final String locale) throws IOException, InterruptedException {
        final String script = "name=$(printf 'na\\303\\257ve file.yaml'); echo 'log: {level: warn}' >\"$name\"; " +
            "exec \"$0\" check-config \"$name\"";
        final Outcome outcome = start(Map.of("FLOWLAG_BUILD", "never", "LC_ALL", locale, "LC_CTYPE", "", "LANG", ""),
            List.of("sh", "-c", script, ROOT.resolve("bin/flowlag").toString()));
        assertEquals("", outcome.err());
        assertEquals(0, outcome.exitCode());
    }

    /** What is allocated after the start has room in the young generation, however many packets come. */
    @ParameterizedTest
    @MethodSource("javaHomes")
    void shouldCollectNothingWhileACaptureIsRead(final Path javaHome) throws IOException, InterruptedException {
        final Path capture = directory.resolve("packets.pcap");
        Captures.write(
            Profiles.min64().toBuilder().packetCount(500_000).flowCount(20_000).build(), capture,
            CaptureWriter.Format.PCAP_NANOSECONDS, ByteOrder.LITTLE_ENDIAN);
        final Path log = directory.resolve("gc.log");
        final Outcome outcome = launch(ROOT.resolve("bin/flowlag"),
            Map.of("JAVA_HOME", javaHome.toString(), "FLOWLAG_BUILD", "never", "FLOWLAG_JAVA_OPTS", "-Xlog:gc*:file=" + log),
            "meter", "-r", capture.toString(), "--export", "file:/dev/null", "--stats", "-");
        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("\"metered\" : 500000"), outcome.out());
        final String collections = Files.readString(log);
        assertTrue(collections.contains("Using Serial"), collections);
        assertFalse(collections.contains("Pause"), collections);
    }

    @Test
    void shouldRunAsAPlainJar() throws IOException, InterruptedException {
        final Outcome outcome = start(Map.of(), List.of(System.getProperty("java.home") + "/bin/java", "-jar", JAR.toString(),
            "--version"));
        assertEquals("", outcome.err());
        assertTrue(outcome.out().matches(VERSION), outcome.out());
    }

    @Test
    void shouldGiveFlagsOfTheUserToTheJvm() throws IOException, InterruptedException {
        final Outcome outcome = launch(ROOT.resolve("bin/flowlag"),
            Map.of("FLOWLAG_BUILD", "never", "FLOWLAG_JAVA_OPTS", "-Xmx64m -XshowSettings:vm"), "--version");
        assertTrue(outcome.err().contains("Max. Heap Size: 64.00M"), outcome.err());
    }

    @Test
    void shouldIgnoreAJavaHomeThatIsTooOld() throws IOException, InterruptedException {
        final Path old = Files.createDirectories(directory.resolve("java-8"));
        Files.writeString(old.resolve("release"), "JAVA_VERSION=\"1.8.0_402\"\n");
        executable(Files.createDirectories(old.resolve("bin")).resolve("java"), "echo old java started >&2; exit 1");
        final Outcome outcome = launch(ROOT.resolve("bin/flowlag"),
            Map.of("JAVA_HOME", old.toString(), "FLOWLAG_BUILD", "never"), "--version");
        assertEquals("", outcome.err());
        assertEquals(0, outcome.exitCode());
    }

    @Test
    void shouldBuildOnceAndAgainOnlyWhenASourceIsNewer() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("a checkout"));
        final Outcome first = launch(tree.launcher, tree.environment, "--version");
        assertEquals(BUILDING, first.err());
        assertTrue(first.out().startsWith("flowlag "), first.out());
        final Path link = Files.createSymbolicLink(directory.resolve("link"), tree.launcher);
        final Path linkToLink = Files.createSymbolicLink(directory.resolve("second link"), Path.of("link"));
        assertEquals("", launch(linkToLink, tree.environment, "--version").err());
        assertEquals(1, tree.buildCount());
        Files.setLastModifiedTime(tree.source, FileTime.from(Instant.now().plusSeconds(5)));
        assertEquals(1, launch(tree.launcher, tree.environment, "--version").err().lines().count());
        assertEquals(2, tree.buildCount());
    }

    /** One build gives both jars; the one here has no experiments in it, and the program says so. */
    @Test
    void shouldBuildTheExperimentsForLabAlone() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        final Outcome lab = launch(tree.launcher, tree.environment, "lab");
        assertTrue(lab.err().endsWith("bin/flowlag lab of a source tree has them\n"), lab.err());
        assertEquals(66, lab.exitCode());
        assertTrue(Files.exists(directory.resolve("checkout/target/flowlag-lab.jar")));
        assertEquals(0, launch(tree.launcher, tree.environment, "--version").exitCode());
        assertEquals(1, tree.buildCount());
    }

    @Test
    void shouldTakeAJarThatMavenBuiltAlready() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        Files.createDirectories(tree.jar.getParent());
        Files.copy(JAR, tree.jar);
        assertEquals("", launch(tree.launcher, tree.environment, "--version").err());
        assertEquals(0, tree.buildCount());
    }

    @ParameterizedTest
    @MethodSource("javaHomes")
    void shouldKeepTheClassesOfTheJarBesideIt(final Path javaHome) throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        tree.forgetClassArchives();
        final Map<String, String> environment = new HashMap<>(tree.environment);
        environment.put("JAVA_HOME", javaHome.toString());
        assertEquals(BUILDING, launch(tree.launcher, environment, "--version").err());
        final Path archive = tree.classArchive();
        final FileTime made = Files.getLastModifiedTime(archive);
        if (Files.size(archive) > 0) {
            environment.put("FLOWLAG_JAVA_OPTS", "-Xlog:class+load");
            final Outcome loaded = launch(tree.launcher, environment, "--version");
            assertTrue(loaded.out().contains("command.Main source: shared objects file"),
                "the classes are not taken from the archive");
            environment.remove("FLOWLAG_JAVA_OPTS");
        }
        assertEquals(made, Files.getLastModifiedTime(archive));
        Files.delete(archive);
        Files.writeString(archive, "no archive");
        final Outcome damaged = launch(tree.launcher, environment, "--version");
        assertEquals("", damaged.err());
        assertTrue(damaged.out().matches(VERSION), damaged.out());
        assertEquals(0, damaged.exitCode());
    }

    /** By a stand-in for Java, which says who else might write where it makes the archive. */
    @ParameterizedTest
    @ValueSource(strings = {"000", "077"})
    void shouldMakeTheArchiveForAllToReadAndNoOneElseToWrite(final String umask) throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        tree.forgetClassArchives();
        final Path javaHome = directory.resolve("java");
        final Path modes = directory.resolve("modes");
        executable(Files.createDirectories(javaHome.resolve("bin")).resolve("java"), "for each in \"$@\"; do case $each in\n" +
            "-XX:DumpLoadedClassList=*) touch \"${each#*=}\"; stat -c %a . >>" + modes + ";;\n" +
            "-XX:SharedArchiveFile=*/archive) echo classes >\"${each#*=}\"; chmod a-w \"${each#*=}\";;\nesac; done");
        Files.writeString(javaHome.resolve("release"), "JAVA_VERSION=\"17\"\n");
        final Map<String, String> environment = new HashMap<>(tree.environment);
        environment.put("JAVA_HOME", javaHome.toString());
        assertEquals(0, start(environment, List.of(
            "sh", "-c", "umask " + umask + " && exec " + tree.launcher + " --version")).exitCode());
        assertEquals(List.of("700", "700"), Files.readAllLines(modes));
        assertEquals("rw-r--r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(tree.classArchive())));
    }

    @Test
    void shouldBuildAnewWhereAJarWasCut() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        Files.createDirectories(tree.jar.getParent());
        Files.write(tree.jar, java.util.Arrays.copyOf(Files.readAllBytes(JAR), 100_000));
        assertEquals(0, launch(tree.launcher, tree.environment, "--version").exitCode());
        assertEquals(1, tree.buildCount());
    }

    @Test
    void shouldBuildOnceForTwoThatStartTogether() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        final Process one = process(tree.launcher, tree.environment).start();
        final Process two = process(tree.launcher, tree.environment).start();
        assertEquals(0, one.waitFor());
        assertEquals(0, two.waitFor());
        assertEquals(1, tree.buildCount());
    }

    @Test
    void shouldSayThatTheBuildFailedAndWhere() throws IOException, InterruptedException {
        final Tree tree = new Tree(directory.resolve("checkout"));
        executable(tree.maven, "echo '[ERROR] Main.java: broken'; exit 1");
        final Outcome outcome = launch(tree.launcher, tree.environment, "--version");
        assertEquals(70, outcome.exitCode());
        assertTrue(outcome.err().contains("[ERROR] Main.java: broken\n"), outcome.err());
        assertTrue(outcome.err().endsWith("/target/build.log says why\n"), outcome.err());
        assertEquals("", outcome.out());
    }

    /**
     * A checkout as the launcher sees it, with a Maven of our own. Empty class archives say that none can be made: the launcher
     * would take seconds for each.
     */
    private static final class Tree {
        private final Path launcher;
        private final Path source;
        private final Path jar;
        private final Path maven;
        private final Path builds;
        private final Map<String, String> environment;

        private Tree(final Path root) throws IOException {
            launcher = Files.createDirectories(root.resolve("bin")).resolve("flowlag");
            Files.copy(ROOT.resolve("bin/flowlag"), launcher);
            Files.writeString(root.resolve("pom.xml"), "<project/>");
            source = Files.createDirectories(root.resolve("exporter/src/main/java")).resolve("Main.java");
            Files.writeString(source, "class Main { }");
            final FileTime past = FileTime.from(Instant.now().minusSeconds(1000));
            Files.setLastModifiedTime(source, past);
            Files.setLastModifiedTime(root.resolve("pom.xml"), past);
            jar = root.resolve("exporter/target/flowlag.jar");
            builds = root.resolve("builds");
            maven = Files.createDirectories(root.resolve("tools")).resolve("mvn");
            final Path lab = root.resolve("tests/target/flowlag-lab.jar");
            executable(maven, "echo build >>'" + builds + "'\nmkdir -p '" + jar.getParent() + "'\ncp '" + JAR + "' '" + jar +
                "'\ncase \" $* \" in *\" -pl tests \"*) mkdir -p '" + lab.getParent() + "'; cp '" + JAR + "' '" + lab +
                "';; esac\n");
            environment = Map.of("PATH", maven.getParent() + ":" + System.getenv("PATH"));
            final Path target = Files.createDirectories(root.resolve("target"));
            for (int feature = 17; feature <= NEWEST_JAVA; feature++) {
                Files.setLastModifiedTime(Files.createFile(target.resolve("flowlag-java" + feature + ".jsa")),
                    FileTime.from(Instant.now().plusSeconds(1000)));
            }
        }

        private void forgetClassArchives() throws IOException {
            try (Stream<Path> files = Files.list(launcher.resolveSibling("../target"))) {
                for (final Path file : files.toList()) {
                    Files.delete(file);
                }
            }
        }

        private Path classArchive() throws IOException {
            try (Stream<Path> files = Files.list(launcher.resolveSibling("../target"))) {
                return files.filter((file) -> file.toString().endsWith(".jsa")).findFirst().orElseThrow();
            }
        }

        private long buildCount() throws IOException {
            return Files.exists(builds) ? Files.readAllLines(builds).size() : 0;
        }
    }

    private static void executable(final Path file, final String script) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Outcome launch(final Path launcher, final Map<String, String> environment, final String... arguments)
        throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(launcher.toString()));
        command.addAll(List.of(arguments));
        return start(environment, command);
    }

    private ProcessBuilder process(final Path launcher, final Map<String, String> environment) {
        final ProcessBuilder builder = new ProcessBuilder(launcher.toString(), "--version").directory(directory.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "FLOWLAG_JAVA_OPTS", "FLOWLAG_BUILD"));
        builder.environment().putAll(environment);
        return builder;
    }

    private Outcome start(final Map<String, String> environment, final List<String> command)
        throws IOException, InterruptedException {
        final Path out = Files.createTempFile(directory, "out", ".txt");
        final Path err = Files.createTempFile(directory, "err", ".txt");
        final ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
            .redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "FLOWLAG_JAVA_OPTS", "FLOWLAG_BUILD"));
        builder.environment().putAll(environment);
        final int exitCode = builder.start().waitFor();
        return new Outcome(exitCode, Files.readString(out), Files.readString(err));
    }

    private static boolean isSupported(final Path javaHome) {
        try {
            return Files.readString(javaHome.resolve("release")).matches("(?s).*JAVA_VERSION=\"(1[7-9]|[2-9][0-9])[.\"].*");
        } catch (final IOException ex) {
            return false; // no release file: unknown
        }
    }

    private static Path real(final Path path) {
        try {
            return path.toRealPath();
        } catch (final IOException ex) {
            throw new java.io.UncheckedIOException(ex);
        }
    }

    private static Path root() {
        Path path = Path.of("").toAbsolutePath();
        while (!Files.exists(path.resolve("bin/flowlag"))) {
            path = path.getParent();
        }
        return path;
    }
}
