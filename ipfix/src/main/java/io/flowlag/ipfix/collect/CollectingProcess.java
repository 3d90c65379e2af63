package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import org.agrona.DirectBuffer;

/**
 * A Collecting Process without sockets (RFC 7011 sections 8 and 9): messages of any number of Transport Sessions in, records out.
 * A message is verified as a whole, then decoded. A refused message is counted and changes nothing else.
 *
 * <p>One thread calls all methods. The buffers belong to the caller. Allocates for sessions, domains, new templates and type
 * records; never for a message of known templates, nor for its records.
 */
public final class CollectingProcess {
    private final ElementRegistry registry;
    private final CollectorLimits limits;
    private final CounterSet<CollectorCounter> counters;
    private final RecordHandler handler;
    private final MessageVerifier verifier;
    private final CollectedRecord record = new CollectedRecord();
    private final UseOrder<TransportSession> sessions = new UseOrder<>();
    private int sessionCount;
    private int templateFieldCount;
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
        this.registry = registry;
        this.limits = limits;
        this.counters = counters;
        this.handler = handler;
        this.verifier = new MessageVerifier(limits);
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

    /** {@return fields of all templates of all sessions; never more than the limit} */
    public int templateFieldCount() {
        return templateFieldCount;
    }

    /**
     * Begins a Transport Session.
     *
     * @param peer the exporter's address and port, or the file; for messages.
     * @return the session, to be closed by {@link #closeSession}.
     */
    public TransportSession openSession(final SessionKind kind, final String peer) {
        final ElementView view = new ElementView(registry, limits, counters);
        final TransportSession session = new TransportSession(kind, peer, limits, counters, view);
        sessions.add(session);
        sessionCount++;
        counters.increment(CollectorCounter.SESSIONS_OPENED);
        return session;
    }

    /** Ends a Transport Session: its templates are gone (RFC 7011 section 8.1). It must not be used again. */
    public void closeSession(final TransportSession session) {
        templateFieldCount -= session.templateFieldCount();
        sessions.remove(session);
        sessionCount--;
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
        final MessageResult result = verifier.verify(session, buffer, offset, lengthBytes, nowNs);
        counters.increment(result.counter());
        if (result.isAccepted()) {
            sessions.touch(session);
            session.onAccepted();
            decode(session, buffer, offset, lengthBytes, nowNs);
        }
        return result;
    }

    private void decode(
        final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final long nowNs) {
        final ObservationDomain domain = domain(session, MessageHeader.observationDomainId(buffer, offset));
        record.wrapMessage(session, buffer, offset);
        int recordCount = 0;
        boolean isCountCertain = true;
        int setOffset = offset + MessageHeader.LENGTH_BYTES;
        while (setOffset < offset + lengthBytes) {
            final int setId = SetHeader.setId(buffer, setOffset);
            final int setLimit = setOffset + SetHeader.setLengthBytes(buffer, setOffset);
            if (setId == SetHeader.TEMPLATE_SET_ID || setId == SetHeader.OPTIONS_TEMPLATE_SET_ID) {
                applyTemplates(session, domain, setOffset, nowNs);
            } else {
                final int setRecordCount = decodeDataSet(session, domain, buffer, setOffset, setLimit, nowNs);
                isCountCertain &= setRecordCount >= 0;
                recordCount += Math.max(0, setRecordCount);
            }
            setOffset = setLimit;
        }
        domain.sequence().onMessage(
            record.sequenceNumber(), record.exportTimeSeconds(), recordCount, isCountCertain);
        resolveLearned(session);
    }

    private ObservationDomain domain(final TransportSession session, final int domainId) {
        final int before = session.templateFieldCount();
        final ObservationDomain domain = session.domain(domainId);
        templateFieldCount += session.templateFieldCount() - before;
        return domain;
    }

    private void applyTemplates(
        final TransportSession session, final ObservationDomain domain, final int setOffset, final long nowNs) {
        TemplateActions.Action action;
        while ((action = verifier.actions().next(setOffset)) != null) {
            final int before = session.templateFieldCount();
            apply(session, domain, action, nowNs);
            templateFieldCount += session.templateFieldCount() - before;
            if (templateFieldCount > limits.maxTemplateFields()) {
                keepTemplateBudget(session);
            }
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

    /** Drops templates of the sessions silent longest; those of the requesting session last. */
    private void keepTemplateBudget(final TransportSession asking) {
        TransportSession victim = sessions.oldest();
        while (victim != null && templateFieldCount > limits.maxTemplateFields()) {
            templateFieldCount -= victim.templateFieldCount();
            if (victim == asking) {
                victim.dropOldTemplates(limits.maxTemplateFields());
                templateFieldCount += victim.templateFieldCount();
            } else {
                victim.dropOldTemplates(0);
            }
            victim = victim.newer;
        }
    }

    /** Returns the number of records, or -1 if it is unknown because the template is missing. */
    private int decodeDataSet(
        final TransportSession session, final ObservationDomain domain, final DirectBuffer buffer, final int setOffset,
        final int setLimit, final long nowNs) {
        final int before = session.templateFieldCount();
        final CollectedTemplate template = session.use(domain, SetHeader.setId(buffer, setOffset), nowNs);
        templateFieldCount += session.templateFieldCount() - before;
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
