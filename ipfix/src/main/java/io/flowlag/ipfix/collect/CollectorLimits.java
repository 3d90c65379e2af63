package io.flowlag.ipfix.collect;

import java.util.concurrent.TimeUnit;

/**
 * Limits on the memory that peers can use in a Collecting Process, and for how long. With the defaults, what all sessions
 * together hold stays below 128 MiB and receive buffers below 64 KiB a connection, or 128 KiB under TLS.
 *
 * @param maxUdpSessions          Transport Sessions over UDP; beyond, one of the address with most of them is forgotten.
 * @param maxConnections          over TCP and TLS together; beyond, see {@link CollectorServer}.
 * @param maxDomainsPerSession    Observation Domains; beyond, the oldest is forgotten.
 * @param maxTemplatesPerSession  templates; beyond, the one unused longest is forgotten.
 * @param maxFieldsPerTemplate    a template with more is refused.
 * @param maxTemplateFields       fields of all templates of all sessions, Observation Domains and learned elements included;
 *                                beyond, the address that holds most loses the templates of its sessions silent longest.
 * @param maxElementsPerSession   elements learned from RFC 5610 type records.
 * @param udpTemplateLifetimeNs   how long a template over UDP lives without a refresh (RFC 7011 section 8.4).
 * @param messageTimeoutNs        how long a connection may take for one message, or for its TLS handshake.
 */
public record CollectorLimits(
    int maxUdpSessions,
    int maxConnections,
    int maxDomainsPerSession,
    int maxTemplatesPerSession,
    int maxFieldsPerTemplate,
    int maxTemplateFields,
    int maxElementsPerSession,
    long udpTemplateLifetimeNs,
    long messageTimeoutNs) {

    public static final CollectorLimits DEFAULTS = new CollectorLimits(
        1024, 256, 256, 4096, 1024, 256 * 1024, 1024, TimeUnit.SECONDS.toNanos(1800), TimeUnit.SECONDS.toNanos(30));

    /** Checks that every limit is at least 1 and that one template fits into the total. */
    public CollectorLimits {
        atLeastOne("maxUdpSessions", maxUdpSessions);
        atLeastOne("maxConnections", maxConnections);
        atLeastOne("maxDomainsPerSession", maxDomainsPerSession);
        atLeastOne("maxTemplatesPerSession", maxTemplatesPerSession);
        atLeastOne("maxFieldsPerTemplate", maxFieldsPerTemplate);
        atLeastOne("maxElementsPerSession", maxElementsPerSession);
        atLeastOne("udpTemplateLifetimeNs", udpTemplateLifetimeNs);
        atLeastOne("messageTimeoutNs", messageTimeoutNs);
        if (maxTemplateFields < maxFieldsPerTemplate) {
            throw new IllegalArgumentException(
                "maxTemplateFields=" + maxTemplateFields + " is below maxFieldsPerTemplate=" + maxFieldsPerTemplate);
        }
    }

    private static void atLeastOne(final String name, final long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + "=" + value + " is below 1");
        }
    }
}
