package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Signals of the process: SIGTERM and SIGINT stop, SIGHUP reloads, SIGUSR1 logs the counters. They only set flags, which the
 * process polls. They replace the JVM's own handlers, so the process flushes everything and sets its own exit code. A second
 * SIGINT does not wait. Any thread may call it.
 */
public final class Signals {
    /** The effect of SIGHUP: the process reads its configuration again, or stops as on SIGTERM. */
    public enum HangUp {
        RELOADS, STOPS
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(Signals.class);

    private static Signals held;

    private final Runnable impatience;
    private final AtomicBoolean stop = new AtomicBoolean();
    private final AtomicBoolean reload = new AtomicBoolean();
    private final AtomicBoolean counters = new AtomicBoolean();

    /** Flags without handlers, raised by methods alone. The action runs when a second SIGINT arrives. */
    public Signals(final Runnable impatience) {
        this.impatience = impatience;
    }

    /**
     * Defers SIGHUP and SIGUSR1 to {@link #install} while a long-running process starts, because they would end it. SIGTERM and
     * SIGINT may end it, since there is nothing to flush yet.
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
     * Installs the handlers in place of the JVM's. A signal reserved by the JVM or the system (-Xrs, or ignored under nohup) is
     * left alone. Returns the flags; if the process reloads, with signals since {@link #hold}.
     */
    public static Signals install(final HangUp hangUp) {
        final Signals signals = held != null && hangUp == HangUp.RELOADS ? held : new Signals(Signals::giveUp);
        LastResort.onFailure(signals::requestStop);
        handle("TERM", signals::onStop);
        handle("INT", signals::onInterrupt);
        handle("HUP", hangUp == HangUp.RELOADS ? signals::requestReload : signals::onStop);
        handle("USR1", signals::requestCounters);
        return signals;
    }

    /** {@return whether the process must flush and end; never reset} */
    public boolean isStopRequested() {
        return stop.get();
    }

    /** Requests a stop. */
    public void requestStop() {
        request(stop);
    }

    /** Requests a reload. */
    public void requestReload() {
        request(reload);
    }

    /** Requests the counters in the log. */
    public void requestCounters() {
        request(counters);
    }

    private synchronized void request(final AtomicBoolean flag) {
        flag.set(true);
        notifyAll();
    }

    /** {@return whether a reload was requested since the last call} */
    public boolean takeReloadRequest() {
        return reload.getAndSet(false);
    }

    /** {@return whether the counters were requested since the last call} */
    public boolean takeCountersRequest() {
        return counters.getAndSet(false);
    }

    /** Waits for a request or the timeout; for the command's main thread. Returns whether there is a request. */
    public synchronized boolean await(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        try {
            for (long restNs = timeoutNs; !isAnythingRequested() && restNs > 0; restNs = deadlineNs - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, restNs);
            }
            return isAnythingRequested();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** SIGINT: the first requests a stop, the second runs the impatient action. */
    void onInterrupt() {
        if (stop.get()) {
            impatience.run();
        }
        onStop();
    }

    private void onStop() {
        LastResort.onStop();
        requestStop();
    }

    private boolean isAnythingRequested() {
        return stop.get() || reload.get() || counters.get();
    }

    /** By reflection, because the compiler's warning about sun.misc.Signal cannot be suppressed. */
    private static void handle(final String name, final Runnable action) {
        try {
            final Class<?> signalClass = Class.forName("sun.misc.Signal");
            final Class<?> handlerClass = Class.forName("sun.misc.SignalHandler");
            final Object handler = Proxy.newProxyInstance(Signals.class.getClassLoader(), new Class<?>[]{handlerClass},
                (proxy, method, arguments) -> onCall(proxy, method.getName(), arguments, action));
            signalClass.getMethod("handle", signalClass, handlerClass)
                .invoke(null, signalClass.getConstructor(String.class).newInstance(name), handler);
        } catch (final InvocationTargetException ex) {
            LOGGER.debug("SIG{} stays with the JVM: {}", name, ex.getCause().getMessage());
        } catch (final ReflectiveOperationException ex) {
            throw new IllegalStateException("the JVM has no module jdk.unsupported", ex);
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
