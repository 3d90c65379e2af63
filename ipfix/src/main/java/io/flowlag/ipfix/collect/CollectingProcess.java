package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import org.agrona.DirectBuffer;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;

/**
 * A Collecting Process without sockets (RFC 7011 sections 8 and 9): messages of any number of Transport Sessions in, records out.
 * A message is verified as a whole, then decoded, or, if the process has a {@link MessageHandler}, handed on as it is. A refused
 * message is counted and changes nothing else. When all sessions together hold more than the limit, those of the address that
 * holds most lose their templates.
 *
 * <p>One thread calls all methods. The buffers belong to the caller. Allocates for sessions, domains, new templates and type
 * records; never for a message of known templates, nor for its records.
 */
public final class CollectingProcess {
    private final ElementRegistry registry;
    private final CollectorLimits limits;
    private final CounterSet<CollectorCounter> counters;
    private final RecordHandler handler;
    /** Null where messages are decoded. */
    private final MessageHandler messages;
    private final MessageVerifier verifier;
    private final CollectedRecord record = new CollectedRecord();
    private final Map<ByteBuffer, PeerAddress> addresses = new HashMap<>();
    /** Stands for peers that have no session. */
    private final TransportSession stranger;
    private int sessionCount;
    private int heldCount;
    private boolean hasLearned;

    /**
     * A process with no session.
     *
     * @param registry the known elements; usually {@link ElementRegistry#iana()} plus known enterprise elements.
     * @param limits   on the memory that peers can use.
     */
    public CollectingProcess(
        final ElementRegistry registry, final CollectorLimits limits, final CounterSet<CollectorCounter> counters,
        final RecordHandler handler) {
        this(registry, limits, counters, handler, null);
    }

    /**
     * A process with no session that hands messages on, undecoded. It keeps templates, so that it knows valid messages.
     *
     * @param limits on the memory that peers can use.
     */
    public CollectingProcess(
        final CollectorLimits limits, final CounterSet<CollectorCounter> counters, final MessageHandler messages) {
        this(ElementRegistry.iana(), limits, counters, (record) -> { }, messages);
    }

    private CollectingProcess(
        final ElementRegistry registry, final CollectorLimits limits, final CounterSet<CollectorCounter> counters,
        final RecordHandler handler, final MessageHandler messages) {
        this.registry = registry;
        this.limits = limits;
        this.counters = counters;
        this.handler = handler;
        this.messages = messages;
        this.verifier = new MessageVerifier(limits);
        this.stranger = session(SessionKind.UDP, "a peer without session", null, new PeerAddress(PeerAddress.LOCAL));
    }

    public CounterSet<CollectorCounter> counters() {
        return counters;
    }

    public CollectorLimits limits() {
        return limits;
    }

    public int sessionCount() {
        return sessionCount;
    }

    /** {@return what all sessions hold, see {@link TransportSession#heldCount()}; never more than the limit} */
    public int heldCount() {
        return heldCount;
    }

    /**
     * Begins a Transport Session.
     *
     * @param peer the exporter's address and port, or the file; for messages.
     * @return the session, to be closed by {@link #closeSession}.
     */
    public TransportSession openSession(final SessionKind kind, final String peer) {
        return openSession(kind, peer, null, PeerAddress.LOCAL);
    }

    /** Begins a Transport Session of an exporter at an address, to be closed by {@link #closeSession}. */
    public TransportSession openSession(final SessionKind kind, final InetSocketAddress peer) {
        return openSession(
            kind, peer.getAddress().getHostAddress() + ':' + peer.getPort(), peer, PeerAddress.key(peer.getAddress()));
    }

    private TransportSession openSession(
        final SessionKind kind, final String peer, final InetSocketAddress source, final ByteBuffer key) {
        sessionCount++;
        counters.increment(CollectorCounter.SESSIONS_OPENED);
        return session(kind, peer, source, addresses.computeIfAbsent(key, PeerAddress::new));
    }

    private TransportSession session(
        final SessionKind kind, final String peer, final InetSocketAddress source, final PeerAddress address) {
        final ElementView view = new ElementView(registry, limits, counters);
        final TransportSession session = new TransportSession(kind, peer, source, address, limits, counters, view);
        address.add(session);
        return session;
    }

    /** Ends a Transport Session: its templates are gone (RFC 7011 section 8.1). It must not be used again. */
    public void closeSession(final TransportSession session) {
        if (!isDecoding()) {
            messages.onEnd(session);
        }
        final PeerAddress address = session.address();
        hold(address, -session.heldCount());
        address.remove(session);
        if (address.sessionCount() == 0) {
            addresses.remove(address.key());
        }
        sessionCount--;
    }

    /** The sessions of an address, and at least {@link PeerAddress#PLACES}. */
    int crowd(final InetSocketAddress peer) {
        final PeerAddress address = addresses.get(PeerAddress.key(peer.getAddress()));
        return address == null ? PeerAddress.PLACES : address.crowd();
    }

    /** Whether it decodes messages itself, and so needs their templates. */
    boolean isDecoding() {
        return messages == null;
    }

    /** The session for messages of peers that have none. */
    TransportSession stranger() {
        return stranger;
    }

    /** Whether a peer's first message is valid and has a template. Counts nothing. */
    boolean isIntroduction(final DirectBuffer buffer, final int offset, final int lengthBytes, final long nowNs) {
        return verifier.verify(stranger, buffer, offset, lengthBytes, nowNs).isAccepted() && verifier.actions().isInstalling();
    }

    /**
     * Takes one message.
     *
     * @param offset      of its first octet.
     * @param lengthBytes how many octets came; must be the length in its header.
     * @param nowNs       a monotonic clock, for the lifetime of templates.
     * @return {@link MessageResult#ACCEPTED}, or why it was refused.
     */
    public MessageResult onMessage(
        final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final long nowNs) {
        counters.increment(CollectorCounter.MESSAGES);
        counters.add(CollectorCounter.OCTETS, lengthBytes);
        final int heldBefore = session.heldCount();
        final MessageResult result = verifier.verify(session, buffer, offset, lengthBytes, nowNs);
        counters.increment(result.counter());
        if (result.isAccepted()) {
            session.onAccepted(nowNs);
            decode(session, buffer, offset, lengthBytes, nowNs, isDecoding());
            if (!isDecoding()) {
                messages.onMessage(session, buffer, offset, lengthBytes);
            }
        }
        if (session != stranger) {
            hold(session.address(), session.heldCount() - heldBefore);
            keepLimit(session);
        }
        return result;
    }

    /**
     * Takes the templates of a message that came before, and nothing else; for a session that goes on in another process.
     *
     * @param lengthBytes as of {@link #onMessage}.
     */
    public void restore(
        final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes, final long nowNs) {
        final int heldBefore = session.heldCount();
        if (verifier.verify(session, buffer, offset, lengthBytes, nowNs).isAccepted()) {
            decode(session, buffer, offset, lengthBytes, nowNs, false);
        }
        hold(session.address(), session.heldCount() - heldBefore);
        keepLimit(session);
    }

    /** Takes what was known of a domain's sequence numbers; for a session that goes on in another process. */
    public void restore(final TransportSession session, final int domainId, final SequenceState state) {
        final int heldBefore = session.heldCount();
        session.domain(domainId).sequence().restore(state);
        hold(session.address(), session.heldCount() - heldBefore);
        keepLimit(session);
    }

    private void decode(
        final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final long nowNs, final boolean hasRecords) {
        final int domainId = MessageHeader.observationDomainId(buffer, offset);
        final ObservationDomain domain =
            verifier.actions().isInstalling() ? session.domain(domainId) : session.findDomain(domainId);
        record.wrapMessage(session, buffer, offset);
        int recordCount = 0;
        boolean isCountCertain = true;
        int setOffset = offset + MessageHeader.LENGTH_BYTES;
        while (setOffset < offset + lengthBytes) {
            final int setId = SetHeader.setId(buffer, setOffset);
            final int setLimit = setOffset + SetHeader.setLengthBytes(buffer, setOffset);
            if (setId == SetHeader.TEMPLATE_SET_ID || setId == SetHeader.OPTIONS_TEMPLATE_SET_ID) {
                applyTemplates(session, domain, setOffset, nowNs);
            } else if (hasRecords) {
                final int setRecordCount = decodeDataSet(session, domain, buffer, setOffset, setLimit, nowNs);
                isCountCertain &= setRecordCount >= 0;
                recordCount += Math.max(0, setRecordCount);
            }
            setOffset = setLimit;
        }
        if (domain != null && hasRecords) {
            domain.sequence().onMessage(
                record.sequenceNumber(), record.exportTimeSeconds(), recordCount, isCountCertain);
        }
        session.onRecords(recordCount);
        resolveLearned(session);
    }

    private void applyTemplates(
        final TransportSession session, final ObservationDomain domain, final int setOffset, final long nowNs) {
        TemplateActions.Action action;
        while ((action = verifier.actions().next(setOffset)) != null) {
            apply(session, domain, action, nowNs);
        }
    }

    private static void apply(
        final TransportSession session, final ObservationDomain domain, final TemplateActions.Action action,
        final long nowNs) {
        switch (action.kind()) {
            case INSTALL -> session.install(domain, action.template(), nowNs);
            case REFRESH -> {
                if (action.template().domain == domain) {
                    session.refresh(action.template(), nowNs);
                } else {
                    session.install(domain, action.template(), nowNs);
                }
            }
            case WITHDRAW -> session.withdraw(domain, action.templateId());
            case WITHDRAW_ALL -> session.withdrawAll(domain, false);
            default -> session.withdrawAll(domain, true);
        }
    }

    private void hold(final PeerAddress address, final int addedCount) {
        address.hold(addedCount);
        heldCount += addedCount;
    }

    /** Above the limit an address that holds more than its share gives way: the one that asks, or the one that holds most. */
    private void keepLimit(final TransportSession asking) {
        while (heldCount > limits.maxTemplateFields()) {
            dropSome(asking.address().heldCount() > limits.maxTemplateFields() / addresses.size() ?
                asking.address() : Collections.max(addresses.values(), Comparator.comparingInt(PeerAddress::heldCount)));
        }
    }

    /** The sessions silent longest lose all that they hold, until the rest fits. The last one keeps what fits. */
    private void dropSome(final PeerAddress address) {
        TransportSession victim = address.sessions().oldest();
        while (victim != null && heldCount > limits.maxTemplateFields()) {
            final int before = victim.heldCount();
            victim.drop(victim.newer == null ? Math.max(0, before - (heldCount - limits.maxTemplateFields())) : 0);
            hold(address, victim.heldCount() - before);
            victim = victim.newer;
        }
    }

    /** Returns the number of records, or -1 if it is unknown because the template is missing. */
    private int decodeDataSet(
        final TransportSession session, final ObservationDomain domain, final DirectBuffer buffer, final int setOffset,
        final int setLimit, final long nowNs) {
        final CollectedTemplate template = session.use(domain, SetHeader.setId(buffer, setOffset), nowNs);
        if (template == null) {
            counters.increment(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE);
            return -1;
        }
        record.wrapTemplate(template);
        final int minLengthBytes = template.template().minLengthBytes();
        int recordOffset = setOffset + SetHeader.LENGTH_BYTES;
        int recordCount = 0;
        while (setLimit - recordOffset >= minLengthBytes) {
            recordOffset = record.wrapRecord(recordOffset);
            onRecord(session, template);
            recordCount++;
        }
        checkPadding(buffer, recordOffset, setLimit);
        counters.add(
            record.isOptions() ? CollectorCounter.OPTIONS_RECORDS : CollectorCounter.RECORDS, recordCount);
        return recordCount;
    }

    private void onRecord(final TransportSession session, final CollectedTemplate template) {
        if (template.typeRecordLayout() != null) {
            learn(session, template.typeRecordLayout());
        }
        handler.onRecord(record);
    }

    private void learn(final TransportSession session, final TypeRecordLayout layout) {
        final InformationElement described = layout.read(record);
        if (described == null) {
            counters.increment(CollectorCounter.ELEMENTS_REFUSED);
        } else {
            hasLearned |= session.view().learn(described);
        }
    }

    private void resolveLearned(final TransportSession session) {
        if (hasLearned) {
            hasLearned = false;
            session.resolveElements();
        }
    }

    private void checkPadding(final DirectBuffer buffer, final int offset, final int limit) {
        for (int i = offset; i < limit; i++) {
            if (buffer.getByte(i) != 0) {
                counters.increment(CollectorCounter.PADDING_NOT_ZERO);
                return;
            }
        }
    }
}
