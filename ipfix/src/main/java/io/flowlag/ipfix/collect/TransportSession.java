package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.template.Template;
import org.agrona.collections.Int2ObjectHashMap;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One Transport Session (RFC 7011 section 2): the scope of templates, learned elements and sequence numbers. Made by {@link
 * CollectingProcess#openSession}, used only by the process's thread. Allocates when a domain or a template is new.
 */
public final class TransportSession extends UseOrder.Entry<TransportSession> {
    /** The first one gives way to a new session: of the address with most sessions, without template, without record. */
    static final Comparator<TransportSession> FIRST_TO_GO = Comparator
        .<TransportSession>comparingInt(session -> -session.address.crowd())
        .thenComparingInt(session -> Math.min(session.templateCount, 1))
        .thenComparingLong(session -> Math.min(session.recordCount, 1));

    private final SessionKind kind;
    private final String peer;
    private final InetSocketAddress source;
    private final String host;
    private final PeerAddress address;
    private final CollectorLimits limits;
    private final CounterSet<CollectorCounter> counters;
    private final ElementView view;
    private final Int2ObjectHashMap<ObservationDomain> domains = new Int2ObjectHashMap<>();
    private final Map<Integer, ObservationDomain> domainsByAge = new LinkedHashMap<>();
    private final UseOrder<CollectedTemplate> templates = new UseOrder<>();
    private int templateCount;
    private int templateFieldCount;
    private long recordCount;
    private long lastMessageNs;

    TransportSession(
        final SessionKind kind, final String peer, final InetSocketAddress source, final PeerAddress address,
        final CollectorLimits limits, final CounterSet<CollectorCounter> counters, final ElementView view) {
        this.kind = kind;
        this.peer = peer;
        this.source = source;
        host = source == null ? "" : source.getAddress().getHostAddress();
        this.address = address;
        this.limits = limits;
        this.counters = counters;
        this.view = view;
    }

    /** {@return what carries the session} */
    public SessionKind kind() {
        return kind;
    }

    /** {@return the exporter's address and port, or the file} */
    public String peer() {
        return peer;
    }

    /** {@return the exporter's address and port; null for a file} */
    public InetSocketAddress source() {
        return source;
    }

    /** {@return the exporter's address as it is written; empty for a file} */
    public String host() {
        return host;
    }

    PeerAddress address() {
        return address;
    }

    /** Data records decoded. */
    long recordCount() {
        return recordCount;
    }

    /** When the last accepted message came; 0 before the first. */
    long lastMessageNs() {
        return lastMessageNs;
    }

    /** {@return templates alive, of all domains} */
    public int templateCount() {
        return templateCount;
    }

    /** {@return what it holds in memory: fields of templates, Observation Domains, and elements learned} */
    public int heldCount() {
        return templateFieldCount + domains.size() + view.learnedCount();
    }

    /** {@return Observation Domains known} */
    public int domainCount() {
        return domains.size();
    }

    /** {@return what is known of a domain's sequence numbers; null if nothing is} */
    public SequenceState sequence(final int domainId) {
        final ObservationDomain domain = domains.get(domainId);
        return domain == null ? null : domain.sequence().state();
    }

    void onAccepted(final long nowNs) {
        lastMessageNs = nowNs;
        address.sessions().touch(this);
    }

    void onRecords(final int count) {
        recordCount += count;
    }

    ElementView view() {
        return view;
    }

    /** The domain, or null if it has never had a template. */
    ObservationDomain findDomain(final int domainId) {
        return domains.get(domainId);
    }

    ObservationDomain domain(final int domainId) {
        final ObservationDomain known = domains.get(domainId);
        return known != null ? known : addDomain(domainId);
    }

    private ObservationDomain addDomain(final int domainId) {
        if (domains.size() >= limits.maxDomainsPerSession()) {
            final Iterator<ObservationDomain> byAge = domainsByAge.values().iterator();
            final ObservationDomain first = byAge.next();
            byAge.remove();
            domains.remove(first.domainId());
            new ArrayList<>(first.templates().values()).forEach(this::remove);
            counters.increment(CollectorCounter.DOMAINS_DROPPED);
        }
        final ObservationDomain added = new ObservationDomain(domainId, counters);
        domains.put(domainId, added);
        domainsByAge.put(domainId, added);
        return added;
    }

    /** The template, or null if it is unknown or expired. Changes nothing. */
    CollectedTemplate peek(final ObservationDomain domain, final int templateId, final long nowNs) {
        final CollectedTemplate template = domain == null ? null : domain.templates().get(templateId);
        return template == null || isExpired(template, nowNs) ? null : template;
    }

    /** The template for decoding, or null. An expired one is removed; a used one becomes the most recently used. */
    CollectedTemplate use(final ObservationDomain domain, final int templateId, final long nowNs) {
        final CollectedTemplate template = domain == null ? null : domain.templates().get(templateId);
        if (template == null) {
            return null;
        }
        if (isExpired(template, nowNs)) {
            remove(template);
            counters.increment(CollectorCounter.TEMPLATES_EXPIRED);
            return null;
        }
        templates.touch(template);
        return template;
    }

    void install(final ObservationDomain domain, final CollectedTemplate template, final long nowNs) {
        final CollectedTemplate before = domain.templates().get(template.template().templateId());
        if (before != null) {
            remove(before);
            countReplacement(before, nowNs);
        } else {
            counters.increment(CollectorCounter.TEMPLATES_DEFINED);
        }
        makeRoom();
        template.domain = domain;
        template.refreshedNs(nowNs);
        template.resolve(view);
        domain.templates().put(template.template().templateId(), template);
        templateCount++;
        templateFieldCount += template.template().fieldCount();
        templates.add(template);
    }

    private void countReplacement(final CollectedTemplate before, final long nowNs) {
        if (isExpired(before, nowNs)) {
            counters.increment(CollectorCounter.TEMPLATES_EXPIRED);
        } else {
            counters.increment(
                kind.isReliable() ? CollectorCounter.TEMPLATES_REDEFINED : CollectorCounter.TEMPLATES_REPLACED);
        }
    }

    void refresh(final CollectedTemplate template, final long nowNs) {
        template.refreshedNs(nowNs);
        templates.touch(template);
        counters.increment(CollectorCounter.TEMPLATES_REFRESHED);
    }

    void withdraw(final ObservationDomain domain, final int templateId) {
        final CollectedTemplate template = domain == null ? null : domain.templates().get(templateId);
        if (template == null || !kind.isReliable()) {
            counters.increment(CollectorCounter.WITHDRAWALS_IGNORED);
        } else {
            remove(template);
            counters.increment(CollectorCounter.TEMPLATES_WITHDRAWN);
        }
    }

    void withdrawAll(final ObservationDomain domain, final boolean isOptions) {
        if (!kind.isReliable()) {
            counters.increment(CollectorCounter.WITHDRAWALS_IGNORED);
            return;
        }
        final List<CollectedTemplate> alive = domain == null ? List.of() : new ArrayList<>(domain.templates().values());
        for (final CollectedTemplate template : alive) {
            if (template.template().isOptions() == isOptions) {
                remove(template);
                counters.increment(CollectorCounter.TEMPLATES_WITHDRAWN);
            }
        }
    }

    /** Removes the least recently used templates, then everything else, until it holds at most this much. */
    void drop(final int maxHeldCount) {
        while (templateFieldCount > 0 && heldCount() > maxHeldCount) {
            remove(templates.oldest());
            counters.increment(CollectorCounter.TEMPLATES_DROPPED);
        }
        if (heldCount() > maxHeldCount) {
            counters.add(CollectorCounter.DOMAINS_DROPPED, domains.size());
            domains.clear();
            domainsByAge.clear();
            view.forget();
        }
    }

    /** Gives every template the elements that were just learned. */
    void resolveElements() {
        for (CollectedTemplate template = templates.oldest(); template != null; template = template.newer) {
            template.resolve(view);
        }
    }

    private boolean isExpired(final CollectedTemplate template, final long nowNs) {
        return !kind.isReliable() && nowNs - template.refreshedNs() > limits.udpTemplateLifetimeNs();
    }

    private void makeRoom() {
        while (templateCount >= limits.maxTemplatesPerSession()) {
            remove(templates.oldest());
            counters.increment(CollectorCounter.TEMPLATES_DROPPED);
        }
    }

    private void remove(final CollectedTemplate template) {
        final Template removed = template.template();
        template.domain.templates().remove(removed.templateId());
        template.domain = null;
        templates.remove(template);
        templateCount--;
        templateFieldCount -= removed.fieldCount();
    }
}
