package io.flowlag.tests.system;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The capabilities that docs/live-capture.md lists: what each permits, and the messages without it. */
@Timeout(120)
class PrivilegesTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int NOBODY = 65_534;
    private static final int NO_PERMISSION = 77;
    private static final String FIRST_FREE_PORT = "/proc/sys/net/ipv4/ip_unprivileged_port_start";
    private static final String USUAL_FIRST_FREE_PORT = "1024";

    @TempDir
    private Path directory;
    private Path jar;
    private final List<String> around = new ArrayList<>();

    @BeforeEach
    void copyJar() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can become nobody");
        if (!Files.isRegularFile(Checkout.jar())) {
            throw Tools.missing(Checkout.jar() + " is not built");
        }
        jar = Files.copy(Checkout.jar(), directory.resolve("flowlag.jar"));
        Command.of("chmod", "a+rwx", directory, jar).run().orFail();
    }

    private Command run(final String capability, final Object... arguments) {
        final Object[] line = new Object[arguments.length + 5];
        line[0] = "run";
        line[1] = "-i";
        line[2] = "lo";
        line[3] = "--export";
        line[4] = "file:" + directory.resolve("out.ipfix");
        System.arraycopy(arguments, 0, line, 5, arguments.length);
        final String set = capability.isEmpty() ? "-all" : "-all,+" + capability;
        final Flowlag product = Flowlag.with("run").jar(jar);
        final List<String> under = new ArrayList<>(around);
        under.addAll(List.of(Tools.require("setpriv", "util-linux").toString(), "--reuid=" + NOBODY, "--regid=" + NOBODY,
            "--clear-groups", "--inh-caps=" + set, "--bounding-set=" + set));
        if (!capability.isEmpty()) {
            under.add("--ambient-caps=" + set);
        }
        return product.under(under.toArray(String[]::new)).command(line).timeout(TIMEOUT);
    }

    private static void assertRefused(final Command.Result result, final String named) {
        assertEquals(NO_PERMISSION, result.exitCode(), result::toString);
        assertEquals(1, result.errorLines().size(), result::toString);
        assertTrue(result.errorLines().get(0).contains(named), result::toString);
    }

    @Test
    void shouldCaptureWithCapNetRawAlone() {
        try (Command.Running running = run("net_raw").start()) {
            Deadline.await(TIMEOUT, () -> running.errors().contains("metering lo"), running::errors);
            running.signal("TERM");
            assertEquals(0, running.finish().exitCode(), running::errors);
        }
    }

    @Test
    void shouldNameTheCapabilityThatCapturingNeeds() {
        assertRefused(run("", "-q").run(), "CAP_NET_RAW");
    }

    /** In a namespace of its own: containers often have low ports free to everybody, each namespace has its own say in that. */
    @Test
    void shouldNameTheCapabilityThatLowPortsNeed() throws IOException {
        NetworkNamespace.assumeAvailable();
        try (NetworkNamespace namespace = NetworkNamespace.create("ports")) {
            if (!USUAL_FIRST_FREE_PORT.equals(namespace.exec("cat", FIRST_FREE_PORT).strip())) {
                namespace.exec("sh", "-c", "echo " + USUAL_FIRST_FREE_PORT + " >" + FIRST_FREE_PORT);
            }
            around.addAll(List.of("ip", "netns", "exec", namespace.name()));
            assertRefused(run("net_raw", "-q", "--set", "metrics.listen=81").run(), "CAP_NET_BIND_SERVICE");
        }
    }
}
