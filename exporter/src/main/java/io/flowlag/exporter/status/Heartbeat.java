package io.flowlag.exporter.status;

import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An agent that counts its duty cycles, so that other threads can check it. After an {@link Error} it does no more work. It is
 * also the error handler of its thread. From its start to its end it is one of the {@link #living}. The agent's thread runs it;
 * any thread may check it. Allocates at construction.
 */
public final class Heartbeat implements Agent, ErrorHandler {
    /** A thread without a duty cycle for this long hangs. */
    public static final long STUCK_NS = 10_000_000_000L;
    /** The same for a helper of the stages that waits for a disk, or calculates for long. */
    public static final long PATIENT_NS = 60_000_000_000L;
    /** Part of a thread that has a heartbeat of its own. */
    public static final long UNWATCHED = 0;

    private static final long LEAST_PAUSE_NS = 1_000_000L;
    private static final long MOST_PAUSE_NS = 8_000_000L;
    private static final Set<Heartbeat> LIVING = ConcurrentHashMap.newKeySet();

    private final Agent agent;
    private final long patienceNs;
    private final ErrorHandler errorHandler;
    private final Runnable onFailed;
    private final AtomicLong count = new AtomicLong();
    private volatile boolean isFailed;
    private long seenCount = -1;
    private long seenNs;

    /** A thread that is no agent. */
    private record Helper(String roleName) implements Agent {
        @Override
        public int doWork() {
            return 0;
        }
    }

    /**
     * Wraps another agent.
     *
     * @param patienceNs   time without a duty cycle after which it hangs; {@link #UNWATCHED} to leave it out of the living.
     * @param errorHandler receives what the agent throws.
     * @param onFailed     runs on the agent's thread after an {@link Error}, before the handler.
     */
    public Heartbeat(final Agent agent, final long patienceNs, final ErrorHandler errorHandler, final Runnable onFailed) {
        this.agent = agent;
        this.patienceNs = patienceNs;
        this.errorHandler = errorHandler;
        this.onFailed = onFailed;
    }

    /** The heartbeat of a thread that is no agent: it calls {@link #onStart}, {@link #beat} and {@link #onClose}. */
    public static Heartbeat of(final String name, final long patienceNs) {
        return new Heartbeat(new Helper(name), patienceNs, Heartbeat::die, () -> { });
    }

    /** {@return a view of the heartbeats of this process's threads} */
    public static Collection<Heartbeat> living() {
        return Collections.unmodifiableSet(LIVING);
    }

    /** Treats an error of the current thread as if the thread had died of it. */
    public static void die(final Throwable throwable) {
        final Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, throwable);
    }

    /** How a helper of the stages waits: for a millisecond after it had work, later for 8. */
    public static IdleStrategy pauses() {
        return new BackoffIdleStrategy(0, 0, LEAST_PAUSE_NS, MOST_PAUSE_NS);
    }

    /** Counts a duty cycle. */
    public void beat() {
        count.lazySet(count.getPlain() + 1);
    }

    /** {@return whether an {@link Error} ended the work} */
    public boolean isFailed() {
        return isFailed;
    }

    /** {@return the time in ns since a caller of this method first saw the newest duty cycle} */
    public synchronized long quietNs(final long nowNs) {
        final long now = count.get();
        if (now != seenCount) {
            seenCount = now;
            seenNs = nowNs;
        }
        return nowNs - seenNs;
    }

    /** {@return whether the thread hangs} */
    public boolean isStalled(final long nowNs) {
        return quietNs(nowNs) >= patienceNs;
    }

    /** {@return whether it may wait longer than the stages} */
    public boolean isHelper() {
        return patienceNs > STUCK_NS;
    }

    @Override
    public void onStart() {
        beat();
        if (patienceNs != UNWATCHED) {
            LIVING.add(this);
        }
        agent.onStart();
    }

    @Override
    public int doWork() throws Exception {
        beat();
        if (isFailed) {
            return 0;
        }
        try {
            return agent.doWork();
        } catch (final Error ex) {
            onError(ex);
            return 0;
        }
    }

    @Override
    public void onError(final Throwable throwable) {
        if (throwable instanceof Error) {
            isFailed = true;
            onFailed.run();
        }
        errorHandler.onError(throwable);
    }

    @Override
    public void onClose() {
        LIVING.remove(this);
        agent.onClose();
    }

    @Override
    public String roleName() {
        return agent.roleName();
    }
}
