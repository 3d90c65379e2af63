package io.flowlag.exporter.runtime;

import java.io.Closeable;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for configurations that have to name one. They are below the kernel's ephemeral ports (Linux: from 32768), so that none
 * is assigned to another socket between the probe here and its use.
 */
public final class FreePorts {
    private static final int FIRST = 20_000;
    private static final int LAST = 32_000;

    /** Holds a port for a moment. */
    private interface Binding {
        Closeable bind(int port) throws IOException;
    }

    private FreePorts() {
    }

    public static int tcp() {
        return find(ServerSocket::new);
    }

    public static int udp() {
        return find(DatagramSocket::new);
    }

    private static int find(final Binding binding) {
        int port = drawn();
        while (!isFree(binding, port)) {
            port = drawn();
        }
        return port;
    }

    private static int drawn() {
        return ThreadLocalRandom.current().nextInt(FIRST, LAST);
    }

    private static boolean isFree(final Binding binding, final int port) {
        try {
            binding.bind(port).close();
            return true;
        } catch (final IOException ex) {
            return false;
        }
    }
}
