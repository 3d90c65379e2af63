package io.flowlag.exporter.record;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.transport.TransportKind;
import org.agrona.DirectBuffer;

/**
 * A destination of IPFIX messages: one session with its own templates, sequence numbers and transport. The exporting thread
 * owns it. Allocates at construction, and when a template is needed for the first time.
 */
public final class IpfixDestination implements Destination {
    /** How long a collector may take for its own good-bye; some never say it. */
    private static final long LEAVE_PATIENCE_MS = 3_000;
    private static final long NEVER = Long.MIN_VALUE;
    private static final long NS_PER_MS = 1_000_000L;

    private final String name;
    private final ExportingSession session;
    private final FlowRecordEncoder encoder;
    private final OptionsExporter options;
    private final boolean hasTimeWindow;

    private long firstStartNs = Long.MAX_VALUE;
    private long lastEndNs = Long.MIN_VALUE;
    private long leaveMs = NEVER;
    private boolean isClosing;
    private boolean isClosed;

    /**
     * A destination.
     *
     * @param name    for messages: the URI.
     * @param session owned by the destination from now on.
     * @param encoder of the session's records.
     * @param options of the session; null for none.
     */
    IpfixDestination(
        final String name, final ExportingSession session, final FlowRecordEncoder encoder, final OptionsExporter options) {
        this.name = name;
        this.session = session;
        this.encoder = encoder;
        this.options = options;
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
        final int workCount = options == null || isClosing ? 0 : options.doWork(nowMs);
        return workCount + session.doWork(nowMs);
    }

    @Override
    public boolean close(final long nowMs, final long deadlineMs) {
        if (isClosed) {
            return true;
        }
        if (!isClosing) {
            isClosing = true;
            writeLastOptions(nowMs);
        }
        session.doWork(nowMs);
        if (session.flush(nowMs) && leaveMs == NEVER) {
            leaveMs = nowMs;
        }
        final boolean isLeaveTaken = leaveMs != NEVER && (session.finish(nowMs) || nowMs - leaveMs >= LEAVE_PATIENCE_MS);
        if (isLeaveTaken || nowMs >= deadlineMs) {
            session.close();
            isClosed = true;
        }
        return isClosed;
    }

    @Override
    public DestinationStatistics statistics() {
        final long[] values = new long[SessionCounter.count()];
        session.statistics().snapshot(values);
        long failed = 0;
        for (int i = 0; i < values.length; i++) {
            failed += SessionCounter.of(i).isFailure() ? values[i] : 0;
        }
        return new DestinationStatistics(
            name,
            values[SessionCounter.RECORDS_ACCEPTED.ordinal()],
            values[SessionCounter.RECORDS_EXPORTED.ordinal()],
            failed,
            values[SessionCounter.RECORDS_WAITING.ordinal()],
            values[SessionCounter.RECORDS_UNCERTAIN.ordinal()],
            values[SessionCounter.OPTIONS_RECORDS_EXPORTED.ordinal()],
            values[SessionCounter.MESSAGES.ordinal()],
            values[SessionCounter.OCTETS.ordinal()],
            values[SessionCounter.RECONNECTS.ordinal()],
            values[SessionCounter.MESSAGES_FAILED.ordinal()] + values[SessionCounter.PEER_LOSSES.ordinal()]);
    }

    @Override
    public String lastError() {
        return session.transport().lastError();
    }

    private void writeLastOptions(final long nowMs) {
        if (options == null) {
            return;
        }
        options.doLastWork(nowMs);
        if (hasTimeWindow && firstStartNs <= lastEndNs) {
            options.writeTimeWindow(
                Math.floorDiv(firstStartNs, NS_PER_MS), Math.floorDiv(lastEndNs, NS_PER_MS), nowMs);
        }
    }
}
