package io.flowlag.ipfix.session;

import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.EpochClock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The sending side of successive Transport Sessions, for one Observation Domain over one {@link Transport} (RFC 7011). A caller
 * claims room for a record, writes it into {@link #buffer()}, and commits. The session puts records into Sets and Sets into
 * messages, templates before data, and sends a message when it is full or its time is up.
 * <ul>
 * <li>Sequence numbers count Data Records, those of options included (section 3.1); discarded ones count too (section 10.2.2), so
 *     that a collector sees the gap. Each connection begins at 0.</li>
 * <li>Over UDP a template is in the first messages after its first use, again at an interval (section 8.4), and with all data
 *     for a collector that is missing ({@link #isCollectorMissing}); elsewhere once per connection, before its data (section
 *     8.1). Templates are never withdrawn or redefined.</li>
 * <li>Export Time never goes back (section 8.2). Every {@code nowMs} is in milliseconds since the UNIX epoch.</li>
 * <li>While there is no connection, records wait in the one open message, which survives until the next connection; beyond that
 *     they are discarded and counted, or the caller is {@link #BLOCKED} if the session is lossless.</li>
 * <li>With a handler of {@linkplain SessionSettings#unsentRecords unsent records}, no record waits without a connection:
 *     undelivered records of a broken connection are returned, and none is discarded for lack of room.</li>
 * </ul>
 * One thread calls everything except {@link #statistics()}, whose values any thread may read. The session owns its buffers; the
 * caller owns a claim until commit or abort. Allocates at construction and when a template is new; never per record or message
 * (unless checksums are on).
 */
public final class ExportingSession implements AutoCloseable {
    /** The record was discarded and counted; the caller drops it. */
    public static final int NOT_SENT = -1;
    /** A lossless session has no room now; the caller keeps the record and tries again after a {@link #doWork}. */
    public static final int BLOCKED = -2;

    private static final int LEDGER_CAPACITY = 16_384;
    private static final int RETAINED_MESSAGES = 4;
    private static final long MILLISECONDS_PER_SECOND = 1_000L;
    private static final long CLOSE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Transport transport;
    private final boolean isDatagram;
    private final int observationDomainId;
    private final long maxLingerMs;
    private boolean lossless;
    private final MessageBuilder message;
    private final MessageBuilder announcement;
    private final MessageChecksum checksum;
    private final ActiveTemplates templates;
    private final SessionStatistics statistics = new SessionStatistics();
    private final UnsentRecords unsentRecords;
    private final RetainedMessages retained;
    private final RecordAccounts accounts = new RecordAccounts(statistics, LEDGER_CAPACITY);
    private final DatagramPeer peer;

    private Template claimedTemplate;
    private int claimedLengthBytes;
    private long claimedPackets;
    private long claimedOctets;

    private long messageSequence;
    private long messageOpenedMs;
    private long exportTimeSeconds;

    private boolean inSession;
    private boolean isCarrying;
    private boolean isRefreshing;
    private boolean isLastSendFailed;
    private long connectionCount;
    private long handedOctets;
    private boolean isClosed;

    /**
     * A session that begins with the transport's first connection.
     *
     * @param transport to send by; the session closes it.
     * @param settings  copied.
     * @param catalog   the source of the caller's templates.
     */
    public ExportingSession(final Transport transport, final SessionSettings settings, final TemplateCatalog catalog) {
        final int maxMessageBytes = settings.maxMessageBytes(transport.kind());
        this.transport = transport;
        this.isDatagram = transport.kind() == TransportKind.DATAGRAM;
        this.observationDomainId = settings.observationDomainId();
        this.maxLingerMs = settings.maxLingerMs();
        this.lossless = settings.lossless();
        this.checksum = settings.messageChecksum() ? new MessageChecksum(catalog, maxMessageBytes) : null;
        this.message = new MessageBuilder(maxMessageBytes, checksum == null ? 0 : MessageChecksum.LENGTH_BYTES);
        this.announcement = new MessageBuilder(maxMessageBytes, 0);
        this.templates = new ActiveTemplates(settings, isDatagram);
        this.peer = new DatagramPeer(transport, templates, accounts, statistics);
        this.unsentRecords = settings.unsentRecords();
        this.retained = unsentRecords == null ? null :
            new RetainedMessages(settings.unsentBytes() + RETAINED_MESSAGES * maxMessageBytes, LEDGER_CAPACITY);
    }

    /**
     * From now on discards and counts records without room instead of returning {@link #BLOCKED}, for a caller that has waited
     * long enough. Only for the session's thread.
     */
    public void stopWaiting() {
        lossless = false;
    }

    /** {@return the buffer that claims point into} */
    public MutableDirectBuffer buffer() {
        return message.buffer();
    }

    /** {@return the counters; safe to read from any thread} */
    public SessionStatistics statistics() {
        return statistics;
    }

    /** {@return the transport, whose name, state and last error any thread may read} */
    public Transport transport() {
        return transport;
    }

    /** {@return whether there is a connection that records can be handed to} */
    public boolean isReady() {
        return inSession && transport.isConnected();
    }

    /** {@return whether nothing is connected or, over UDP, a message was refused and none has gone for 2 s since without} */
    public boolean isCollectorMissing() {
        return !transport.isConnected() || peer.isMissing();
    }

    /** Counts flow records as failed that were kept for this session and lost. */
    public void onLost(final long records, final long packets, final long octets) {
        expectClaimed(false);
        accounts.onLost(inSession, records, packets, octets);
        if (message.isEmpty()) {
            messageSequence = accounts.sequence();
        }
    }

    /** {@return number of Transport Sessions begun; when it changes, options due once a session are due} */
    public long transportSessionCount() {
        return connectionCount;
    }

    /** {@return the longest record that a message can hold} */
    public int maxRecordBytes() {
        return message.maxRecordBytes();
    }

    /** Finds room for a record that stands for no packets, see {@link #claim(Template, int, long, long, long)}. */
    public int claim(final Template template, final int recordLengthBytes, final long nowMs) {
        return claim(template, recordLengthBytes, nowMs, 0, 0);
    }

    /**
     * Finds room for a record that stands for packets, which are reported if it is lost (RFC 7011 section 4.3).
     *
     * @param template          of the record; always from the same catalog.
     * @param recordLengthBytes of the record, at most; see {@link #commit(int)}.
     * @param packets           number that the record stands for.
     * @param octets            number that the record stands for.
     * @return where in {@link #buffer()} to write it, or {@link #NOT_SENT}, or {@link #BLOCKED}.
     */
    public int claim(
        final Template template, final int recordLengthBytes, final long nowMs, final long packets, final long octets) {
        expectClaimed(false);
        claimedPackets = packets;
        claimedOctets = octets;
        if (recordLengthBytes > message.maxRecordBytes()) {
            return discard(template, SessionCounter.RECORDS_FAILED_TOO_LONG);
        }
        if (isTransportFinished()) {
            return discard(template, SessionCounter.RECORDS_FAILED_TRANSPORT_DOWN);
        }
        if (retained != null && !isReady()) {
            return BLOCKED;
        }
        final ActiveTemplates.Entry entry = templates.entry(template);
        final int offset = findRoom(entry, recordLengthBytes, nowMs);
        if (offset == MessageBuilder.NO_ROOM || retained != null && !inSession) {
            return refuse(template);
        }
        claimedTemplate = template;
        claimedLengthBytes = recordLengthBytes;
        return offset;
    }

    /** Makes the claimed record part of the message. */
    public void commit() {
        commit(claimedLengthBytes);
    }

    /** Makes the claimed record part of the message, at a length up to the claimed one. */
    public void commit(final int recordLengthBytes) {
        expectClaimed(true);
        checkLength(recordLengthBytes);
        message.commit(claimedTemplate, recordLengthBytes);
        templates.entry(claimedTemplate).onUsedInMessage();
        accounts.onCommitted(claimedTemplate.isOptions(), claimedPackets, claimedOctets);
        claimedTemplate = null;
    }

    /** Releases the claim; nothing is counted. */
    public void abort() {
        expectClaimed(true);
        claimedTemplate = null;
    }

    /**
     * The duty cycle: connects, drains, sends messages whose time is up, repeats templates. Returns how much was done, 0 for
     * nothing.
     */
    public int doWork(final long nowMs) {
        expectClaimed(false);
        int workCount = workTransport(nowMs);
        if (!message.isEmpty() && isMessageDue(nowMs) && send(nowMs)) {
            workCount++;
        }
        if (isDatagram) {
            workCount += refreshTemplates(nowMs);
        }
        if (peer.isMissing()) {
            peer.check(nowMs);
        }
        return workCount;
    }

    /**
     * Sends the open message and drains the transport as far as possible without waiting. Returns whether no record is left
     * waiting.
     */
    public boolean flush(final long nowMs) {
        expectClaimed(false);
        if (!message.isEmpty() && !send(nowMs)) {
            return false;
        }
        final boolean isDrained = transport.flush(nowMs);
        trackConnection(nowMs);
        if (isDatagram) {
            peer.check(nowMs);
        }
        return (isDrained || isTransportFinished()) && accounts.isNothingWaiting();
    }

    /**
     * Flushes, then closes the connection to the collector in order, as far as that is possible without waiting. No record can be
     * put afterwards. Returns whether no record is waiting and {@link #close()} loses nothing that is under way.
     */
    public boolean finish(final long nowMs) {
        if (!flush(nowMs)) {
            return false;
        }
        final boolean isFinished = transport.finish(nowMs);
        trackConnection(nowMs);
        return isFinished;
    }

    /** Finishes within the timeout, then closes. Blocks, with short pauses. Returns whether no record was left waiting. */
    public boolean close(final EpochClock clock, final long timeoutMs) {
        final long beginMs = clock.time();
        boolean isFinished = finish(beginMs);
        long nowMs = beginMs;
        while (!isFinished && nowMs - beginMs < timeoutMs && nowMs >= beginMs) {
            if (workTransport(nowMs) == 0) {
                LockSupport.parkNanos(CLOSE_PAUSE_NS);
            }
            nowMs = clock.time();
            isFinished = finish(nowMs);
        }
        final boolean isFlushed = flush(nowMs);
        close();
        return isFlushed;
    }

    /** Closes session and transport at once; waiting records count as failed. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            settle();
            if (retained != null) {
                returnUnsent();
            }
            accounts.failMessage(SessionCounter.RECORDS_FAILED_AT_CLOSE);
            accounts.failUndelivered(SessionCounter.RECORDS_FAILED_AT_CLOSE);
            transport.close();
            if (retained != null) {
                retained.close();
            }
        }
    }

    private void checkLength(final int recordLengthBytes) {
        final int minLengthBytes = claimedTemplate.minLengthBytes();
        final int maxLengthBytes = claimedTemplate.isVariableLength() ? claimedLengthBytes : minLengthBytes;
        if (recordLengthBytes < minLengthBytes || recordLengthBytes > maxLengthBytes) {
            throw new IllegalArgumentException("recordLengthBytes=" + recordLengthBytes + " is outside " + minLengthBytes +
                " to " + maxLengthBytes + " for " + claimedTemplate);
        }
    }

    private int findRoom(final ActiveTemplates.Entry entry, final int recordLengthBytes, final long nowMs) {
        while (true) {
            if (!message.isEmpty() || !templates.isAnyDue()) {
                final int offset =
                    entry.isAnnounced() ? message.claim(entry.template(), recordLengthBytes) : MessageBuilder.NO_ROOM;
                if (offset != MessageBuilder.NO_ROOM) {
                    onOpening(nowMs);
                    return offset;
                }
                if (!send(nowMs)) {
                    return MessageBuilder.NO_ROOM;
                }
            }
            if (!beginMessage(entry, SetHeader.LENGTH_BYTES + recordLengthBytes, nowMs)) {
                return MessageBuilder.NO_ROOM;
            }
        }
    }

    private void onOpening(final long nowMs) {
        if (accounts.isMessageWithoutRecords()) {
            messageOpenedMs = nowMs;
        }
    }

    /** Begins a message with the templates that are due; those that leave no room for data go into messages before it. */
    private boolean beginMessage(final ActiveTemplates.Entry first, final int reserveBytes, final long nowMs) {
        while (!putDueTemplates(first, reserveBytes)) {
            putDueTemplates(first, 0);
            messageOpenedMs = nowMs;
            if (!send(nowMs) || isLastSendFailed) {
                return false;
            }
        }
        return true;
    }

    private boolean putDueTemplates(final ActiveTemplates.Entry first, final int reserveBytes) {
        boolean isComplete = checksum == null || templates.entry(checksum.template()).putDue(message, reserveBytes);
        isComplete &= first == null || first.putDue(message, reserveBytes);
        return isComplete & templates.putDue(message, reserveBytes);
    }

    private boolean isMessageDue(final long nowMs) {
        return accounts.isMessageWithoutRecords() || nowMs < messageOpenedMs || nowMs - messageOpenedMs >= maxLingerMs;
    }

    /** Sends the open message; true if it was sent or failed. */
    private boolean send(final long nowMs) {
        if (message.isEmpty() || trySend(nowMs)) {
            return true;
        }
        workTransport(nowMs);
        return trySend(nowMs);
    }

    private boolean trySend(final long nowMs) {
        trackConnection(nowMs);
        if (message.isEmpty()) {
            return true;
        }
        if (isTransportFinished()) {
            dropMessage(SessionCounter.RECORDS_FAILED_TRANSPORT_DOWN);
            return true;
        }
        if (!inSession || isHoldingAllItMay()) {
            return false;
        }
        isCarrying |= isDatagram && peer.isOwedTemplates(nowMs);
        SendResult result = isCarrying ? announceCarried(nowMs) : SendResult.SENT;
        if (result == SendResult.SENT) {
            final int lengthBytes = finishMessage(nowMs);
            result = transport.send(message.buffer(), 0, lengthBytes);
            if (result == SendResult.SENT) {
                onSent(lengthBytes, nowMs);
                return true;
            }
        }
        if (result == SendResult.FAILED && (isTransportFinished() || transport.isConnected())) {
            trackConnection(nowMs);
            dropMessage(SessionCounter.RECORDS_FAILED_SEND_ERROR);
        } else if (retained != null) {
            trackConnection(nowMs);
        }
        return message.isEmpty();
    }

    private boolean isHoldingAllItMay() {
        return accounts.isLedgerFull() ||
            retained != null && !retained.hasRoom(message.lengthBytes() + (checksum == null ? 0 : MessageChecksum.LENGTH_BYTES));
    }

    private int finishMessage(final long nowMs) {
        exportTimeSeconds = Math.max(exportTimeSeconds, Math.floorDiv(nowMs, MILLISECONDS_PER_SECOND));
        final int setOffset = message.lengthBytes();
        final int lengthBytes = hasChecksum() ? setOffset + MessageChecksum.LENGTH_BYTES : setOffset;
        message.finish(lengthBytes, exportTimeSeconds, messageSequence, observationDomainId);
        if (hasChecksum()) {
            checksum.put(message.buffer(), setOffset);
            checksum.seal(message.buffer(), setOffset);
        }
        return lengthBytes;
    }

    private boolean hasChecksum() {
        return checksum != null && templates.entry(checksum.template()).isAnnounced();
    }

    private void onSent(final int lengthBytes, final long nowMs) {
        isLastSendFailed = false;
        final boolean hasData = !accounts.isMessageWithoutRecords();
        if (hasChecksum()) {
            accounts.onCommitted(true, 0, 0);
        }
        countMessage(lengthBytes, templates.onMessageSent(), hasData, nowMs);
        accounts.onMessageSent(handedOctets);
        if (retained != null) {
            retained.add(message.buffer(), lengthBytes, handedOctets);
        }
        openNextMessage();
        settle();
        if (isDatagram && hasData) {
            templates.onDataSent();
        }
    }

    private void countMessage(
        final int lengthBytes, final int templatesInMessage, final boolean hasData, final long nowMs) {
        if (isDatagram) {
            peer.onSent(lengthBytes, hasData, nowMs);
        }
        handedOctets += lengthBytes;
        statistics.begin();
        statistics.add(SessionCounter.MESSAGES, 1);
        statistics.add(SessionCounter.OCTETS, lengthBytes);
        statistics.add(SessionCounter.TEMPLATES_SENT, templatesInMessage);
        statistics.set(SessionCounter.TEMPLATES_ACTIVE, templates.size());
        statistics.end();
    }

    private void openNextMessage() {
        message.clear();
        messageSequence = accounts.sequence();
    }

    private int refreshTemplates(final long nowMs) {
        isRefreshing |= inSession && templates.refreshInTime(nowMs);
        int workCount = 0;
        while (isRefreshing && send(nowMs)) {
            putDueTemplates(null, 0);
            isRefreshing = !message.isEmpty() && !isLastSendFailed;
            workCount++;
        }
        return workCount;
    }

    private int workTransport(final long nowMs) {
        final int workCount = transport.doWork(nowMs);
        trackConnection(nowMs);
        return workCount;
    }

    /** Settles delivered messages and detects new and lost connections. */
    private void trackConnection(final long nowMs) {
        if (!isDatagram) {
            statistics.set(SessionCounter.PEER_LOSSES, transport.peerLossCount());
        }
        final boolean isNew = transport.connectionCount() != connectionCount;
        if (inSession) {
            if (!isNew) {
                settle();
            }
            if (isNew || !transport.isConnected()) {
                endSession();
            }
        }
        if (isNew && transport.isConnected()) {
            beginSession(nowMs);
        }
    }

    private void endSession() {
        inSession = false;
        final boolean isBroken = transport.kind() == TransportKind.STREAM;
        if (isBroken) {
            accounts.markUncertain(transport.deliveredOctets() - transport.uncertainOctets());
        }
        if (retained != null) {
            returnUnsent();
        } else {
            accounts.failUndelivered(
                isBroken ? SessionCounter.RECORDS_FAILED_CONNECTION_BROKEN : SessionCounter.RECORDS_FAILED_SEND_ERROR);
        }
    }

    private void settle() {
        final long deliveredOctets = transport.deliveredOctets();
        accounts.onDelivered(deliveredOctets);
        if (retained != null) {
            retained.onDelivered(deliveredOctets);
        }
    }

    /** The receiver of the records takes them over before this session drops them from its accounts. */
    private void returnUnsent() {
        retained.forEach(templates, unsentRecords);
        if (!message.isEmpty()) {
            message.finish(message.lengthBytes(), exportTimeSeconds, messageSequence, observationDomainId);
            RetainedMessages.forEach(message.buffer(), 0, message.lengthBytes(), templates, unsentRecords);
        }
        unsentRecords.onUnsentEnd();
        retained.clear();
        accounts.returnUnsent();
        templates.onMessageDropped();
        openNextMessage();
    }

    private void beginSession(final long nowMs) {
        statistics.begin();
        statistics.add(SessionCounter.RECONNECTS, connectionCount == 0 || transport.isContinued() ? 0 : 1);
        statistics.end();
        connectionCount = transport.connectionCount();
        inSession = true;
        if (transport.isContinued()) {
            handedOctets = transport.deliveredOctets();
        } else {
            handedOctets = 0;
            messageSequence = 0;
            accounts.restartSequence();
        }
        templates.onNewSession(nowMs); // a continued one may have lost them with undelivered messages
        isCarrying = templates.isAnyMissingForMessage();
    }

    /** Sends the templates of the open message that the collector may not have ahead of it. */
    private SendResult announceCarried(final long nowMs) {
        exportTimeSeconds = Math.max(exportTimeSeconds, Math.floorDiv(nowMs, MILLISECONDS_PER_SECOND));
        while (templates.isAnyMissingForMessage()) {
            announcement.clear();
            final int templateCount = templates.putMissing(announcement);
            announcement.finish(announcement.lengthBytes(), exportTimeSeconds, messageSequence, observationDomainId);
            final SendResult result = transport.send(announcement.buffer(), 0, announcement.lengthBytes());
            if (result != SendResult.SENT) {
                trackConnection(nowMs);
                return result;
            }
            templates.onAnnouncementSent();
            countMessage(announcement.lengthBytes(), templateCount, false, nowMs);
        }
        isCarrying = false;
        return SendResult.SENT;
    }

    private void dropMessage(final SessionCounter reason) {
        isLastSendFailed = true;
        accounts.failMessage(reason);
        templates.onMessageDropped();
        openNextMessage();
        statistics.begin();
        statistics.add(SessionCounter.MESSAGES_FAILED, 1);
        statistics.end();
    }

    private int refuse(final Template template) {
        if ((lossless || retained != null) && !isTransportFinished()) {
            return BLOCKED;
        }
        if (!transport.isConnected()) {
            return discard(template, SessionCounter.RECORDS_FAILED_TRANSPORT_DOWN);
        }
        return discard(template, isLastSendFailed ?
            SessionCounter.RECORDS_FAILED_SEND_ERROR : SessionCounter.RECORDS_FAILED_BUFFER_FULL);
    }

    private int discard(final Template template, final SessionCounter reason) {
        accounts.onDiscarded(template.isOptions(), reason, claimedPackets, claimedOctets);
        if (message.isEmpty()) {
            messageSequence = accounts.sequence();
        }
        return NOT_SENT;
    }

    private boolean isTransportFinished() {
        final TransportState state = transport.state();
        return state == TransportState.FAILED || state == TransportState.CLOSED;
    }

    private void expectClaimed(final boolean expected) {
        if (expected != (claimedTemplate != null)) {
            throw new IllegalStateException(expected ? "nothing is claimed" : "a claim is neither committed nor aborted");
        }
    }
}
