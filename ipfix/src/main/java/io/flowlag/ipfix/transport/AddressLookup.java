package io.flowlag.ipfix.transport;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;

/**
 * Finds the address of an {@link Endpoint} anew for each connection, without blocking the caller. Used by one thread. Allocates
 * a task, with a thread for it, each time a name server is asked; an address needs none.
 */
final class AddressLookup {
    private final Endpoint endpoint;
    private BackgroundTask<InetSocketAddress> task;

    AddressLookup(final Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    /**
     * The address, once it is known.
     *
     * @return null while a name server is being asked; the next call after an answer or an error asks again.
     * @throws IOException if the host has no address.
     */
    InetSocketAddress poll() throws IOException {
        if (endpoint.isAddress()) {
            return endpoint.resolve();
        }
        if (task == null) {
            task = new BackgroundTask<>("resolve-" + endpoint.host(), endpoint::resolve);
        }
        return task.isDone() ? take() : null;
    }

    void cancel() {
        if (task != null) {
            task.cancel();
            task = null;
        }
    }

    private InetSocketAddress take() throws IOException {
        final BackgroundTask<InetSocketAddress> done = task;
        task = null;
        try {
            return done.result();
        } catch (final ExecutionException ex) {
            throw new IOException("unknown host " + endpoint.host(), ex.getCause());
        }
    }
}
