package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.monitoring.StatusSnapshot;
import io.flowlag.exporter.monitoring.TopControl;
import io.flowlag.exporter.monitoring.TopView;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;

import java.io.IOException;
import java.io.PrintStream;
import java.util.List;

/**
 * {@code flowlag top} on a terminal: redraws the screen periodically until q, SIGINT or SIGTERM, then restores the terminal. One
 * thread.
 */
public final class TopProcess {
    private static final String ENTER = "\033[?1049h\033[?25l";
    private static final String LEAVE = "\033[?25h\033[?1049l";
    private static final String HOME = "\033[H";
    private static final String ERASE_LINE_END = "\033[K";
    private static final String ERASE_BELOW = "\033[J";
    private static final String BOLD = "\033[1m";
    private static final String REVERSE = "\033[7m";
    private static final String PLAIN = "\033[0m";
    private static final long KEY_NS = 50_000_000L;
    private static final int DEFAULT_WIDTH = 80;
    private static final int DEFAULT_HEIGHT = 24;
    private static final int KEYS_BYTES = 256;

    private final StatusFileReader reader;
    private final long intervalNs;
    private final Terminal terminal;
    private final Signals signals = Signals.install(Signals.HangUp.STOPS);
    private final TopControl control;
    private final TopView view;
    private final byte[] keys = new byte[KEYS_BYTES];
    private final String savedMode;
    private boolean isLeft;

    private TopProcess(
        final StatusFileReader reader, final long intervalNs, final TopControl control, final Terminal terminal) {
        this.control = control;
        view = new TopView(control);
        this.reader = reader;
        this.intervalNs = intervalNs;
        this.terminal = terminal;
        savedMode = Terminal.stty("-g");
    }

    /** {@return whether there is a terminal for input and output} */
    public static boolean isPossible() {
        return Terminal.isTerminal(0) && Terminal.isTerminal(1);
    }

    /** Draws until it is stopped, or until the observed process ends. */
    public static ExitCode run(
        final StatusFileReader reader, final long intervalNs, final TopControl control, final Terminal terminal) {
        return new TopProcess(reader, intervalNs, control, terminal).run();
    }

    private ExitCode run() {
        final Thread hook = new Thread(this::leave);
        Runtime.getRuntime().addShutdownHook(hook);
        enter();
        try {
            while (true) {
                draw();
                if (reader.isEnded()) {
                    leave();
                    terminal.message("flowlag: process " + reader.pid() + " has ended");
                    return ExitCode.DONE;
                }
                if (isEndAsked()) {
                    return ExitCode.DONE;
                }
            }
        } finally {
            leave();
            Runtime.getRuntime().removeShutdownHook(hook);
        }
    }

    private void enter() {
        Terminal.stty("-icanon -echo min 0 time 0");
        terminal.out().print(ENTER);
        terminal.out().flush();
    }

    /** Also called at the JVM's shutdown, when a second SIGINT does not wait. */
    private synchronized void leave() {
        if (!isLeft) {
            isLeft = true;
            terminal.out().print(LEAVE);
            terminal.out().flush();
            if (savedMode != null && savedMode.matches("[0-9a-fA-F:=]+")) {
                Terminal.stty(savedMode);
            }
        }
    }

    /** The last column stays free: a terminal may erase it with what is behind it. */
    private void draw() {
        final int[] size = Terminal.size(DEFAULT_WIDTH, DEFAULT_HEIGHT);
        final StatusSnapshot snapshot = reader.read();
        final PrintStream out = terminal.out();
        out.print(HOME);
        final List<String> lines = snapshot == null ? List.of("no state yet") :
            view.lines(snapshot, reader.silence(System.currentTimeMillis()), size[0] - 1, size[1]);
        for (int i = 0; i < lines.size(); i++) {
            final boolean isBold = i == 0 || lines.get(i).startsWith("FAILING") || lines.get(i).startsWith("STALE");
            final String mark = i == view.chosenLine() ? REVERSE : isBold ? BOLD : "";
            out.print(mark + lines.get(i) + (mark.isEmpty() ? "" : PLAIN) + ERASE_LINE_END);
            out.print(i + 1 < lines.size() ? "\r\n" : "");
        }
        out.print(ERASE_BELOW);
        out.flush();
    }

    /** Waits until it is to be drawn again, because time passed or a key was typed, or for a signal. */
    private boolean isEndAsked() {
        final long nextNs = System.nanoTime() + intervalNs;
        while (System.nanoTime() - nextNs < 0) {
            if (signals.isStopRequested()) {
                return true;
            }
            try {
                if (System.in.available() > 0) {
                    return control.onKeys(keys, System.in.read(keys, 0, Math.min(keys.length, System.in.available())));
                }
            } catch (final IOException ex) {
                return true;
            }
            signals.await(KEY_NS);
        }
        return signals.isStopRequested();
    }
}
