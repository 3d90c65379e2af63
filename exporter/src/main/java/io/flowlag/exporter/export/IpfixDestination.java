package io.flowlag.exporter.export;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.terminal.Progress;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.transport.TransportKind;
import org.agrona.DirectBuffer;

import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A destination of IPFIX messages: one session with its own templates, sequence numbers and transport. The exporting thread owns
 * it. Allocates at construction, and when a template is first needed.
 */
public final class IpfixDestination implements Destination {
    /** Longest wait for a collector's own close; some never send it. */
    private static final long LEAVE_PATIENCE_MS = 3_000;
    private static final int SNAPSHOT_ATTEMPTS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;
    private static final long NS_PER_MS = 1_000_000L;

    private final String name;
    private final ExportingSession session;
    private final FlowRecordEncoder encoder;
    private final OptionsExporter options;
    private final boolean hasTimeWindow;
    private final Backlog backlog;
    private final AtomicInteger version = new AtomicInteger();

    private long firstStartNs = Long.MAX_VALUE;
    private long lastEndNs = Long.MIN_VALUE;
    private long leaveMs = NEVER;
    private long drainEndMs = NEVER;
    private boolean isClosing;
    private boolean isClosed;

    /**
     * A destination.
     *
     * @param session owned by the destination from now on.
     * @param options of the session; null for none.
     * @param backlog of the session; null for none.
     */
    IpfixDestination(
        final String name, final ExportingSession session, final FlowRecordEncoder encoder, final OptionsExporter options,
        final Backlog backlog) {
        this.name = name;
        this.session = session;
        this.encoder = encoder;
        this.options = options;
        this.backlog = backlog;
        if (backlog != null) {
            backlog.join(session);
        }
        hasTimeWindow = options != null && session.transport().kind() == TransportKind.FILE;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        if (hasTimeWindow) {
            firstStartNs = Math.min(firstStartNs, FlowEntry.startNs(entry, offset));
            lastEndNs = Math.max(lastEndNs, FlowEntry.endNs(entry, offset));
        }
        if (backlog != null) {
            version.setPlain(version.getPlain() + 1);
            VarHandle.fullFence();
            try {
                backlog.offer(encoder, entry, offset, lengthBytes, nowMs);
            } finally {
                version.setRelease(version.getPlain() + 1);
            }
            return Outcome.DONE;
        }
        final int result = encoder.encode(session, entry, offset, lengthBytes, nowMs);
        return result == ExportingSession.BLOCKED ? Outcome.BLOCKED : Outcome.DONE;
    }

    @Override
    public void stopWaiting() {
        session.stopWaiting();
    }

    @Override
    public int doWork(final long nowMs) {
        if (isClosed) {
            return 0;
        }
        if (backlog == null) {
            return workOptions(nowMs) + session.doWork(nowMs);
        }
        version.setPlain(version.getPlain() + 1);
        VarHandle.fullFence();
        try {
            return (session.isReady() ? workOptions(nowMs) : 0) + session.doWork(nowMs) + backlog.doWork(nowMs);
        } finally {
            version.setRelease(version.getPlain() + 1);
        }
    }

    private int workOptions(final long nowMs) {
        return options == null || isClosing ? 0 : options.doWork(nowMs);
    }

    @Override
    public boolean close(final long nowMs, final long deadlineMs) {
        if (isClosed) {
            return true;
        }
        if (backlog != null && !session.isReady()) {
            closeBoth(); // nothing to wait for
            return true;
        }
        if (backlog != null && nowMs < deadlineMs && isStillDraining(nowMs)) {
            doWork(nowMs);
            return false;
        }
        session.doWork(nowMs);
        boolean isFlushed = session.flush(nowMs);
        if (!isClosing && (isFlushed || nowMs >= deadlineMs)) { // the last statistics count every record sent
            isClosing = true;
            writeLastOptions(nowMs);
            isFlushed = session.flush(nowMs);
        }
        if (isClosing && isFlushed && leaveMs == NEVER) {
            leaveMs = nowMs;
        }
        final boolean isLeaveTaken = leaveMs != NEVER && (session.finish(nowMs) || nowMs - leaveMs >= LEAVE_PATIENCE_MS);
        if (isLeaveTaken || nowMs >= deadlineMs) {
            closeBoth();
        }
        return isClosed;
    }

    /** Sends some spooled records before the end. */
    private boolean isStillDraining(final long nowMs) {
        if (drainEndMs == NEVER) {
            drainEndMs = nowMs + LEAVE_PATIENCE_MS;
        }
        return leaveMs == NEVER && nowMs < drainEndMs && backlog.spool().recordsHeld() > backlog.drainingCount();
    }

    private void closeBoth() {
        version.setPlain(version.getPlain() + 1);
        VarHandle.fullFence();
        try {
            session.close();
            if (backlog != null) {
                backlog.close();
            }
        } finally {
            version.setRelease(version.getPlain() + 1);
        }
        isClosed = true;
    }

    @Override
    public DestinationStatistics statistics() {
        final long[] values = new long[SessionCounter.count()];
        if (backlog == null) {
            session.statistics().snapshot(values);
            return statistics(values, values[SessionCounter.RECORDS_ACCEPTED.ordinal()],
                values[SessionCounter.RECORDS_WAITING.ordinal()], null);
        }
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

    private DestinationStatistics statistics(
        final long[] values, final long made, final long waiting, final SpoolStatistics spool) {
        long failed = 0;
        for (int i = 0; i < values.length; i++) {
            failed += SessionCounter.of(i).isFailure() ? values[i] : 0;
        }
        return new DestinationStatistics(
            name,
            made,
            values[SessionCounter.RECORDS_EXPORTED.ordinal()],
            failed,
            waiting,
            values[SessionCounter.RECORDS_UNCERTAIN.ordinal()],
            values[SessionCounter.OPTIONS_RECORDS_EXPORTED.ordinal()],
            values[SessionCounter.MESSAGES.ordinal()],
            values[SessionCounter.OCTETS.ordinal()],
            values[SessionCounter.RECONNECTS.ordinal()],
            values[SessionCounter.MESSAGES_FAILED.ordinal()] + values[SessionCounter.PEER_LOSSES.ordinal()],
            spool);
    }

    @Override
    public Progress progress() {
        if (backlog == null) {
            return Destination.super.progress();
        }
        final long spooledLeft = backlog.spool().recordsSettled();
        final long directLeft = backlog.committedCount() - session.statistics().recordsWaiting();
        return new Progress(backlog.committedCount(), directLeft, backlog.spool().recordsIn(), spooledLeft);
    }

    @Override
    public List<String> notices() {
        return backlog == null ? List.of() : backlog.spool().notices();
    }

    @Override
    public String lastError() {
        final String error = session.transport().lastError();
        final String spoolError = backlog == null ? "" : backlog.spool().lastError();
        return spoolError.isEmpty() ? error : error.isEmpty() ? spoolError : error + "; " + spoolError;
    }

    /** Whether restored flows of a former process, whose times are unknown here, are among those sent. */
    private boolean hasOlderFlows() {
        return backlog != null && backlog.statistics().recordsTakenUp() > 0;
    }

    private void writeLastOptions(final long nowMs) {
        if (options == null) {
            return;
        }
        options.doLastWork(nowMs);
        if (hasTimeWindow && firstStartNs <= lastEndNs && !hasOlderFlows()) {
            options.writeTimeWindow(
                Math.max(0, Math.floorDiv(firstStartNs, NS_PER_MS)), Math.max(0, -Math.floorDiv(-lastEndNs, NS_PER_MS)), nowMs);
        }
    }
}
