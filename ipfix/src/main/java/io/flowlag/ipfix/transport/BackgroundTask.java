package io.flowlag.ipfix.transport;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A task that may take long (a name server query, the computations of a handshake), on its own thread; the exporting thread polls
 * it. Used by one thread; allocates per task.
 *
 * @param <T> the result.
 */
final class BackgroundTask<T> {
    private final FutureTask<T> task;

    BackgroundTask(final String threadName, final Callable<T> work) {
        task = new FutureTask<>(work) {
            @Override
            protected void setException(final Throwable failure) {
                super.setException(failure);
                if (failure instanceof Error) { // fatal to the process and not to this task alone
                    final Thread current = Thread.currentThread();
                    current.getUncaughtExceptionHandler().uncaughtException(current, failure);
                }
            }
        };
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

    /** The result; only when {@link #isDone()}. */
    T result() throws ExecutionException {
        try {
            return task.get();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new ExecutionException(ex);
        }
    }
}
