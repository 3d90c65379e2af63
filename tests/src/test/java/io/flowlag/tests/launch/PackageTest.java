package io.flowlag.tests.launch;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Links;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The Debian package, unpacked into a root that has a shell and the C library and nothing else: it works there, with the runtime
 * that it brings. With {@code -Dflowlag.package.root=FOLDER} into a root that is there, such as one of debootstrap, by dpkg.
 */
@Tag("slow")
class PackageTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(8);
    private static final String WHOLE_ROOT = System.getProperty("flowlag.package.root");
    private static final List<String> SHELL = List.of(
        "/bin/sh", "/bin/sleep", "/bin/rm", "/bin/chmod", "/bin/mv", "/usr/bin/id", "/usr/bin/mktemp", "/usr/bin/unshare");

    @TempDir
    private static Path directory;
    private static Path root;
    private static Path debianPackage;

    @BeforeAll
    static void build() throws IOException {
        Tools.require("dpkg-deb", "dpkg");
        Tools.require("ldd", "libc-bin");
        final Path java = Path.of(System.getProperty("java.home"));
        if (!Files.isDirectory(java.resolve("jmods"))) {
            throw Tools.missing(java + " has no jmods, so no runtime can be made of it");
        }
        Assumptions.assumeTrue("0".equals(Command.of("id", "-u").run().orFail().output().strip()), "chroot needs root");
        debianPackage = Path.of(command("bash", Checkout.root().resolve("bin/package"), "--output", directory,
            "--compress", "none", "--jlink", java).environment("FLOWLAG_BUILD", "never")
            .environment("SOURCE_DATE_EPOCH", "1767225600").run().orFail().output().strip());
        root = WHOLE_ROOT == null ? smallRoot() : Path.of(WHOLE_ROOT);
        if (WHOLE_ROOT == null) {
            command("dpkg-deb", "--extract", debianPackage, root).run().orFail();
        } else {
            Files.copy(debianPackage, root.resolve("tmp/flowlag.deb"), StandardCopyOption.REPLACE_EXISTING);
            command("chroot", root, "dpkg", "-i", "/tmp/flowlag.deb").run().orFail();
        }
    }

    @AfterAll
    static void unmount() {
        if (root != null && Files.exists(root.resolve("proc/self"))) {
            command("umount", root.resolve("proc")).run().orFail();
            command("umount", root).run().orFail();
        }
    }

    /** As the root of a container: a file system of its own, which the checkpoint asks for its free space, and /proc. */
    private static void mount() {
        command("mount", "--bind", root, root).run().orFail();
        final Command.Result proc = command("mount", "-t", "proc", "proc", root.resolve("proc")).run();
        if (proc.exitCode() != 0) {
            command("umount", root).run().orFail();
            throw new AssertionError(proc);
        }
    }

    private static Command command(final Object... arguments) {
        return Command.of(arguments).timeout(TIMEOUT);
    }

    /** A shell, and the libraries that it and the runtime load, from this system. */
    private static Path smallRoot() throws IOException {
        final Path small = Files.createDirectories(directory.resolve("root"));
        for (final String folder : List.of("proc", "tmp", "dev", "var/lib", "run")) {
            Files.createDirectories(small.resolve(folder));
        }
        for (final String device : List.of("urandom 1 9", "random 1 8", "null 1 3")) {
            command("sh", "-c", "mknod -m 666 " + small + "/dev/" + device.replaceFirst(" ", " c ")).run().orFail();
        }
        final TreeSet<String> files = new TreeSet<>(SHELL);
        final Path java = Path.of(System.getProperty("java.home"));
        final List<Object> line = new ArrayList<>(List.of("ldd"));
        line.addAll(SHELL);
        line.addAll(List.of(java.resolve("bin/java"), java.resolve("lib/server/libjvm.so"), java.resolve("lib/libzip.so")));
        for (final String word : command(line.toArray()).run().orFail().output().split("\\s+")) {
            if (word.startsWith("/") && !word.endsWith(":") && !word.startsWith(java.toString())) {
                files.add(word);
            }
        }
        for (final String file : files) {
            final Path target = small.resolve(file.substring(1));
            Files.createDirectories(target.getParent());
            Files.copy(Path.of(file).toRealPath(), target);
        }
        return small;
    }

    private static Command inRoot(final Object... arguments) {
        final List<Object> line = new ArrayList<>(List.of(
            "chroot", root, "/bin/sh", "-c", "PATH=/usr/bin:/bin; export PATH; cd / && exec \"$@\"", "sh"));
        line.addAll(List.of(arguments));
        return command(line.toArray()).environment("JAVA_HOME", "/nowhere");
    }

    @Test
    void shouldWorkWhereThereIsNoJava() throws IOException {
        mount();
        assertFalse(WHOLE_ROOT == null && Files.exists(root.resolve("usr/lib/jvm")));
        final String version = inRoot("/usr/bin/flowlag", "--version").run().orFail().output();
        assertTrue(version.startsWith("flowlag "), version);
        makeClassArchive();
        inRoot("/usr/bin/flowlag", "--version").environment("FLOWLAG_JAVA_OPTS", "-Xlog:class+load:file=/tmp/loads")
            .run().orFail();
        final String loads = read(root.resolve("tmp/loads"));
        final String stored = "io.flowlag.exporter.command.Main source: shared objects file";
        assertTrue(loads.lines().anyMatch((line) -> line.contains(stored)), "the class of the program is not from the archive");

        inRoot("/usr/bin/flowlag", "key", "/etc/flowlag/flowlag.key").run().orFail();
        final Path examples = root.resolve("usr/share/doc/flowlag/examples");
        try (Stream<Path> files = Files.list(examples)) {
            for (final Path example : files.toList()) {
                final String path = "/usr/share/doc/flowlag/examples/" + example.getFileName();
                final Command.Result checked = inRoot("/usr/bin/flowlag", "check-config", path).run();
                assertEquals(0, checked.exitCode(), checked::toString);
            }
        }
        inRoot("/usr/bin/flowlag", "check-config", "/etc/flowlag/flowlag.yaml").run().orFail();
        final String demo = inRoot("/usr/bin/flowlag", "demo").run().orFail().output();
        assertTrue(demo.contains("records collected"), demo);
        runWithACheckpoint();
    }

    /** Wherever temporary files are: another user could exchange one there, and root maps it. */
    private static void makeClassArchive() throws IOException {
        inRoot("/usr/lib/flowlag/class-archive").environment("TMPDIR", "/nowhere").run().orFail();
        final Path archive = root.resolve("usr/lib/flowlag/flowlag.jsa");
        assertEquals("rw-r--r--", PosixFilePermissions.toString(Files.getPosixFilePermissions(archive)));
        assertEquals("root", Files.getOwner(archive).getName());
        try (Stream<Path> files = Files.list(archive.getParent())) {
            assertEquals(List.of(), files.filter((file) -> file.getFileName().toString().startsWith(".")).toList());
        }
    }

    /**
     * What needs the compiler of the runtime, live packets, and native code from the jar. As in an upgrade, which gives new files
     * the names of old ones, the process goes on and ends in order with the files that it has open: the new ones are of no use.
     */
    private static void runWithACheckpoint() throws IOException {
        final String script = "/usr/bin/flowlag run -i lo --export file:/tmp/live.ipfix " +
            "--set checkpoint.file=/tmp/live.checkpoint --set status.file=/tmp/live.status 2>/tmp/live.log & p=$!; n=0; " +
            "until /usr/bin/flowlag top --once --file /tmp/live.status >/tmp/top.txt 2>&1; do n=$((n + 1)); " +
            "if [ $n -gt 300 ] || ! kill -0 $p; then break; fi; sleep 0.2; done; cd /usr/lib/flowlag; " +
            "for f in flowlag.jar runtime/lib/*.* runtime/lib/modules runtime/lib/*/*.* runtime/conf/*/*.*; do " +
            "mv $f $f.old; echo new >$f.new; mv $f.new $f; done; kill -HUP $p; told=; n=0; " +
            "until [ -n \"$told\" ] || [ $n -gt 300 ]; do n=$((n + 1)); sleep 0.2; " +
            "while read -r line; do case $line in *' reloaded: '*) told=yes ;; esac; done </tmp/live.log; done; " +
            "kill -TERM $p; wait $p; echo ended $?; " +
            "for f in *.old runtime/*/*.old runtime/*/*/*.old; do mv $f ${f%.old}; done";
        final Command.Result ran = inRoot("/bin/sh", "-c", script).run();
        assertTrue(ran.output().contains("ended 0"), () -> ran + read(root.resolve("tmp/live.log")) +
            read(root.resolve("tmp/top.txt")));
        assertTrue(read(root.resolve("tmp/top.txt")).contains("threads"), () -> read(root.resolve("tmp/top.txt")));
        assertTrue(read(root.resolve("tmp/live.log")).contains(" reloaded: "), () -> read(root.resolve("tmp/live.log")));
    }

    /** A process whose files are new is started again; none is that did not run. */
    @Test
    void shouldRestartTheServiceAfterAnUpgrade() throws IOException {
        final Path scripts = directory.resolve("scripts");
        command("dpkg-deb", "--control", debianPackage, scripts).run().orFail();
        for (final String tool : List.of("systemctl", "getent", "chown", "chmod", "rm")) {
            final Path stub = Files.writeString(
                scripts.resolve(tool), "#!/bin/sh\necho ${0##*/} \"$@\" >>" + scripts + "/log\n");
            Files.setPosixFilePermissions(stub, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        final String reload = "daemon-reload";
        assertEquals(List.of(reload), services(scripts, "postinst", "configure", ""));
        assertEquals(List.of(reload, "try-restart flowlag.service"), services(scripts, "postinst", "configure", "0.0.1"));
        assertEquals(List.of(), services(scripts, "prerm", "upgrade", "9.9.9"));
        assertEquals(List.of("--no-reload disable --now flowlag.service"), services(scripts, "prerm", "remove", ""));
    }

    /** What a script asks of systemd, with other paths than those of this system. */
    private static List<String> services(final Path scripts, final String script, final String... arguments) throws IOException {
        Files.deleteIfExists(scripts.resolve("log"));
        final String text = Files.readString(scripts.resolve(script)).replace("/run/systemd/system", scripts.toString())
            .replace("/usr/lib/flowlag/", "/nowhere/").replace("/etc/flowlag", "/nowhere");
        final List<Object> line = new ArrayList<>(List.of("sh", "-c", text, script));
        line.addAll(List.of(arguments));
        command(line.toArray()).environment("PATH", scripts + ":" + System.getenv("PATH")).run().orFail();
        return read(scripts.resolve("log")).lines().filter((each) -> each.startsWith("systemctl "))
            .map((each) -> each.substring("systemctl ".length())).toList();
    }

    private static String read(final Path file) {
        try {
            return Files.readString(file);
        } catch (final IOException ex) {
            return ex.toString();
        }
    }

    @Test
    void shouldHaveEveryPageAndWhatItLinksTo() throws IOException {
        final Path documents = root.resolve("usr/share/doc/flowlag");
        assertEquals(pages(Checkout.root().resolve("docs")), pages(documents.resolve("docs")));
        final List<Path> all = pages(documents).stream().map(documents::resolve).toList();
        assertEquals(List.of(), Links.broken(documents, all));
    }

    private static List<Path> pages(final Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter((file) -> file.toString().endsWith(".md")).map(folder::relativize).sorted().toList();
        }
    }

    @Test
    void shouldHaveWhatADebianPackageHas() throws IOException {
        final String contents = command("dpkg-deb", "--contents", debianPackage).run().orFail().output();
        for (final String path : List.of("./usr/bin/flowlag", "./usr/lib/flowlag/flowlag.jar", "./etc/flowlag/flowlag.yaml",
            "./usr/lib/systemd/system/flowlag.service", "./usr/share/man/man1/flowlag.1.gz",
            "./usr/share/man/man1/flowlag-run.1.gz", "./usr/share/doc/flowlag/copyright",
            "./usr/share/man/man5/flowlag.yaml.5.gz", "./usr/share/bash-completion/completions/flowlag",
            "./usr/share/doc/flowlag/docs/install.md", "./usr/share/doc/flowlag/changelog.gz",
            "./usr/share/doc/flowlag/flowlag.cdx.json")) {
            assertTrue(contents.contains(" " + path + "\n"), path);
        }
        assertTrue(contents.lines().allMatch((line) -> line.contains(" root/root ")), contents);
        assertTrue(contents.lines().allMatch((line) -> line.contains(" 2026-01-01 00:00 ")), contents);
        assertEquals("/etc/flowlag/flowlag.yaml\n",
            command("dpkg-deb", "--info", debianPackage, "conffiles").run().orFail().output());
        final Path service = Checkout.root().resolve("exporter/packaging/flowlag.service");
        final String unit = Files.readString(service);
        for (final String line : List.of("User=flowlag", "AmbientCapabilities=CAP_NET_RAW", "CapabilityBoundingSet=CAP_NET_RAW",
            "NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateDevices=yes", "RestrictNamespaces=yes",
            "Type=notify", "WatchdogSec=30", "NotifyAccess=main", "LimitCORE=0", "OOMPolicy=stop")) {
            assertTrue(unit.lines().anyMatch(line::equals), line);
        }
        if (Tools.find("systemd-analyze").isPresent()) {
            // The program is not installed here, so the unit gets its path.
            final Path here = Files.writeString(directory.resolve("flowlag.service"),
                unit.replace("=/usr/bin/flowlag", "=" + root + "/usr/bin/flowlag"));
            final Command.Result verified = command("systemd-analyze", "verify", "--man=no", here).run();
            assertTrue(verified.errors().lines().noneMatch((line) -> line.contains("flowlag.service")), verified::toString);
            final String exposure = command("systemd-analyze", "security", "--offline=true", "--threshold=17", here).run()
                .orFail().output();
            assertTrue(exposure.contains("Overall exposure level"), exposure);
        }
        if (Tools.find("man").isPresent()) {
            final Command.Result page = command("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
                root.resolve("usr/share/man/man1/flowlag.1.gz")).run().orFail();
            assertEquals("", page.errors());
        }
    }
}
