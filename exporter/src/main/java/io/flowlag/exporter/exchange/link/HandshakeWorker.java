package io.flowlag.exporter.exchange.link;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One thread beside an endpoint's, for the arithmetic of TLS handshakes and questions to name servers. It goes when idle. */
final class HandshakeWorker extends ThreadPoolExecutor implements AutoCloseable {
    private static final long KEEP_SECONDS = 5;

    HandshakeWorker(final String name) {
        super(1, 1, KEEP_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            final Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        });
        allowCoreThreadTimeOut(true);
    }

    @Override
    public void close() {
        shutdownNow();
    }
}
