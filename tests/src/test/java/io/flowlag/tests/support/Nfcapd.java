package io.flowlag.tests.support;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** nfcapd on a free loopback UDP port, and nfdump to read what it stored. */
public final class Nfcapd implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int SOCKET_BUFFER_BYTES = 16 << 20;
    private static final Pattern TOTALS = Pattern.compile("Sequence Errors: (\\d+), Bad Packets: (\\d+)");
    private static final int IPV4_FAMILY = 2;

    private final Path directory;
    private final int port;
    private final Command.Running process;

    /**
     * Starts it and waits until it listens.
     *
     * @param directory takes its files; must be empty.
     */
    public Nfcapd(final Path directory) {
        this(directory, Ports.freeUdp());
    }

    /**
     * Starts it on a given port and waits until it listens.
     *
     * @param directory takes its files; must be empty.
     * @param port      UDP.
     */
    public Nfcapd(final Path directory, final int port) {
        this.directory = directory;
        this.port = port;
        process = Command.of(Tools.require("nfcapd", "nfdump"), "-p", port, "-b", "127.0.0.1", "-w", directory,
            "-t", 3600, "-B", SOCKET_BUFFER_BYTES).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> Ports.isUdpBound(port), () -> "nfcapd listens: " + process.errors());
    }

    /** {@return where it listens} */
    public int port() {
        return port;
    }

    /**
     * Waits until it has read everything, ends it and reads its files.
     *
     * @return the flows, and its counts of sequence errors and bad packets where they are not 0.
     */
    public Reception finish() {
        Deadline.await(TIMEOUT, () -> Ports.isUdpDrained(port), () -> "nfcapd reads its socket: " + process.errors());
        final long drops = Ports.udpSocket(port).drops();
        process.signal("TERM");
        final Command.Result ended = process.finish();
        final List<String> complaints = new ArrayList<>(complaints(ended.output() + ended.errors()));
        if (drops > 0) {
            complaints.add(drops + " datagrams dropped at nfcapd's socket");
        }
        return new Reception(stored(), complaints);
    }

    private static List<String> complaints(final String log) {
        return log.lines().filter(line -> {
            final Matcher totals = TOTALS.matcher(line);
            if (totals.find()) {
                return !"0".equals(totals.group(1)) || !"0".equals(totals.group(2));
            }
            return line.contains("rror") || line.contains("Skip") || line.contains("orrupt");
        }).toList();
    }

    private List<Flow> stored() {
        final Command.Result listing = Command.of(Tools.require("nfdump", "nfdump"), "-C", "none", "-R", directory,
            "-q", "-o", "pipe").environment("TZ", "UTC").run().orFail();
        return listing.output().lines().filter(line -> line.indexOf('|') > 0).map(line -> flow(line.split("\\|"))).toList();
    }

    private static Flow flow(final String[] column) {
        final boolean ipv4 = Integer.parseInt(column[0]) == IPV4_FAMILY;
        return new Flow(address(column, 4, ipv4), address(column, 9, ipv4), Integer.parseInt(column[3]),
            Integer.parseInt(column[8]), Integer.parseInt(column[13]),
            Long.parseLong(column[column.length - 2]), Long.parseLong(column[column.length - 1]),
            Long.parseLong(column[1]), Long.parseLong(column[2]));
    }

    /** Four words of 32 bits; only the last is used for IPv4. */
    private static String address(final String[] column, final int first, final boolean ipv4) {
        final IntStream words = Stream.of(column).skip(ipv4 ? first + 3 : first).limit(ipv4 ? 1 : 4)
            .mapToInt(Integer::parseUnsignedInt);
        final byte[] octets = new byte[ipv4 ? 4 : 16];
        final int[] values = words.toArray();
        for (int i = 0; i < octets.length; i++) {
            octets[i] = (byte) (values[i / 4] >>> 24 - 8 * (i % 4));
        }
        return Addresses.of(octets);
    }

    @Override
    public void close() {
        process.close();
    }
}
