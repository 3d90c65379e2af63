package io.flowlag.ipfix.session;

import io.flowlag.ipfix.transport.Transport;

/**
 * What the network reports of a collector over UDP. A report belongs to a message sent before and comes later, so a refused
 * message counts as exported and as uncertain: for each report the message sent last before it, which is exact where the report
 * comes before the next message. The collector is missing from a report on, until {@value #QUIET_MS} ms have passed since a
 * message on which no report followed; longer than the second to which a kernel may limit its reports. Meanwhile each message
 * with data has the templates in it or ahead of it. Used by one thread, except {@link #isMissing()}; allocates nothing.
 */
final class DatagramPeer {
    private static final long QUIET_MS = 2_000L;
    private static final long NEVER = Long.MIN_VALUE;

    private final Transport transport;
    private final ActiveTemplates templates;
    private final RecordAccounts accounts;
    private final SessionStatistics statistics;
    private long reports;
    private long firstSentMs = NEVER;
    private int lastLengthBytes;
    private boolean hasNews;
    private volatile boolean isMissing;

    DatagramPeer(
        final Transport transport, final ActiveTemplates templates, final RecordAccounts accounts,
        final SessionStatistics statistics) {
        this.transport = transport;
        this.templates = templates;
        this.accounts = accounts;
        this.statistics = statistics;
    }

    boolean isMissing() {
        return isMissing;
    }

    /** Reads what has been reported since; costs a system call. */
    void check(final long nowMs) {
        transport.checkPeer();
        noteReports(0);
        if (isMissing && firstSentMs != NEVER && (nowMs < firstSentMs || nowMs - firstSentMs >= QUIET_MS)) {
            isMissing = false;
        }
    }

    /** Checks, and after a report returns whether the open message has data of templates that must go ahead of it. */
    boolean isOwedTemplates(final long nowMs) {
        check(nowMs);
        if (!hasNews || accounts.isMessageWithoutRecords()) {
            return false;
        }
        hasNews = false;
        templates.forgetForMessage();
        return templates.isAnyMissingForMessage();
    }

    /** Books a message that the transport took, before its records are accounted for. */
    void onSent(final int lengthBytes, final boolean hasData, final long nowMs) {
        noteReports(lengthBytes);
        lastLengthBytes = lengthBytes;
        if (isMissing) {
            firstSentMs = firstSentMs == NEVER ? nowMs : firstSentMs;
            if (hasData) {
                templates.refresh();
            }
        }
    }

    private void noteReports(final int newLengthBytes) {
        final long all = transport.peerLossCount();
        if (all != reports) {
            reports = all;
            accounts.markUncertain(transport.deliveredOctets() - newLengthBytes - lastLengthBytes);
            lastLengthBytes = 0;
            firstSentMs = NEVER;
            hasNews = true;
            isMissing = true;
            statistics.begin();
            statistics.set(SessionCounter.PEER_LOSSES, all);
            statistics.end();
        }
    }
}
