package io.flowlag.exporter.runtime;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Closes ends of the exchange. Each waits for the other to take its last octets and to close, so both have to act at once. */
final class ClosingEnds {
    private ClosingEnds() {
    }

    /** Closes all of them at the same time. */
    static void close(final List<? extends AutoCloseable> ends) {
        final List<CompletableFuture<Void>> closings = ends.stream().map(ClosingEnds::begin).toList();
        closings.forEach(CompletableFuture::join);
    }

    /** Closes one end while the others work. */
    static void close(final AutoCloseable end, final Runnable work) {
        final CompletableFuture<Void> closing = begin(end);
        while (!closing.isDone()) {
            work.run();
        }
        closing.join();
    }

    private static CompletableFuture<Void> begin(final AutoCloseable end) {
        return CompletableFuture.runAsync(() -> {
            try {
                end.close();
            } catch (final Exception ex) {
                throw new IllegalStateException(ex);
            }
        });
    }
}
