package io.flowlag.exporter.console;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SignalsTest {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

    /** A process that says what it was asked, and ends as a command does. */
    public static final class Obedient {
        private Obedient() {
        }

        /** Says "ready", then a word a request, until it is to stop. */
        public static void main(final String[] arguments) {
            final Signals signals = Signals.install(Signals.HangUp.valueOf(arguments[0]));
            System.out.println("ready");
            while (!signals.isStopRequested()) {
                signals.await(DEADLINE_NS);
                if (signals.takeReloadRequest()) {
                    System.out.println("reload");
                }
                if (signals.takeCountersRequest()) {
                    System.out.println("counters");
                }
            }
            System.out.println("flushed");
            if (arguments.length > 1) {
                signals.await(0);
                while (true) {
                    Thread.onSpinWait();
                }
            }
            System.exit(0);
        }
    }

    @Test
    void shouldRememberStopAndHandRequestsOverOnce() {
        final Signals signals = new Signals(() -> { });
        assertFalse(signals.await(0));
        signals.requestReload();
        signals.requestCounters();
        assertTrue(signals.await(DEADLINE_NS));
        assertTrue(signals.takeReloadRequest());
        assertFalse(signals.takeReloadRequest());
        assertTrue(signals.takeCountersRequest());
        assertFalse(signals.takeCountersRequest());
        assertFalse(signals.isStopRequested());
        signals.requestStop();
        assertTrue(signals.isStopRequested());
        assertTrue(signals.isStopRequested());
    }

    @Test
    void shouldLosePatienceAtTheSecondInterrupt() {
        final AtomicInteger impatience = new AtomicInteger();
        final Signals signals = new Signals(impatience::incrementAndGet);
        signals.onInterrupt();
        assertEquals(0, impatience.get());
        signals.onInterrupt();
        assertEquals(1, impatience.get());
    }

    @Test
    @Timeout(60)
    void shouldFlushAndExitZeroOnTerminateAndInterrupt() throws IOException, InterruptedException {
        for (final String signal : new String[]{"TERM", "INT"}) {
            final Process process = start("RELOADS");
            final BufferedReader output = output(process);
            assertEquals("ready", output.readLine());
            kill(process, "HUP");
            assertEquals("reload", output.readLine());
            kill(process, "USR1");
            assertEquals("counters", output.readLine());
            kill(process, signal);
            assertEquals("flushed", output.readLine());
            assertEquals(0, process.waitFor(), signal);
        }
    }

    @Test
    @Timeout(60)
    void shouldStopOnHangUpWhereNothingIsReloaded() throws IOException, InterruptedException {
        final Process process = start("STOPS");
        final BufferedReader output = output(process);
        assertEquals("ready", output.readLine());
        kill(process, "HUP");
        assertEquals("flushed", output.readLine());
        assertEquals(0, process.waitFor());
    }

    @Test
    @Timeout(60)
    void shouldNotWaitAfterASecondInterrupt() throws IOException, InterruptedException {
        final Process process = start("STOPS", "hangs");
        final BufferedReader output = output(process);
        assertEquals("ready", output.readLine());
        kill(process, "INT");
        assertEquals("flushed", output.readLine());
        kill(process, "INT");
        assertEquals(130, process.waitFor());
    }

    private static Process start(final String... arguments) throws IOException {
        final String[] command = new String[4 + arguments.length];
        command[0] = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        command[1] = "-cp";
        command[2] = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        command[3] = Obedient.class.getName();
        System.arraycopy(arguments, 0, command, 4, arguments.length);
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private static BufferedReader output(final Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void kill(final Process process, final String signal) throws IOException, InterruptedException {
        assertEquals(0, new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()).inheritIO().start().waitFor());
    }
}
