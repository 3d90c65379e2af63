package io.flowlag.exporter.terminal;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the system asks of the process: SIGTERM and SIGINT to stop, SIGHUP to reload, SIGUSR1 to log the counters. Signals only
 * set
 * flags, which the process polls; since the JVM's own handlers are replaced, the process ends in its own way and with its own
 * exit
 * code after everything is flushed. A second SIGINT does not wait. Any thread may call it.
 */
public final class Signals {
    /** What a command makes of SIGHUP. */
    public enum HangUp {
        /** The process reads its configuration again. */
        RELOADS,
        /** The command stops, as on SIGTERM. */
        STOPS
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(Signals.class);

    private static Signals held;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Runnable impatience;
    private volatile boolean isStopRequested;
    private boolean isReloadRequested;
    private boolean isCountersRequested;

    /**
     * Flags without handlers, raised by methods alone.
     *
     * @param impatience run when a second SIGINT arrives.
     */
    public Signals(final Runnable impatience) {
        this.impatience = impatience;
    }

    /**
     * Keeps SIGHUP and SIGUSR1 for {@link #install}, where a process that goes on for long has only begun to start: they would
     * end it. SIGTERM and SIGINT do so in order, as there is nothing to flush yet.
     */
    public static void hold() {
        held = new Signals(Signals::giveUp);
        final Runnable end = () -> Runtime.getRuntime().halt(ExitCode.DONE.number());
        handle("TERM", end);
        handle("INT", end);
        handle("HUP", held::requestReload);
        handle("USR1", held::requestCounters);
    }

    private static void giveUp() {
        Runtime.getRuntime().halt(130);
    }

    /**
     * Takes the signals over from the JVM. A signal that the JVM or the system keeps (started with -Xrs, or ignored as under
     * nohup) stays as it is. Returns the flags, with what was asked since {@link #hold}, if a process reloads.
     */
    public static Signals install(final HangUp hangUp) {
        final Signals signals = held != null && hangUp == HangUp.RELOADS ? held : new Signals(Signals::giveUp);
        handle("TERM", signals::requestStop);
        handle("INT", signals::onInterrupt);
        handle("HUP", hangUp == HangUp.RELOADS ? signals::requestReload : signals::requestStop);
        handle("USR1", signals::requestCounters);
        return signals;
    }

    /** {@return whether the process shall flush and end; stays so} */
    public boolean isStopRequested() {
        return isStopRequested;
    }

    /** Asks the process to flush and end. */
    public void requestStop() {
        lock.lock();
        try {
            isStopRequested = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Asks the process to read its configuration again. */
    public void requestReload() {
        lock.lock();
        try {
            isReloadRequested = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Asks the process to log its counters. */
    public void requestCounters() {
        lock.lock();
        try {
            isCountersRequested = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether a reload was asked for since the last call} */
    public boolean takeReloadRequest() {
        lock.lock();
        try {
            final boolean wasRequested = isReloadRequested;
            isReloadRequested = false;
            return wasRequested;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the counters were asked for since the last call} */
    public boolean takeCountersRequest() {
        lock.lock();
        try {
            final boolean wasRequested = isCountersRequested;
            isCountersRequested = false;
            return wasRequested;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until something is asked, or the time is over; for the command's main thread.
     *
     * @param timeoutNs at most.
     * @return whether something is asked.
     */
    public boolean await(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        lock.lock();
        try {
            long restNs = timeoutNs;
            while (!isAnythingRequested() && restNs > 0) {
                changed.awaitNanos(restNs);
                restNs = deadlineNs - System.nanoTime();
            }
            return isAnythingRequested();
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** What SIGINT does: the first asks to stop, the second is impatient. */
    void onInterrupt() {
        if (isStopRequested) {
            impatience.run();
        }
        requestStop();
    }

    private boolean isAnythingRequested() {
        return isStopRequested || isReloadRequested || isCountersRequested;
    }

    /** By reflection, because the compiler warns of sun.misc.Signal in a way that cannot be switched off. */
    private static void handle(final String name, final Runnable action) {
        try {
            final Class<?> signalClass = Class.forName("sun.misc.Signal");
            final Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
            final Object handler = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[]{handlerClass},
                (proxy, method, arguments) -> onCall(proxy, method.getName(), arguments, action));
            signalClass.getMethod("handle", signalClass, handlerClass)
                .invoke(null, signalClass.getConstructor(String.class).newInstance(name), handler);
        } catch (final InvocationTargetException e) {
            LOGGER.debug("SIG{} stays with the JVM: {}", name, e.getCause().getMessage());
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException("the JVM has no module jdk.unsupported", e);
        }
    }

    private static Object onCall(final Object proxy, final String method, final Object[] arguments, final Runnable action) {
        switch (method) {
            case "handle":
                action.run();
                return null;
            case "equals":
                return proxy == arguments[0];
            case "hashCode":
                return System.identityHashCode(proxy);
            default:
                return "flowlag signal handler";
        }
    }
}
