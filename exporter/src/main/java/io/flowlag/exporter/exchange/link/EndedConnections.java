package io.flowlag.exporter.exchange.link;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Connections that have ended and still send their last octets. Bounded: above the limit the oldest is closed at once. One
 * thread; allocates per connection.
 */
final class EndedConnections {
    private static final int MOST = 64;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final List<ExchangeConnection> connections = new ArrayList<>();

    void add(final ExchangeConnection connection, final long nowNs) {
        if (!connection.linger(nowNs)) {
            if (connections.size() >= MOST) {
                connections.remove(0).close();
            }
            connections.add(connection);
        }
    }

    /** Works all of them. Returns how many have closed. */
    int poll(final long nowNs) {
        final int before = connections.size();
        if (before > 0) {
            connections.removeIf((each) -> each.linger(nowNs));
        }
        return before - connections.size();
    }

    /** Waits at most that long for the other ends, then closes the rest. For the end of the process. */
    void close(final long nowNs, final long mostNs) {
        final long startNs = System.nanoTime();
        while (!connections.isEmpty() && System.nanoTime() - startNs < mostNs) {
            if (poll(nowNs) == 0) {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
        connections.forEach(ExchangeConnection::close);
        connections.clear();
    }
}
