package io.flowlag.exporter.status;

import org.agrona.ErrorHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Receives unexpected exceptions: counts each, logs the first of its kind, and lets the stages go on. A kind is the exception's
 * type and the place where it was thrown, so that a fault per packet cannot flood the log. Count and last time of each kind are
 * logged at the end. An {@link Error} is fatal: the handler of uncaught exceptions gets it, and the run has to end. Safe from any
 * thread.
 */
public final class StageErrors implements ErrorHandler {
    private static final Logger LOG = LoggerFactory.getLogger(StageErrors.class);
    private static final int MAX_KINDS = 64;

    /** Record of a kind; updated by the thread with the error. */
    private static final class Kind {
        private final long firstMs;
        private final AtomicLong count = new AtomicLong();
        private volatile long lastMs;

        private Kind(final long firstMs) {
            this.firstMs = firstMs;
        }
    }

    private final AtomicLong count = new AtomicLong();
    private final Map<String, Kind> kinds = new ConcurrentHashMap<>();
    private volatile boolean isFatal;

    @Override
    public void onError(final Throwable throwable) {
        if (throwable instanceof Error) {
            isFatal = true;
            Heartbeat.die(throwable);
        }
        final long nowMs = System.currentTimeMillis();
        final StackTraceElement[] trace = throwable.getStackTrace();
        final String name = throwable.getClass().getName() + (trace.length > 0 ? " at " + trace[0] : "");
        Kind kind = kinds.get(name);
        if (kind == null && kinds.size() < MAX_KINDS) {
            final Kind newKind = new Kind(nowMs);
            kind = kinds.putIfAbsent(name, newKind);
            if (kind == null) {
                kind = newKind;
                if (throwable instanceof Exception) {
                    LOG.error("unexpected {} on thread {}; the stage continues, further errors of this kind are only counted",
                        throwable.getClass().getSimpleName(), Thread.currentThread().getName(), throwable);
                }
            }
        }
        if (kind != null) {
            kind.lastMs = nowMs;
            kind.count.incrementAndGet();
        }
        count.incrementAndGet();
    }

    /** {@return whether an {@link Error} was among them} */
    public boolean isFatal() {
        return isFatal;
    }

    /** {@return number of exceptions} */
    public long count() {
        return count.get();
    }

    /** {@return each kind once; those beyond the first 64 kinds are only counted} */
    public List<DistinctError> distinct() {
        final List<DistinctError> distinct = new ArrayList<>();
        kinds.forEach((name, kind) ->
            distinct.add(new DistinctError(name, kind.count.get(), kind.firstMs, kind.lastMs)));
        distinct.sort((left, right) -> Long.compare(left.firstMs(), right.firstMs()));
        return distinct;
    }

    /** Logs each kind that occurred more than once, with its count. */
    public void tell() {
        for (final DistinctError each : distinct()) {
            if (each.count() > 1) {
                LOG.error("{} times, the last {} ms ago: {}",
                    each.count(), System.currentTimeMillis() - each.lastMs(), each.kind());
            }
        }
    }
}
