package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import org.junit.jupiter.api.Test;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Gaps, late and doubled messages, and restarts (RFC 7011 section 3.1). */
class SequenceTrackerTest {
    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final SequenceTracker tracker = new SequenceTracker(counters);

    private void take(final int sequence, final int exportTimeSeconds, final int recordCount) {
        tracker.onMessage(sequence, exportTimeSeconds, recordCount, true);
    }

    private void assertCounts(final long gaps, final long missing, final long reordered, final long restarts) {
        assertEquals(gaps, counters.get(CollectorCounter.SEQUENCE_GAPS), "gaps");
        assertEquals(missing, CollectorCounter.missing(counters), "missing");
        assertEquals(reordered, counters.get(CollectorCounter.MESSAGES_REORDERED), "reordered");
        assertEquals(restarts, counters.get(CollectorCounter.SEQUENCE_RESTARTS), "restarts");
    }

    @Test
    void shouldFindNothingInASoundSequence() {
        take(5000, 1, 10);
        take(5010, 1, 0);
        take(5010, 2, 3);
        take(5013, 3, 1);
        assertCounts(0, 0, 0, 0);
    }

    @Test
    void shouldCountTheRecordsOfAGap() {
        take(0, 1, 10);
        take(25, 1, 5);
        take(30, 2, 5);
        assertCounts(1, 15, 0, 0);
    }

    @Test
    void shouldCountAcrossTheWrap() {
        take(-10, 1, 10);
        take(0, 1, 5);
        take(7, 1, 1);
        assertCounts(1, 2, 0, 0);
    }

    @Test
    void shouldTakeALateMessageOffTheGap() {
        take(0, 5, 10);
        take(20, 5, 10);
        take(10, 5, 10);
        take(30, 6, 1);
        assertCounts(1, 0, 1, 0);
    }

    @Test
    void shouldCountADoubledMessage() {
        take(0, 5, 10);
        take(10, 5, 10);
        take(10, 5, 10);
        take(20, 5, 10);
        assertCounts(0, 0, 0, 0);
        assertEquals(1, counters.get(CollectorCounter.MESSAGES_DUPLICATED));
    }

    @Test
    void shouldNoticeARestartByALaterExportTime() {
        take(1000, 5, 10);
        take(0, 6, 10);
        take(10, 6, 10);
        assertCounts(0, 0, 0, 1);
    }

    @Test
    void shouldNoticeARestartByADistance() {
        take(10_000_000, 5, 10);
        take(0, 5, 10);
        take(0x7000_0000, 5, 10);
        assertCounts(0, 0, 0, 2);
    }

    @Test
    void shouldNotGuessBehindASkippedSet() {
        tracker.onMessage(0, 1, 10, false);
        take(55, 1, 10);
        take(65, 1, 10);
        assertCounts(0, 0, 0, 0);
    }

    @Test
    void shouldKeepDomainsAndSessionsApart() {
        final Collection collection = new Collection();
        final Octets template = set(2, template(256, 4, 1));
        final Octets data = set(256, octets().u8(1).u8(2));
        final TransportSession one = collection.open(SessionKind.UDP);
        final TransportSession other = collection.open(SessionKind.UDP);
        collection.send(one, message(1, 100, 1, template, data));
        collection.send(one, message(1, 900, 2, template, data));
        collection.send(other, message(1, 7, 1, template, data));
        collection.send(one, message(1, 102, 1, data));
        collection.send(one, message(1, 905, 2, data));
        collection.send(other, message(1, 9, 1, data));
        assertEquals(1, collection.count(CollectorCounter.SEQUENCE_GAPS));
        assertEquals(3, CollectorCounter.missing(collection.counters));
    }

    @Test
    void shouldCountOptionsRecordsToo() {
        final Collection collection = new Collection();
        final TransportSession session = collection.open(SessionKind.TCP);
        final Octets template = set(3, octets().u16(256).u16(1).u16(1).u16(149).u16(4));
        collection.send(session, message(1, 0, 1, template, set(256, octets().u32(1))));
        collection.send(session, message(1, 1, 1, set(256, octets().u32(1))));
        assertEquals(0, collection.count(CollectorCounter.SEQUENCE_GAPS));
    }
}
