package io.flowlag.tests.support;

import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** tcpdump on an interface in a namespace, with nanoseconds: a second witness of what passed. */
public final class PacketTap implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final Pattern COUNTS =
        Pattern.compile("(\\d+) packets? captured, (\\d+) packets? received by filter, \\d+ packets? dropped");

    private final Path file;
    private final Command.Running tcpdump;

    /**
     * Begins to capture.
     *
     * @param namespace     of the interface.
     * @param interfaceName of it.
     * @param direction     {@code in} or {@code out}.
     * @param filter        of packets.
     * @param file          to write.
     */
    public PacketTap(final NetworkNamespace namespace, final String interfaceName, final String direction,
        final String filter, final Path file) {
        this.file = file;
        tcpdump = Command.of("ip", "netns", "exec", namespace.name(), Tools.require("tcpdump", "tcpdump"), "-n",
            "-i", interfaceName, "-Q", direction, "-s", "256", "-B", "65536", "--time-stamp-precision=nano", "-Z", "root",
            "-w", file, filter).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> tcpdump.errors().contains("listening"), tcpdump::errors);
    }

    /**
     * Ends when all that the kernel has taken is written; fails if it dropped a packet.
     *
     * @return the capture.
     */
    public Path finish() {
        Deadline.await(TIMEOUT, this::hasWrittenAll, tcpdump::errors);
        return cut();
    }

    /** Ends while packets come: the newest may be missing. Returns the capture; fails if the kernel dropped a packet. */
    public Path cut() {
        tcpdump.signal("INT");
        final Command.Result ended = tcpdump.finish();
        if (!ended.errors().contains("\n0 packets dropped by kernel")) {
            throw new AssertionError(ended);
        }
        return file;
    }

    /** tcpdump leaves behind what it has not read when it ends, so it is asked before. */
    private boolean hasWrittenAll() {
        final int before = tcpdump.errors().length();
        tcpdump.signal("USR1");
        Deadline.await(TIMEOUT, () -> COUNTS.matcher(tcpdump.errors()).find(before), tcpdump::errors);
        final Matcher counts = COUNTS.matcher(tcpdump.errors());
        return counts.find(before) && counts.group(1).equals(counts.group(2));
    }

    @Override
    public void close() {
        tcpdump.close();
    }
}
