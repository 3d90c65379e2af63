package io.flowlag.exporter.export;

import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import org.agrona.DirectBuffer;

import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A destination with a {@link Backlog}, which keeps what the session cannot take. Threads and allocation as of its base. */
final class SpooledDestination extends IpfixDestination {
    private static final int SNAPSHOT_ATTEMPTS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;

    private final Backlog backlog;
    /** Odd while session and backlog change together. */
    private final AtomicInteger version = new AtomicInteger();
    private long drainEndMs = NEVER;
    private long spoolEndMs = NEVER;

    /** A destination; parameters as of its base. */
    SpooledDestination(
        final String name, final ExportingSession session, final FlowRecordEncoder encoder, final OptionsExporter options,
        final Backlog backlog) {
        super(name, session, encoder, options);
        this.backlog = backlog;
        backlog.join(session);
    }

    private void beginChange() {
        version.setPlain(version.getPlain() + 1);
        VarHandle.fullFence();
    }

    private void endChange() {
        version.setRelease(version.getPlain() + 1);
    }

    @Override
    Outcome take(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        beginChange();
        try {
            backlog.offer(encoder, entry, offset, lengthBytes, nowMs);
        } finally {
            endChange();
        }
        return Outcome.DONE;
    }

    @Override
    int work(final long nowMs) {
        beginChange();
        try {
            return (session.isReady() ? workOptions(nowMs) : 0) + session.doWork(nowMs) + backlog.doWork(nowMs);
        } finally {
            endChange();
        }
    }

    @Override
    public boolean close(final long nowMs, final long deadlineMs) {
        if (!isClosed() && !session.isReady()) {
            closeAll(); // nothing to wait for
        } else if (!isClosed() && nowMs < deadlineMs && isStillDraining(nowMs)) {
            doWork(nowMs);
            return false;
        }
        return super.close(nowMs, deadlineMs) && closeBacklog(nowMs, deadlineMs);
    }

    /** A disk that hangs gets a while. */
    private boolean closeBacklog(final long nowMs, final long deadlineMs) {
        if (spoolEndMs == NEVER) {
            spoolEndMs = Math.min(deadlineMs, nowMs + LEAVE_PATIENCE_MS);
        }
        beginChange();
        try {
            return backlog.close(nowMs, nowMs >= spoolEndMs);
        } finally {
            endChange();
        }
    }

    /** Sends some spooled records before the end. */
    private boolean isStillDraining(final long nowMs) {
        if (drainEndMs == NEVER) {
            drainEndMs = nowMs + LEAVE_PATIENCE_MS;
        }
        return !isLeaving() && nowMs < drainEndMs && backlog.spool().recordsHeld() > backlog.drainingCount();
    }

    @Override
    void closeSession() {
        beginChange();
        try {
            super.closeSession();
        } finally {
            endChange();
        }
    }

    @Override
    public DestinationStatistics statistics() {
        final long[] values = new long[SessionCounter.count()];
        for (int attempt = 0;; attempt++) {
            final int before = version.getAcquire();
            session.statistics().snapshot(values);
            final SpoolStatistics spool = backlog.statistics();
            final long waiting =
                values[SessionCounter.RECORDS_WAITING.ordinal()] - backlog.drainingCount() + spool.recordsHeld();
            final DestinationStatistics statistics = statistics(values, backlog.offeredCount(), waiting, spool);
            VarHandle.loadLoadFence();
            if ((before & 1) == 0 && before == version.getPlain() || attempt == SNAPSHOT_ATTEMPTS) {
                return statistics;
            }
            Thread.onSpinWait();
        }
    }

    @Override
    public Progress progress() {
        final long spooledLeft = backlog.spool().recordsSettled();
        final long directLeft = backlog.directLeft();
        return new Progress(backlog.committedCount(), directLeft, backlog.spool().recordsIn(), spooledLeft);
    }

    @Override
    public boolean force() {
        return backlog.spool().force();
    }

    @Override
    public List<String> notices() {
        return backlog.spool().notices();
    }

    @Override
    public String lastError() {
        final String error = super.lastError();
        final String spoolError = backlog.spool().lastError();
        return spoolError.isEmpty() ? error : error.isEmpty() ? spoolError : error + "; " + spoolError;
    }

    @Override
    boolean hasOlderFlows() {
        return backlog.statistics().recordsTakenUp() > 0;
    }
}
