package io.flowlag.exporter.terminal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Standard output and standard error, the latter with at most one status line below the messages. Any thread may call it. Never
 * on the packet path: it locks and, unless it {@linkplain #writeBehind writes behind}, it writes.
 */
public final class Terminal {
    private static final String ERASE = "\r\033[K";
    private static final long SETTLE_NS = 2_000_000_000L;
    /** Long enough for a loaded machine: without an answer the terminal could not be restored. */
    private static final long STTY_TIMEOUT_MS = 20_000;

    private final PrintStream out;
    private final PrintStream err;
    private final boolean isInteractive;
    private final Consumer<String> listener;
    private boolean hasStatusLine;
    private volatile boolean isBehind;

    /** A terminal of given streams. A status line is shown only if it is interactive. */
    public Terminal(final PrintStream out, final PrintStream err, final boolean isInteractive) {
        this(out, err, isInteractive, (line) -> {
        });
    }

    private Terminal(
        final PrintStream out, final PrintStream err, final boolean isInteractive, final Consumer<String> listener) {
        this.out = out;
        this.err = err;
        this.isInteractive = isInteractive;
        this.listener = listener;
    }

    /** {@return the same with another stream for results, and with a listener to each message} */
    public Terminal with(final PrintStream results, final Consumer<String> messages) {
        return new Terminal(results, err, isInteractive, messages);
    }

    /** {@return the terminal of this process, in UTF-8, with a buffer for results that the user flushes} */
    public static Terminal system() {
        final PrintStream out = new ResultStream(new FileOutputStream(FileDescriptor.out));
        final PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        return new Terminal(out, err, isTerminal(2));
    }

    /** {@return the stream for results; the user flushes it} */
    public PrintStream out() {
        return out;
    }

    /** {@return whether the reader of the results has gone, which needs no message} */
    public boolean isReaderGone() {
        return out instanceof ResultStream results && results.isReaderGone();
    }

    /** {@return whether a status line is shown} */
    public boolean isInteractive() {
        return isInteractive;
    }

    /** {@return whether results go to a terminal} */
    public boolean isOutTerminal() {
        return out instanceof ResultStream && isTerminal(1);
    }

    /** {@return whether results go to a terminal whose user has not asked for no colour} */
    public boolean isColoured() {
        return isOutTerminal() && String.valueOf(System.getenv("NO_COLOR")).matches("null|");
    }

    /** {@return the columns of the terminal that results go to; 0 if they go elsewhere, or it does not say} */
    public int width() {
        return isOutTerminal() ? size(0, 0)[0] : 0;
    }

    /** {@return the columns and the lines of the terminal, or these if it does not say} */
    public static int[] size(final int width, final int height) {
        final String text = stty("size");
        if (text != null && text.matches("[1-9][0-9]{0,3} [1-9][0-9]{0,3}")) {
            return new int[]{Integer.parseInt(text.split(" ")[1]), Integer.parseInt(text.split(" ")[0])};
        }
        return new int[]{width, height};
    }

    /** {@return the terminal's settings from stty; null if it fails} */
    public static String stty(final String arguments) {
        try {
            final Process process = new ProcessBuilder("sh", "-c", "stty " + arguments + " < /dev/tty 2> /dev/null")
                .redirectErrorStream(true).start();
            process.getOutputStream().close();
            if (!process.waitFor(STTY_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                return null;
            }
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (final IOException ex) {
            return null;
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** From now on no caller waits for what it writes: a thread of its own does it. */
    public void writeBehind() {
        isBehind = true;
    }

    /** Runs something that may block, on that thread if there is one. Returns false if too many wait, and this is left out. */
    public boolean write(final Runnable write) {
        if (isBehind) {
            return WriteBehind.LINES.offer(write);
        }
        write.run();
        return true;
    }

    /** Waits until all is written, for 2 s at most. */
    public void settle() {
        if (isBehind) {
            WriteBehind.LINES.settle(SETTLE_NS);
        }
    }

    /** Writes a line, given without its end, to standard error. */
    public void message(final String line) {
        listener.accept(line);
        write(() -> print(line));
    }

    private synchronized void print(final String line) {
        erase();
        err.println(line);
        err.flush();
    }

    /** Replaces the status line, given without its end; does nothing without an interactive terminal. */
    public void status(final String line) {
        if (isInteractive) {
            write(() -> replaceStatus(line));
        }
    }

    private synchronized void replaceStatus(final String line) {
        err.print(ERASE + line);
        err.flush();
        hasStatusLine = true;
    }

    /** Removes the status line, if there is one. */
    public void eraseStatus() {
        if (isInteractive) {
            write(this::erase);
        }
    }

    private synchronized void erase() {
        if (hasStatusLine) {
            err.print(ERASE);
            err.flush();
            hasStatusLine = false;
        }
    }

    /** {@return whether a descriptor of this process is a terminal that understands control sequences} */
    public static boolean isTerminal(final int descriptor) {
        final String device;
        try {
            device = Path.of("/proc/self/fd/" + descriptor).toRealPath().toString();
        } catch (final IOException ex) {
            return false; // a pipe or socket has no path; other systems have no /proc
        }
        final boolean isTerminal = device.startsWith("/dev/pts/") || device.startsWith("/dev/tty") ||
            "/dev/console".equals(device);
        return isTerminal && !"dumb".equals(System.getenv("TERM"));
    }
}
