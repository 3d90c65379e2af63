package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.status.Heartbeat;
import org.slf4j.LoggerFactory;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Ends the process when nothing else does. An {@link Error} on any thread is logged, asks for an orderly end, and makes the exit
 * code 70; if the end has not come 4 s later, the process is halted. After a signal to stop it is halted from 8 s on, unless
 * every stage still works on the orderly end. It has a thread from the start, because an error may leave no memory for one. Any
 * thread may call it.
 */
public final class LastResort {
    /** For the orderly end after an error. */
    static final long ERROR_PATIENCE_NS = 4_000_000_000L;
    /** For the orderly end after a signal. */
    static final long STOP_PATIENCE_NS = 8_000_000_000L;
    /** A thread without a duty cycle for this long does not work on the end. */
    static final long QUIET_NS = 2_000_000_000L;
    private static final long CHECK_NS = 100_000_000L;
    private static final long LOG_MS = 300;
    private static final int MAX_LOGGED = 16;
    private static final LastResort PROCESS = new LastResort(Heartbeat.living());

    private final Collection<Heartbeat> heartbeats;
    private volatile Throwable failure;
    private volatile boolean isStopping;
    private volatile Runnable onFailure = () -> { };
    private volatile Thread thread;
    private final AtomicInteger logged = new AtomicInteger();
    private long failedNs;
    private long stoppedNs;
    private long workedNs;

    LastResort(final Collection<Heartbeat> heartbeats) {
        this.heartbeats = heartbeats;
    }

    /** Watches over this process from now on, and takes the uncaught exceptions of its threads. */
    public static void install() {
        Thread.setDefaultUncaughtExceptionHandler((failed, failure) -> PROCESS.onUncaught(failed.getName(), failure));
        final Thread watch = new Thread(PROCESS::watch, "last-resort");
        PROCESS.thread = watch;
        watch.setDaemon(true);
        watch.start();
    }

    /** Sets what asks for an orderly end after an error. */
    static void onFailure(final Runnable stop) {
        PROCESS.onFailure = stop;
    }

    /** A signal asks the process to stop. */
    static void onStop() {
        PROCESS.stop(System.nanoTime());
    }

    /** {@return the exit code of a process that would end with that code} */
    public static int exitCode(final int code) {
        return PROCESS.failure == null ? code : ExitCode.INTERNAL.number();
    }

    /** The first error counts; those that follow are only logged. */
    void onUncaught(final String name, final Throwable throwable) {
        if (throwable == failure) {
            return;
        }
        if (throwable instanceof Error) {
            fail(throwable, System.nanoTime());
        }
        if (logged.getAndIncrement() >= MAX_LOGGED) {
            return;
        }
        try {
            LoggerFactory.getLogger(LastResort.class).error("unexpected {} on thread {}{}", throwable.getClass().getSimpleName(),
                name, throwable instanceof Error ? "; the process ends" : "", throwable);
        } catch (final Error ex) {
            // No memory to log it: the exit code tells.
            fail(ex, System.nanoTime());
        }
    }

    synchronized void fail(final Throwable throwable, final long nowNs) {
        if (failure == null) {
            failedNs = nowNs;
            failure = throwable;
            LockSupport.unpark(thread);
            onFailure.run();
        }
    }

    synchronized void stop(final long nowNs) {
        if (!isStopping) {
            stoppedNs = nowNs;
            workedNs = nowNs;
            isStopping = true;
            LockSupport.unpark(thread);
        }
    }

    /** Why the process must be halted now; null for no reason. */
    synchronized String reason(final long nowNs) {
        if (failure != null && nowNs - failedNs >= ERROR_PATIENCE_NS) {
            return "no orderly end after an error";
        }
        if (!isStopping) {
            return null;
        }
        final List<String> quiet = heartbeats.stream().filter((each) -> !each.isHelper() && each.quietNs(nowNs) >= QUIET_NS)
            .map(Heartbeat::roleName).sorted().toList();
        if (quiet.isEmpty() && heartbeats.stream().anyMatch((each) -> !each.isHelper())) {
            workedNs = nowNs;
        }
        return nowNs - stoppedNs < STOP_PATIENCE_NS || nowNs - workedNs < QUIET_NS ? null :
            "no orderly end after a signal" + (quiet.isEmpty() ? "" : ", waiting for " + String.join(", ", quiet));
    }

    private void watch() {
        String reason = null;
        while (reason == null) {
            if (failure == null && !isStopping) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(CHECK_NS);
                reason = reason(System.nanoTime());
            }
        }
        halt(reason);
    }

    /** Logs on another thread, because the reader of the log may be what hangs. */
    private static void halt(final String reason) {
        try {
            final Thread log = new Thread(() -> {
                LoggerFactory.getLogger(LastResort.class).error("halted: {}", reason);
                WriteBehind.LINES.settle(LOG_MS * 1_000_000);
            }, "halt");
            log.setDaemon(true);
            log.start();
            log.join(LOG_MS);
        } catch (final InterruptedException | Error ex) {
            // the process ends in any case
        } finally {
            Runtime.getRuntime().halt(ExitCode.INTERNAL.number());
        }
    }
}
