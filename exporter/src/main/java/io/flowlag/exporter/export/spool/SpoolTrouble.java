package io.flowlag.exporter.export.spool;

import io.flowlag.exporter.terminal.OutputFiles;

import java.io.IOException;

/**
 * Failures with the files of a spool, and the pauses that follow them. Used by one thread at a time; {@link #lastError()} by any.
 */
final class SpoolTrouble {
    private static final long RETRY_MS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;

    private final SpoolBook book;
    private long nowMs;
    private long retryMs = NEVER;
    private long positionRetryMs = NEVER;
    private volatile String lastError = "";

    /** No failures yet; the book counts them. */
    SpoolTrouble(final SpoolBook book) {
        this.book = book;
    }

    String lastError() {
        return lastError;
    }

    void now(final long timeMs) {
        nowMs = timeMs;
    }

    /** Whether files are neither written nor read for now. */
    boolean isPaused() {
        return isAhead(retryMs);
    }

    /** Whether the position is not written for now. */
    boolean isPositionPaused() {
        return isAhead(positionRetryMs);
    }

    /** Pauses all files for a while. */
    void pause(final String what, final IOException ex) {
        retryMs = nowMs + RETRY_MS;
        tell(what, ex);
    }

    /** Pauses the position only. */
    void pausePosition(final String what, final IOException ex) {
        pausePosition();
        tell(what, ex);
    }

    /** The same where nothing failed. */
    void pausePosition() {
        positionRetryMs = nowMs + RETRY_MS;
    }

    void tell(final String what, final IOException ex) {
        book.onError();
        say(what + ": " + OutputFiles.reason(ex));
    }

    /** As {@link #tell}, for failures that are counted elsewhere. */
    void say(final String error) {
        lastError = error;
    }

    /** Files were written. */
    void onWritten() {
        retryMs = NEVER;
        lastError = "";
    }

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

    /** Retries everything once, at the end. */
    void pauseNoMore() {
        retryMs = NEVER;
        positionRetryMs = NEVER;
    }

    /** A clock that was set back does not lengthen the pause. */
    private boolean isAhead(final long timeMs) {
        return timeMs != NEVER && nowMs < timeMs && timeMs - nowMs <= RETRY_MS;
    }
}
