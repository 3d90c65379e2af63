package io.flowlag.exporter.export;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.transport.TransportKind;
import org.agrona.DirectBuffer;

/**
 * A destination of IPFIX messages: one session with its own templates, sequence numbers and transport. The exporting thread owns
 * it. Allocates at construction, and when a template is first needed.
 */
public class IpfixDestination implements Destination {
    /** Longest wait for a collector's own close; some never send it. */
    static final long LEAVE_PATIENCE_MS = 3_000;
    private static final long NEVER = Long.MIN_VALUE;
    private static final long NS_PER_MS = 1_000_000L;

    final ExportingSession session;
    final FlowRecordEncoder encoder;

    private final String name;
    private final OptionsExporter options;
    private final boolean hasTimeWindow;

    private long firstStartNs = Long.MAX_VALUE;
    private long lastEndNs = Long.MIN_VALUE;
    private long leaveMs = NEVER;
    private boolean isClosing;
    private boolean isClosed;

    /** A destination; it owns the session from now on. */
    IpfixDestination(
        final String name, final ExportingSession session, final FlowRecordEncoder encoder, final OptionsExporter options) {
        this.name = name;
        this.session = session;
        this.encoder = encoder;
        this.options = options;
        hasTimeWindow = session.transport().kind() == TransportKind.FILE;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        if (hasTimeWindow) {
            final int last = offset + lengthBytes - FlowEntry.entryLengthBytes(entry, offset, lengthBytes);
            firstStartNs = Math.min(firstStartNs, FlowEntry.startNs(entry, offset));
            lastEndNs = Math.max(lastEndNs, Math.max(FlowEntry.endNs(entry, offset), FlowEntry.endNs(entry, last)));
        }
        if (options.isSamplingDue()) {
            session.doWork(nowMs);
            options.doWork(nowMs);
        }
        return take(entry, offset, lengthBytes, nowMs);
    }

    Outcome take(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        final int result = encoder.encode(session, entry, offset, lengthBytes, nowMs);
        return result == ExportingSession.BLOCKED ? Outcome.BLOCKED : Outcome.DONE;
    }

    @Override
    public void stopWaiting() {
        session.stopWaiting();
    }

    @Override
    public final int doWork(final long nowMs) {
        return isClosed ? 0 : work(nowMs);
    }

    @Override
    public final boolean isWaiting() {
        return session.transport().isWaiting();
    }

    int work(final long nowMs) {
        return workOptions(nowMs) + session.doWork(nowMs);
    }

    final int workOptions(final long nowMs) {
        return isClosing ? 0 : options.doWork(nowMs);
    }

    @Override
    public boolean close(final long nowMs, final long deadlineMs) {
        if (isClosed) {
            return true;
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
            closeAll();
        }
        return isClosed;
    }

    /** {@return whether the last message has been sent: only the collector's own close is waited for} */
    final boolean isLeaving() {
        return leaveMs != NEVER;
    }

    final boolean isClosed() {
        return isClosed;
    }

    final void closeAll() {
        closeSession();
        isClosed = true;
    }

    void closeSession() {
        session.close();
    }

    @Override
    public DestinationStatistics statistics() {
        final long[] values = new long[SessionCounter.count()];
        session.statistics().snapshot(values);
        return statistics(values, values[SessionCounter.RECORDS_ACCEPTED.ordinal()],
            values[SessionCounter.RECORDS_WAITING.ordinal()], null);
    }

    final DestinationStatistics statistics(
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
    public boolean isMissing() {
        return session.isCollectorMissing();
    }

    @Override
    public String lastError() {
        return session.transport().lastError();
    }

    /** Whether restored flows of a former process, whose times are unknown here, are among those sent. */
    boolean hasOlderFlows() {
        return false;
    }

    private void writeLastOptions(final long nowMs) {
        options.doLastWork(nowMs);
        if (hasTimeWindow && firstStartNs <= lastEndNs && !hasOlderFlows()) {
            options.writeTimeWindow(
                Math.max(0, Math.floorDiv(firstStartNs, NS_PER_MS)), Math.max(0, -Math.floorDiv(-lastEndNs, NS_PER_MS)), nowMs);
        }
    }
}
