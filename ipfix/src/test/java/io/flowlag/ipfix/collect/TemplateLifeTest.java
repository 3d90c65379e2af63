package io.flowlag.ipfix.collect;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The life of templates in RFC 7011 section 8, and when there are too many. */
class TemplateLifeTest {
    private static final long LIFETIME_NS = TimeUnit.SECONDS.toNanos(1800);
    private static final Octets DATA = set(256, octets().u8(1));
    private static final Octets PROTOCOL = set(2, template(256, 4, 1));
    private static final Octets TOS = set(2, template(256, 5, 1));

    private Collection collection = new Collection();

    private static Octets withdrawal(final int setId, final int templateId) {
        return set(setId, octets().u16(templateId).u16(0));
    }

    private static Octets optionsTemplate(final int templateId) {
        return set(3, octets().u16(templateId).u16(2).u16(1).u16(149).u16(4).u16(41).u16(8));
    }

    @ParameterizedTest
    @EnumSource(value = SessionKind.class, names = {"TCP", "TLS", "FILE"})
    void shouldWithdrawOneTemplate(final SessionKind kind) {
        final TransportSession session = collection.open(kind);
        collection.send(session, message(1, 0, 1, PROTOCOL, set(2, template(257, 4, 1))));
        collection.send(session, message(1, 0, 1, withdrawal(2, 256), DATA, set(257, octets().u8(2))));
        assertEquals(List.of("protocolIdentifier=02"), collection.records);
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_WITHDRAWN));
        assertEquals(1, session.templateCount());
    }

    @Test
    void shouldWithdrawAllTemplatesOfOneKindInOneDomain() {
        final TransportSession session = collection.open(SessionKind.TCP);
        final Octets data = set(2, template(256, 4, 1), template(257, 4, 1));
        collection.send(session, message(1, 0, 1, data, optionsTemplate(300), optionsTemplate(301)));
        collection.send(session, message(1, 0, 2, PROTOCOL));

        collection.send(session, message(1, 0, 1, withdrawal(2, 2)));
        assertEquals(3, session.templateCount());
        collection.send(session, message(1, 0, 1, withdrawal(3, 3)));
        assertEquals(1, session.templateCount());
        assertEquals(4, collection.count(CollectorCounter.TEMPLATES_WITHDRAWN));
        collection.send(session, message(1, 0, 2, DATA));
        assertEquals(1, collection.records.size());
    }

    @Test
    void shouldUseAnIdAnewAfterItsWithdrawalInOneMessage() {
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.send(session, message(1, 0, 1, DATA, withdrawal(2, 256), TOS, DATA, withdrawal(2, 2), PROTOCOL, DATA));
        assertEquals(
            List.of("protocolIdentifier=01", "ipClassOfService=01", "protocolIdentifier=01"), collection.records);
        assertEquals(0, collection.count(CollectorCounter.TEMPLATES_REDEFINED));
        assertEquals(2, collection.count(CollectorCounter.TEMPLATES_WITHDRAWN));
    }

    @Test
    void shouldIgnoreAndCountWithdrawalsOverUdp() {
        final TransportSession session = collection.open(SessionKind.UDP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.send(session, message(1, 0, 1, withdrawal(2, 256), withdrawal(2, 2), DATA));
        assertEquals(1, collection.records.size());
        assertEquals(2, collection.count(CollectorCounter.WITHDRAWALS_IGNORED));
    }

    @Test
    void shouldIgnoreAndCountWithdrawalsOfUnknownTemplates() {
        final TransportSession session = collection.open(SessionKind.TCP);
        assertEquals(MessageResult.ACCEPTED, collection.send(session, message(1, 0, 1, withdrawal(2, 256))));
        assertEquals(1, collection.count(CollectorCounter.WITHDRAWALS_IGNORED));
    }

    @Test
    void shouldCountARedefinitionWithoutWithdrawalOverTcp() {
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.send(session, message(1, 0, 1, TOS, DATA));
        assertEquals(List.of("ipClassOfService=01"), collection.records);
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_REDEFINED));
    }

    @Test
    void shouldReplaceTemplatesOverUdp() {
        final TransportSession session = collection.open(SessionKind.UDP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.send(session, message(1, 0, 1, TOS, DATA));
        assertEquals(List.of("ipClassOfService=01"), collection.records);
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_REPLACED));
        assertEquals(0, collection.count(CollectorCounter.TEMPLATES_REDEFINED));
    }

    @Test
    void shouldExpireTemplatesOverUdpUnlessRefreshed() {
        final TransportSession session = collection.open(SessionKind.UDP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.nowNs = LIFETIME_NS;
        collection.send(session, message(2, 0, 1, DATA, PROTOCOL));
        collection.nowNs = 2 * LIFETIME_NS;
        collection.send(session, message(3, 1, 1, DATA));
        collection.nowNs++;
        collection.send(session, message(4, 2, 1, DATA));
        assertEquals(2, collection.records.size());
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_REFRESHED));
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_EXPIRED));
        assertEquals(1, collection.count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
    }

    @Test
    void shouldKeepTemplatesOverTcpForEver() {
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.nowNs = 100 * LIFETIME_NS;
        collection.send(session, message(2, 0, 1, DATA));
        assertEquals(1, collection.records.size());
    }

    @Test
    void shouldDropTheTemplateUnusedLongest() {
        collection = new Collection(new CollectorLimits(4, 4, 4, 3, 10, 100, 4, LIFETIME_NS, LIFETIME_NS));
        final TransportSession session = collection.open(SessionKind.UDP);
        for (int id = 256; id < 259; id++) {
            collection.send(session, message(1, 0, 1, set(2, template(id, 4, 1))));
        }
        collection.send(session, message(1, 0, 1, DATA));
        collection.send(session, message(1, 1, 1, set(2, template(259, 4, 1))));
        assertEquals(3, session.templateCount());
        assertEquals(1, collection.count(CollectorCounter.TEMPLATES_DROPPED));
        collection.send(session, message(1, 1, 1, DATA, set(257, octets().u8(7))));
        assertEquals(List.of("protocolIdentifier=01", "protocolIdentifier=01"), collection.records);
    }

    @Test
    void shouldSurviveMoreTemplatesInAMessageThanItMayKeep() {
        collection = new Collection(new CollectorLimits(4, 4, 4, 3, 10, 100, 4, LIFETIME_NS, LIFETIME_NS));
        final TransportSession session = collection.open(SessionKind.TCP);
        final Octets many = octets();
        for (int id = 256; id < 300; id++) {
            many.bytes(template(id, 4, 1).toBytes());
        }
        collection.send(session, message(1, 0, 1, set(2, many), DATA, set(299, octets().u8(9)), PROTOCOL, DATA));
        assertEquals(3, session.templateCount());
        assertEquals(List.of("protocolIdentifier=09", "protocolIdentifier=01"), collection.records);
        assertEquals(1, collection.count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
    }

    @Test
    void shouldTakeTheTemplatesOfTheSessionSilentLongest() {
        collection = new Collection(new CollectorLimits(4, 4, 4, 10, 4, 9, 4, LIFETIME_NS, LIFETIME_NS));
        final TransportSession first = collection.open(SessionKind.TCP);
        final TransportSession second = collection.open(SessionKind.TCP);
        final TransportSession third = collection.open(SessionKind.TCP);
        final Octets twoFields = set(2, template(256, 4, 1, 5, 1));
        collection.send(first, message(1, 0, 1, twoFields));
        collection.send(second, message(1, 0, 1, twoFields));
        collection.send(third, message(1, 0, 1, twoFields));
        collection.send(first, message(1, 0, 1));
        collection.send(third, message(1, 0, 1, set(2, template(257, 4, 1, 5, 1))));
        assertEquals(1, first.templateCount());
        assertEquals(0, second.templateCount());
        assertEquals(2, third.templateCount());
        assertEquals(8, collection.process.heldCount());
        collection.send(third, message(1, 0, 1,
            set(2, template(258, 4, 1, 5, 1), template(259, 4, 1, 5, 1), template(260, 4, 1, 5, 1))));
        assertEquals(0, first.templateCount());
        assertEquals(4, third.templateCount());
        assertEquals(9, collection.process.heldCount());
        collection.process.closeSession(third);
        assertEquals(0, collection.process.heldCount());
    }

    @Test
    void shouldForgetTheOldestDomain() {
        collection = new Collection(new CollectorLimits(4, 4, 2, 10, 4, 6, 4, LIFETIME_NS, LIFETIME_NS));
        final TransportSession session = collection.open(SessionKind.UDP);
        for (int domainId = 1; domainId <= 3; domainId++) {
            collection.send(session, message(1, 0, domainId, PROTOCOL));
        }
        assertEquals(2, session.domainCount());
        assertEquals(2, session.templateCount());
        assertEquals(4, collection.process.heldCount());
        assertEquals(1, collection.count(CollectorCounter.DOMAINS_DROPPED));
        collection.send(session, message(1, 0, 1, DATA));
        assertTrue(collection.records.isEmpty());
    }

    @Test
    void shouldEndAllTemplatesWithTheSession() {
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, PROTOCOL));
        collection.process.closeSession(session);
        assertEquals(0, collection.process.sessionCount());
        assertEquals(0, collection.process.heldCount());
        collection.send(collection.open(SessionKind.TCP), message(1, 0, 1, DATA));
        assertTrue(collection.records.isEmpty());
    }
}
