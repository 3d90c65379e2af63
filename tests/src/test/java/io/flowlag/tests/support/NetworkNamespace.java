package io.flowlag.tests.support;

import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A network namespace of a test's own, deleted on close together with its interfaces. Its loopback interface is up; IPv6 is
 * switched off on all others unless asked for, so that nothing but the test's packets is on the wires.
 */
public final class NetworkNamespace implements AutoCloseable {
    private static final Path HANDLES = Path.of("/run/netns");
    private static final AtomicInteger CREATED = new AtomicInteger();
    private static volatile boolean isAvailable;

    private final String name;

    private NetworkNamespace(final String name) {
        this.name = name;
    }

    /** Ends the calling test, saying why, where namespaces cannot be made. */
    public static void assumeAvailable() {
        final boolean isLinux = System.getProperty("os.name").startsWith("Linux");
        Assumptions.assumeTrue(isLinux, "network namespaces exist on Linux only");
        Assumptions.assumeTrue(LinuxCalls.geteuid() == 0, "network namespaces need root");
        isAvailable = isAvailable || canMakeOne();
        if (!isAvailable) {
            throw Tools.missing("network namespaces cannot be made here (is iproute2 installed?)");
        }
    }

    private static boolean canMakeOne() {
        try (NetworkNamespace probe = create("probe")) {
            return probe.name != null;
        } catch (final IOException ex) {
            return false;
        }
    }

    /**
     * Makes a namespace without IPv6.
     *
     * @param purpose a word for its name.
     */
    public static NetworkNamespace create(final String purpose) throws IOException {
        return create(purpose, false);
    }

    /**
     * Makes a namespace.
     *
     * @param purpose  a word for its name.
     * @param withIpv6 whether interfaces are to have IPv6, with the packets that it sends of its own.
     */
    public static NetworkNamespace create(final String purpose, final boolean withIpv6) throws IOException {
        final String name = "flowlag-" + purpose + "-" + ProcessHandle.current().pid() + "-" + CREATED.incrementAndGet();
        run(List.of("ip", "netns", "add", name));
        final NetworkNamespace namespace = new NetworkNamespace(name);
        try {
            namespace.exec("sh", "-ec", (withIpv6 ? "" : "for f in all default; do " +
                "p=/proc/sys/net/ipv6/conf/$f/disable_ipv6; if [ -e $p ]; then echo 1 > $p; fi; done; ") + "ip link set lo up");
        } catch (final IOException ex) {
            namespace.close();
            throw ex;
        }
        return namespace;
    }

    /** The name, as {@code ip netns} knows it. */
    public String name() {
        return name;
    }

    /**
     * Lays a wire between an interface here and one elsewhere; both are up afterwards, offload is off.
     *
     * @param interfaceHere  name of this end.
     * @param other          where the other end is; may be this.
     * @param interfaceThere name of the other end.
     */
    public void connect(final String interfaceHere, final NetworkNamespace other, final String interfaceThere)
        throws IOException {
        // The end that comes up first has its carrier later, and drops what it sends until the kernel has taken note of that.
        run(List.of("sh", "-ec", "ip -n $0 link add $1 type veth peer name $3 netns $2; ip -n $2 link set $3 up; " +
            "ip -n $0 link set $1 up; n=0; " +
            "until ip -n $2 link show $3 | grep -q 'state UP'; do n=$((n + 1)); [ $n -lt 2000 ]; done",
            name, interfaceHere, other.name, interfaceThere));
    }

    /**
     * Gives an interface an address.
     *
     * @param interfaceName of the interface.
     * @param prefix        address and prefix length.
     */
    public void addAddress(final String interfaceName, final String prefix) throws IOException {
        if (prefix.indexOf(':') >= 0) {
            ip("address", "add", prefix, "dev", interfaceName, "nodad");
        } else {
            ip("address", "add", prefix, "dev", interfaceName);
        }
    }

    /**
     * Runs {@code ip} on this namespace.
     *
     * @param arguments of ip, without the namespace.
     * @return what it printed.
     */
    public String ip(final String... arguments) throws IOException {
        final List<String> command = new ArrayList<>(List.of("ip", "-n", name));
        command.addAll(Arrays.asList(arguments));
        return run(command);
    }

    /**
     * Runs a command in the namespace to its end, which must be a good one.
     *
     * @param command and its arguments.
     * @return what it printed.
     */
    public String exec(final String... command) throws IOException {
        return run(command(command));
    }

    /**
     * A process yet to be started in the namespace; who starts it ends it.
     *
     * @param command and its arguments.
     */
    public ProcessBuilder process(final String... command) {
        return new ProcessBuilder(command(command));
    }

    private List<String> command(final String... command) {
        final List<String> all = new ArrayList<>(List.of("ip", "netns", "exec", name));
        all.addAll(Arrays.asList(command));
        return all;
    }

    /**
     * Does something on a thread that is in the namespace: sockets that it opens belong there for ever.
     *
     * @param task to do.
     * @return what the task returned.
     */
    public <T> T call(final Callable<T> task) throws Exception {
        final CompletableFuture<T> result = new CompletableFuture<>();
        final Thread thread = new Thread(() -> {
            try {
                enter();
                result.complete(task.call());
            } catch (final Throwable ex) {
                result.completeExceptionally(ex);
            }
        }, name);
        thread.start();
        try {
            return result.get();
        } catch (final ExecutionException ex) {
            if (ex.getCause() instanceof Error) {
                throw (Error) ex.getCause();
            }
            throw (Exception) ex.getCause();
        }
    }

    /** The same by a thread that has no capability, as if an ordinary user had started the process. */
    public <T> T callWithoutCapabilities(final Callable<T> task) throws Exception {
        return callWith(task);
    }

    /** The same by a thread that has these capabilities alone, by their numbers. */
    public <T> T callWith(final Callable<T> task, final int... capabilities) throws Exception {
        return call(() -> {
            LinuxCalls.dropCapabilitiesBut(capabilities);
            return task.call();
        });
    }

    private void enter() throws IOException {
        final int fd = (int) LinuxCalls.check("open", LinuxCalls.open(HANDLES.resolve(name).toString(), 0));
        try {
            LinuxCalls.check("setns", LinuxCalls.setns(fd, LinuxCalls.CLONE_NEWNET));
        } finally {
            LinuxCalls.close(fd);
        }
    }

    @Override
    public void close() throws IOException {
        if (Files.exists(HANDLES.resolve(name))) {
            run(List.of("ip", "netns", "del", name));
        }
    }

    private static String run(final List<String> command) throws IOException {
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            final int code = process.waitFor();
            if (code != 0) {
                throw new IOException(String.join(" ", command) + " ended with " + code + ": " + output);
            }
        } catch (final InterruptedException ex) {
            process.destroy();
            Thread.currentThread().interrupt();
            throw new IOException(ex);
        }
        return output;
    }
}
