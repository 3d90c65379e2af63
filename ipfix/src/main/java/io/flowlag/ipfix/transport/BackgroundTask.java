package io.flowlag.ipfix.transport;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * Something that may take long (a question to a name server, the arithmetic of a handshake) on a thread of its own, while the
 * exporting thread goes on and looks in now and then. Used by one thread; allocates per task.
 *
 * @param <T> what comes out.
 */
final class BackgroundTask<T> {
    private final FutureTask<T> task;

    BackgroundTask(final String threadName, final Callable<T> work) {
        task = new FutureTask<>(work);
        final Thread thread = new Thread(task, threadName);
        thread.setDaemon(true);
        thread.start();
    }

    boolean isDone() {
        return task.isDone();
    }

    void cancel() {
        task.cancel(true);
    }

    /** What came out; only when {@link #isDone()}. */
    T result() throws ExecutionException {
        try {
            return task.get();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new ExecutionException(ex);
        }
    }
}
