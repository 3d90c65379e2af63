package io.flowlag.exporter.status;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * One thread beside a stage, an endpoint or the conductor, for what may block: handshakes of TLS, names, files. It goes when
 * idle, and has a heartbeat while it works.
 */
public final class HelperThread extends ThreadPoolExecutor implements AutoCloseable {
    private static final long KEEP_SECONDS = 5;
    /** The system asks several name servers several times, for several names. */
    private static final long PATIENCE_NS = 600_000_000_000L;

    private final Heartbeat heartbeat;

    /** A worker without a thread yet. */
    public HelperThread(final String name) {
        this(name, PATIENCE_NS);
    }

    /** A worker that hangs if a task takes longer than this, ns. */
    public HelperThread(final String name, final long patienceNs) {
        super(1, 1, KEEP_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            final Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
        allowCoreThreadTimeOut(true);
        heartbeat = Heartbeat.of(name, patienceNs);
    }

    /** {@return whether its thread hangs; one thread may call it, at least once in that time} */
    public boolean isStalled(final long nowNs) {
        return Heartbeat.living().contains(heartbeat) && heartbeat.isStalled(nowNs);
    }

    @Override
    protected void beforeExecute(final Thread thread, final Runnable task) {
        heartbeat.onStart();
    }

    @Override
    protected void afterExecute(final Runnable task, final Throwable failure) {
        heartbeat.onClose();
    }

    @Override
    public void close() {
        shutdownNow();
    }
}
