package io.flowlag.exporter.terminal;

import java.util.HashMap;
import java.util.Map;

/**
 * A limit of log lines per kind and minute, so that a repeated fault cannot fill a disk. A kind is a message without its values.
 * Not thread-safe. Allocates per kind.
 */
final class LineLimit {
    /** Lines of a kind in a minute. */
    static final int LINES = 100;
    /** A window. */
    static final long WINDOW_MS = 60_000;

    /** The present window of a kind. */
    private static final class Window {
        private long beginMs;
        private int lines;
        private long leftOut;

        private Window(final long beginMs) {
            this.beginMs = beginMs;
        }
    }

    private final Map<String, Window> windows = new HashMap<>();

    /** Whether one more line of a kind may be written; counts it otherwise. The time is since 1970. */
    boolean allows(final String kind, final long timeMs) {
        final Window window = windows.computeIfAbsent(kind, (key) -> new Window(timeMs));
        if (timeMs < window.beginMs || timeMs - window.beginMs >= WINDOW_MS) {
            window.beginMs = timeMs;
            window.lines = 0;
        }
        if (window.lines == LINES) {
            window.leftOut++;
            return false;
        }
        window.lines++;
        return true;
    }

    /** Number of lines of a kind omitted since the last call. */
    long takeLeftOut(final String kind) {
        final Window window = windows.get(kind);
        final long leftOut = window == null ? 0 : window.leftOut;
        if (leftOut > 0) {
            window.leftOut = 0;
        }
        return leftOut;
    }
}
