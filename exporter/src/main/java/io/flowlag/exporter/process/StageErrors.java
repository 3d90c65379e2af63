package io.flowlag.exporter.process;

import org.agrona.ErrorHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes the exceptions that nobody foresaw: counts each, logs the first of its kind, and lets the stages go on. A kind is the
 * exception's type with the place where it was thrown, so that a fault per packet cannot flood the log. Safe from any thread.
 */
final class StageErrors implements ErrorHandler {
    private static final Logger LOG = LoggerFactory.getLogger(StageErrors.class);
    private static final int MAX_KINDS = 256;

    private final AtomicLong count = new AtomicLong();
    private final Set<String> kinds = ConcurrentHashMap.newKeySet();

    @Override
    public void onError(final Throwable throwable) {
        count.incrementAndGet();
        final StackTraceElement[] trace = throwable.getStackTrace();
        final String kind = throwable.getClass().getName() + (trace.length > 0 ? trace[0] : "");
        if (kinds.size() < MAX_KINDS && kinds.add(kind)) {
            LOG.error("unexpected {} on thread {}; the stage goes on, further ones of this kind are only counted",
                throwable.getClass().getSimpleName(), Thread.currentThread().getName(), throwable);
        }
    }

    /** {@return how many exceptions there were} */
    long count() {
        return count.get();
    }
}
