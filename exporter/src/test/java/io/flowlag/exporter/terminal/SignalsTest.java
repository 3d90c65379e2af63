package io.flowlag.exporter.terminal;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class SignalsTest {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int LIFE_SECONDS = 60;
    /** Those that the tests send. */
    private static final String SIGNALS = "HUP,INT,USR1,TERM";
    /** The same by their numbers, of which the lowest bit is 1. */
    private static final long SIGNAL_MASK = 1L | 1L << 2 - 1 | 1L << 10 - 1 | 1L << 15 - 1;
    private static final String IGNORED_MASK = "SigIgn:";
    private static final String HANGS = "hangs";
    private static final String STARTS = "starts";

    /** A process that says what it was asked, and ends as a command does. */
    public static final class Obedient {
        private Obedient() {
        }

        /** Says "ready", then a word a request, until it is to stop; if it starts for long, "starting" and waits for a line. */
        public static void main(final String[] arguments) throws IOException {
            if (arguments.length > 1 && STARTS.equals(arguments[1])) {
                Signals.hold();
                System.out.println("starting");
                System.in.read();
            }
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
            if (arguments.length > 1 && HANGS.equals(arguments[1])) {
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
    @Timeout(LIFE_SECONDS)
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

    /** As behind a shell's {@code &} in a script: SIGINT stays ignored, and SIGTERM, which kill sends, ends it in order. */
    @Test
    @Timeout(LIFE_SECONDS)
    void shouldFlushOnTerminateWhereInterruptsAreIgnored() throws IOException, InterruptedException {
        final Process process = start(List.of("sh", "-c", "trap '' INT; exec \"$@\"", "sh"), "RELOADS");
        final BufferedReader output = output(process);
        assertEquals("ready", output.readLine());
        kill(process, "INT");
        kill(process, "USR1");
        assertEquals("counters", output.readLine());
        kill(process, "TERM");
        assertEquals("flushed", output.readLine());
        assertEquals(0, process.waitFor());
    }

    @Test
    @Timeout(LIFE_SECONDS)
    void shouldStopOnHangUpWhereNothingIsReloaded() throws IOException, InterruptedException {
        final Process process = start("STOPS");
        final BufferedReader output = output(process);
        assertEquals("ready", output.readLine());
        kill(process, "HUP");
        assertEquals("flushed", output.readLine());
        assertEquals(0, process.waitFor());
    }

    @Test
    @Timeout(LIFE_SECONDS)
    void shouldNotWaitAfterASecondInterrupt() throws IOException, InterruptedException {
        final Process process = start("STOPS", HANGS);
        final BufferedReader output = output(process);
        assertEquals("ready", output.readLine());
        kill(process, "INT");
        assertEquals("flushed", output.readLine());
        kill(process, "INT");
        assertEquals(130, process.waitFor());
    }

    @Test
    @Timeout(LIFE_SECONDS)
    void shouldKeepWhatIsAskedWhileAProcessStarts() throws IOException, InterruptedException {
        final Process process = start("RELOADS", STARTS);
        final BufferedReader output = output(process);
        assertEquals("starting", output.readLine());
        kill(process, "HUP");
        kill(process, "USR1");
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
        assertEquals("ready", output.readLine());
        // The virtual machine gives each signal a thread of its own, and one may overtake another.
        assertEquals(Set.of("reload", "counters"), Set.of(output.readLine(), output.readLine()));
        kill(process, "TERM");
        assertEquals("flushed", output.readLine());
        assertEquals(0, process.waitFor());
    }

    @Test
    @Timeout(LIFE_SECONDS)
    void shouldEndInOrderWhileAProcessStarts() throws IOException, InterruptedException {
        for (final String signal : new String[]{"TERM", "INT"}) {
            final Process process = start("RELOADS", STARTS);
            assertEquals("starting", output(process).readLine());
            kill(process, signal);
            assertEquals(0, process.waitFor(), signal);
        }
    }

    /**
     * Signals that are ignored here, as SIGHUP is under nohup and SIGINT behind a shell's {@code &}, would be ignored by the
     * child too, and what waits for its answer would wait for ever: the child starts with all of them in force.
     */
    private static Process start(final String... arguments) throws IOException, InterruptedException {
        return start(List.of(), arguments);
    }

    private static Process start(final List<String> launcher, final String... arguments)
        throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        if (areSignalsIgnored()) {
            command.addAll(List.of("env", "--default-signal=" + SIGNALS));
            assumeTrue(canRun(command), "signals are ignored here, and env cannot put them back in force");
        }
        command.addAll(launcher);
        command.addAll(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")), Obedient.class.getName()));
        command.addAll(List.of(arguments));
        final Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        // A child that does not answer is ended, so that the reader of its output reaches the end.
        process.onExit().orTimeout(LIFE_SECONDS, TimeUnit.SECONDS).whenComplete((ended, late) -> process.destroyForcibly());
        return process;
    }

    /** Whether one of the signals is ignored, which a JVM inherits and leaves so; Linux tells. */
    private static boolean areSignalsIgnored() throws IOException {
        final Path status = Path.of("/proc/self/status");
        if (!Files.isReadable(status)) {
            return false;
        }
        try (Stream<String> lines = Files.lines(status)) {
            return lines.filter((line) -> line.startsWith(IGNORED_MASK))
                .map((line) -> line.substring(IGNORED_MASK.length()).strip())
                .anyMatch((mask) -> (Long.parseUnsignedLong(mask, 16) & SIGNAL_MASK) != 0);
        }
    }

    private static boolean canRun(final List<String> launcher) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(launcher);
        command.add("true");
        return new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    }

    private static BufferedReader output(final Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    private static void kill(final Process process, final String signal) throws IOException, InterruptedException {
        assertEquals(0, new ProcessBuilder("sh", "-c", "kill -" + signal + " " + process.pid()).inheritIO().start().waitFor());
    }
}
