package io.flowlag.exporter.export.spool;

import io.flowlag.exporter.terminal.OutputFiles;

import java.io.IOException;

/**
 * What went wrong with the files of a spool, and whether they are left alone for a while because of it. Used by the exporting
 * thread; {@link #lastError()} by any.
 */
final class SpoolTrouble {
    private static final long RETRY_MS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;

    private final SpoolBook book;
    private long nowMs;
    private long retryMs = NEVER;
    private long positionRetryMs = NEVER;
    private volatile String lastError = "";

    /** None yet; the book counts what comes. */
    SpoolTrouble(final SpoolBook book) {
        this.book = book;
    }

    String lastError() {
        return lastError;
    }

    void now(final long timeMs) {
        nowMs = timeMs;
    }

    /** Whether no file is written or read for now. */
    boolean isPaused() {
        return isAhead(retryMs);
    }

    /** Whether the position is not written for now. */
    boolean isPositionPaused() {
        return isAhead(positionRetryMs);
    }

    /** All is left alone for a while. */
    void pause(final String what, final IOException ex) {
        retryMs = nowMs + RETRY_MS;
        tell(what, ex);
    }

    /** The position is left alone for a while; nothing else stops. */
    void pausePosition(final String what, final IOException ex) {
        positionRetryMs = nowMs + RETRY_MS;
        tell(what, ex);
    }

    void tell(final String what, final IOException ex) {
        book.onError();
        say(what + ": " + OutputFiles.reason(ex));
    }

    /** As {@link #tell}, for what is counted otherwise. */
    void say(final String error) {
        lastError = error;
    }

    /** Files were written. */
    void onWritten() {
        retryMs = NEVER;
        lastError = "";
    }

    /** A file was read. */
    void onRead() {
        if (retryMs != NEVER) {
            onWritten();
        }
    }

    void onPositionWritten() {
        if (positionRetryMs != NEVER) {
            positionRetryMs = NEVER;
            lastError = "";
        }
    }

    /** At the end everything is tried once more. */
    void pauseNoMore() {
        retryMs = NEVER;
        positionRetryMs = NEVER;
    }

    /** A clock that was set back does not make the wait longer. */
    private boolean isAhead(final long timeMs) {
        return timeMs != NEVER && nowMs < timeMs && timeMs - nowMs <= RETRY_MS;
    }
}
