package io.flowlag.ipfix.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;

/**
 * Finds the addresses of an {@link Endpoint} without blocking the caller. It returns one after the other until {@link #settle},
 * then resolves again. Used by one thread. Allocates a task with a thread for each query to a name server; an address needs none.
 * A query under way outlasts an attempt, so that a name server that hangs holds one thread.
 */
final class AddressLookup {
    private final Endpoint endpoint;
    private final Callable<List<InetSocketAddress>> resolver;
    private BackgroundTask<List<InetSocketAddress>> task;
    private List<InetSocketAddress> addresses = List.of();
    private int next;

    AddressLookup(final Endpoint endpoint) {
        this(endpoint, endpoint::resolve);
    }

    AddressLookup(final Endpoint endpoint, final Callable<List<InetSocketAddress>> resolver) {
        this.endpoint = endpoint;
        this.resolver = resolver;
    }

    /**
     * The next address, once it is known.
     *
     * @return null while a name server is being asked; the next call after the last address or an error asks again.
     * @throws IOException if the host has no address.
     */
    InetSocketAddress poll() throws IOException {
        if (!hasNext()) {
            if (task == null && !endpoint.isAddress()) {
                task = new BackgroundTask<>("resolve-" + endpoint.host(), resolver);
            }
            if (task != null && !task.isDone()) {
                return null;
            }
            addresses = task == null ? endpoint.resolve() : take();
            next = 0;
        }
        return addresses.get(next++);
    }

    /** Whether the answer has untried addresses. */
    boolean hasNext() {
        return next < addresses.size();
    }

    /** Accepts the last address; the others are not needed. */
    void settle() {
        next = addresses.size();
    }

    void cancel() {
        if (task != null) {
            task.cancel();
            task = null;
        }
    }

    private List<InetSocketAddress> take() throws IOException {
        final BackgroundTask<List<InetSocketAddress>> done = task;
        task = null;
        try {
            return done.result();
        } catch (final ExecutionException ex) {
            throw new IOException("unknown host " + endpoint.host(), ex.getCause());
        }
    }
}
