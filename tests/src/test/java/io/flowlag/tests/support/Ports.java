package io.flowlag.tests.support;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/** Loopback ports, and what the kernel says of the sockets bound to them. */
public final class Ports {
    /** What the kernel says of a bound UDP socket. */
    public record UdpSocket(long waitingBytes, long drops) {
    }

    /** Holds a port for a moment. */
    private interface Binding {
        Closeable bind(int port) throws IOException;
    }

    private static final int FIRST_PORT = 20_000;
    /** Linux assigns ephemeral ports from 32768 on. */
    private static final int LAST_PORT = 32_000;
    private static final int MOST_FORKS = 4;

    private Ports() {
    }

    /** {@return a free UDP port that the kernel does not assign as an ephemeral port} */
    public static int freeUdp() {
        return free(port -> new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
    }

    /** {@return a free TCP port that the kernel does not assign as an ephemeral port} */
    public static int freeTcp() {
        return free(port -> new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
    }

    private static int free(final Binding binding) {
        int port = drawn();
        while (!isFree(binding, port)) {
            port = drawn();
        }
        return port;
    }

    /** From a part of the range for each JVM that runs tests at the same time. */
    private static int drawn() {
        final int part = (LAST_PORT - FIRST_PORT) / MOST_FORKS;
        final int fork = Integer.getInteger("flowlag.fork", 1) - 1;
        return FIRST_PORT + fork % MOST_FORKS * part + ThreadLocalRandom.current().nextInt(part);
    }

    private static boolean isFree(final Binding binding, final int port) {
        try {
            binding.bind(port).close();
            return true;
        } catch (final IOException ex) {
            return false;
        }
    }

    /**
     * The socket bound to a UDP port (proc(5), net/udp).
     *
     * @param port to look for.
     * @return what is known of it, or null if none is bound.
     */
    public static UdpSocket udpSocket(final int port) {
        final String local = String.format(Locale.ROOT, ":%04X", port);
        for (final String file : List.of("/proc/net/udp", "/proc/net/udp6")) {
            for (final String line : lines(Path.of(file))) {
                final String[] column = line.trim().split("\\s+");
                if (column.length >= 13 && column[1].endsWith(local)) {
                    return new UdpSocket(Long.parseLong(column[4].substring(column[4].indexOf(':') + 1), 16),
                        Long.parseLong(column[12]));
                }
            }
        }
        return null;
    }

    /** {@return whether a UDP socket is bound to a port} */
    public static boolean isUdpBound(final int port) {
        return udpSocket(port) != null;
    }

    /** {@return whether the socket bound to a port has nothing left to be read} */
    public static boolean isUdpDrained(final int port) {
        final UdpSocket socket = udpSocket(port);
        return socket != null && socket.waitingBytes() == 0;
    }

    private static List<String> lines(final Path file) {
        try {
            return Files.readAllLines(file);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
