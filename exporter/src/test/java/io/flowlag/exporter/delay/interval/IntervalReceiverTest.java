package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A receiver point with a remote sender: answers arrive late, or never. */
class IntervalReceiverTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MAXIMUM_DELAY_NS = 20_000_000L;
    private static final long DEADLINE_NS = 250_000_000L;
    private static final long MS = 1_000_000L;
    private static final long START_NS = TwoPoints.START_NS;

    private final IntervalSettings context = context().build();
    private final IntervalPoint sender = new IntervalPoint(context, false);
    private final LateAnswers answers = new LateAnswers();
    private final List<Boolean> completedWithMean = new ArrayList<>();
    private IntervalReceiver receiver = receiver(context());
    private long digest;

    private static SettingsBuilder context() {
        return SketchPairTest.context(1 << 10).answerDeadlineNs(DEADLINE_NS);
    }

    private IntervalReceiver receiver(final SettingsBuilder newContext) {
        return new IntervalReceiver(
            newContext.build(), answers, TwoPoints.ENTRY_LENGTH_BYTES,
            (buffer, offset, lengthBytes, record) -> completedWithMean.add(this.hasMean(record)), (answer) -> { },
            (sent, row, startNs, endNs) -> { });
    }

    private boolean hasMean(final int record) {
        return receiver.records().hasMean(record);
    }

    /** Delayed answers of a point of this process. */
    private final class LateAnswers implements SenderAnswers {
        private long through = Long.MIN_VALUE;
        private boolean hasStragglers;

        @Override
        public SenderAnswer take(final long intervalNumber) {
            final SenderAnswer answer = intervalNumber <= through ? sender.take(intervalNumber) : null;
            return answer == null || !hasStragglers ? answer : new Belated(answer);
        }

        @Override
        public boolean isExpected(final long intervalNumber) {
            return intervalNumber > through;
        }

        @Override
        public void giveBack(final SenderAnswer answer) {
            sender.giveBack(answer instanceof Belated belated ? belated.answer : answer);
        }

        @Override
        public void restart() {
            sender.restart();
        }
    }

    /** An answer that declares earlier ones incomplete. */
    private record Belated(SenderAnswer answer) implements SenderAnswer {
        @Override
        public void edit(final CellEditor editor) {
            answer.edit(editor);
        }

        @Override
        public boolean hasStragglers() {
            return true;
        }

        @Override
        public boolean isDamaged() {
            return answer.isDamaged();
        }

        @Override
        public boolean hasSketches() {
            return answer.hasSketches();
        }

        @Override
        public FlowSums flows() {
            return answer.flows();
        }

        @Override
        public FlowSums witnesses() {
            return answer.witnesses();
        }

        @Override
        public long intervalNumber() {
            return answer.intervalNumber();
        }

        @Override
        public boolean isInFlightComplete() {
            return answer.isInFlightComplete();
        }

        @Override
        public int inFlightCount() {
            return answer.inFlightCount();
        }

        @Override
        public long inFlight(final int index) {
            return answer.inFlight(index);
        }

        @Override
        public SketchImage sketch() {
            return answer.sketch();
        }

        @Override
        public SketchImage aggregator(final int classIndex) {
            return answer.aggregator(classIndex);
        }
    }

    private int packet(final int record, final long sentNs, final long delayNs) {
        return packet(1, record, sentNs, delayNs);
    }

    private int packet(final int flow, final int record, final long sentNs, final long delayNs) {
        digest += 0x9E37_79B9_7F4A_7C15L;
        sender.onPacket(new SketchedPacket().set(START_NS + sentNs, TwoPoints.flowHash(flow), digest, 100, 0, 1));
        return receiver.onPacket(
            new SketchedPacket().set(START_NS + sentNs + delayNs, TwoPoints.flowHash(flow), digest, 100, 0, 1), flow, record);
    }

    /** A packet that the receiver point dropped. */
    private void dropped(final long sentNs) {
        digest += 0x9E37_79B9_7F4A_7C15L;
        sender.onPacket(new SketchedPacket().set(START_NS + sentNs, TwoPoints.flowHash(1), digest, 100, 0, 1));
    }

    @Test
    void shouldWaitForAnAnswerThatIsLate() {
        int record = packet(SketchRecords.NONE, MS, MS);
        assertTrue(receiver.waits(record, new UnsafeBuffer(new byte[TwoPoints.ENTRY_LENGTH_BYTES]), 0));
        record = packet(SketchRecords.NONE, INTERVAL_NS + 50 * MS, MS);
        assertTrue(completedWithMean.isEmpty());
        answers.through = START_NS / INTERVAL_NS;
        receiver.onTime(START_NS + INTERVAL_NS + 60 * MS);
        assertEquals(List.of(true), completedWithMean);
        assertFalse(hasMean(record));
    }

    @Test
    void shouldHandARecordOnWhenNoAnswerComes() {
        final int record = packet(SketchRecords.NONE, MS, MS);
        assertTrue(receiver.waits(record, new UnsafeBuffer(new byte[TwoPoints.ENTRY_LENGTH_BYTES]), 0));
        receiver.onTime(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS + DEADLINE_NS - 1);
        assertTrue(completedWithMean.isEmpty());
        receiver.onTime(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS + DEADLINE_NS);
        assertEquals(List.of(false), completedWithMean);
        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS_UNANSWERED));
        assertEquals(0, SketchCounter.unexplainedRecords(receiver.counters()));
    }

    @Test
    void shouldNotKnowTheLossAfterAnIntervalWithoutAnAnswer() {
        int record = packet(SketchRecords.NONE, INTERVAL_NS - MS, 2 * MS);
        record = packet(record, INTERVAL_NS + 50 * MS, MS);
        receiver.onTime(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS + DEADLINE_NS);
        answers.through = Long.MAX_VALUE;
        receiver.onTime(START_NS + 5 * INTERVAL_NS);
        assertFalse(receiver.records().hasLoss(record));
        assertEquals(0, SketchCounter.unexplainedReceived(receiver.counters()));
    }

    /** The flow's first packet may have been lost in an interval with unknown losses, before it had a record. */
    @Test
    void shouldNotKnowTheLossOfAFlowThatBeginsSoonAfterAnIntervalWithoutAnAnswer() {
        receiver = receiver(context().idleTimeoutNs(2 * INTERVAL_NS));
        answers.through = START_NS / INTERVAL_NS;
        final int before = packet(1, SketchRecords.NONE, MS, MS);
        packet(1, before, INTERVAL_NS + MS, MS);
        receiver.onTime(START_NS + 2 * INTERVAL_NS + MAXIMUM_DELAY_NS + DEADLINE_NS);
        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS_UNANSWERED));
        answers.through = Long.MAX_VALUE;
        final int soon = packet(2, SketchRecords.NONE, 3 * INTERVAL_NS + MS, MS);
        final int later = packet(3, SketchRecords.NONE, 5 * INTERVAL_NS + MS, MS);
        receiver.onTime(START_NS + 7 * INTERVAL_NS);
        assertFalse(receiver.records().hasLoss(before));
        assertFalse(receiver.records().hasLoss(soon));
        assertTrue(receiver.records().hasLoss(later));
        assertEquals(0, receiver.records().lostPackets(later));
    }

    /** The interval was compared without the packet, as if the packet had been lost. */
    @Test
    void shouldNotTellALossThatAPacketOfItsOwnBelies() {
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        digest += 0x9E37_79B9_7F4A_7C15L;
        sender.onPacket(new SketchedPacket().set(START_NS + 60 * MS, TwoPoints.flowHash(1), digest, 100, 0, 1));
        final int other = packet(SketchRecords.NONE, 3 * INTERVAL_NS + 50 * MS, MS);
        receiver.onTime(START_NS + 4 * INTERVAL_NS + MAXIMUM_DELAY_NS);
        assertTrue(receiver.records().hasLoss(record), "it seems so");
        record = receiver.onPacket(
            new SketchedPacket().set(START_NS + 61 * MS, TwoPoints.flowHash(1), digest, 100, 0, 1), 1, record);
        assertFalse(receiver.records().hasLoss(record));
        assertTrue(receiver.records().hasLoss(other), "not yet");
        receiver.onTime(START_NS + 6 * INTERVAL_NS);
        assertFalse(receiver.records().hasLoss(other), "it may have shared a cell");
        assertEquals(1, receiver.counters().get(SketchCounter.RECEIVED_LATE));
        assertEquals(1, receiver.counters().get(SketchCounter.STRAGGLERS));
        assertEquals(0, SketchCounter.unexplainedReceived(receiver.counters()));
    }

    @Test
    void shouldNotTellALossThatAPacketOfTheSenderBelies() {
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        record = packet(record, INTERVAL_NS + 50 * MS, MS);
        record = packet(record, 2 * INTERVAL_NS + 50 * MS, MS);
        assertTrue(receiver.records().hasLoss(record));
        answers.hasStragglers = true;
        packet(record, 3 * INTERVAL_NS + 50 * MS, MS);
        assertFalse(receiver.records().hasLoss(record));
        assertTrue(receiver.records().hasMean(record), "cells that agree do agree");
        assertEquals(1, receiver.counters().get(SketchCounter.STRAGGLERS));
    }

    /** Packets waited in a ring while the process was stopped, and their drops are reported only now. */
    @Test
    void shouldNotKnowTheLossOfPacketsMuchOlderThanOurDrops() {
        final int record = packet(SketchRecords.NONE, MS, MS);
        receiver.onOwnLoss(START_NS + 9 * INTERVAL_NS);
        answers.through = Long.MAX_VALUE;
        receiver.onTime(START_NS + 5 * INTERVAL_NS);
        assertTrue(hasMean(record));
        assertFalse(receiver.records().hasLoss(record));
        assertTrue(receiver.counters().get(SketchCounter.INTERVALS_DAMAGED) > 0);
    }

    /** Drops are reported later than the packets after them: those packets alone do not end an interval. */
    @Test
    void shouldNotTellALossBeforeItsOwnDropsAreKnown() {
        receiver = receiver(context().isLive(true));
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        dropped(60 * MS);
        record = packet(record, INTERVAL_NS + MAXIMUM_DELAY_NS, MS);
        record = packet(record, 2 * INTERVAL_NS - MS, 0);
        receiver.lossKnown(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS - 1);
        assertEquals(0, receiver.counters().get(SketchCounter.INTERVALS));
        receiver.onOwnLoss(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS);
        receiver.lossKnown(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS);
        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS));
        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS_DAMAGED));
        assertFalse(receiver.records().hasLoss(record));
    }

    @Test
    void shouldTellALossAsSoonAsItKnowsThatItDroppedNothing() {
        receiver = receiver(context().isLive(true));
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        record = packet(record, INTERVAL_NS + MAXIMUM_DELAY_NS, MS);
        assertFalse(receiver.records().hasLoss(record));
        receiver.lossKnown(START_NS + INTERVAL_NS + MAXIMUM_DELAY_NS);
        assertTrue(receiver.records().hasLoss(record));
        assertEquals(0, receiver.records().lostPackets(record));
        packet(record, 2 * INTERVAL_NS + MAXIMUM_DELAY_NS, MS);
        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS));
    }

    @Test
    void shouldTellNoLossOfAnIntervalThatItCannotKeepUntilItsDropsAreKnown() {
        receiver = receiver(context().isLive(true));
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        dropped(60 * MS);
        record = packet(record, 4 * INTERVAL_NS, MS);
        receiver.lossKnown(START_NS + 4 * INTERVAL_NS);
        assertTrue(receiver.counters().get(SketchCounter.INTERVALS_DAMAGED) > 0);
        assertFalse(receiver.records().hasLoss(record));
        receiver.lossKnown(Long.MAX_VALUE);
        receiver.onEnd();
        assertEquals(0, SketchCounter.unexplainedReceived(receiver.counters()));
    }

    @Test
    void shouldTellNoLossWhenIntervalsWereNeverOpen() {
        receiver = receiver(context().isLive(true));
        answers.through = Long.MAX_VALUE;
        int record = packet(SketchRecords.NONE, 50 * MS, MS);
        receiver.lossKnown(START_NS + 20 * INTERVAL_NS);
        receiver.onTime(START_NS + 2 * INTERVAL_NS);
        assertTrue(receiver.records().hasLoss(record));
        record = packet(record, 20 * INTERVAL_NS, MS);
        assertFalse(receiver.records().hasLoss(record), "whatever was sent meanwhile was not seen");
    }

    @Test
    void shouldRefuseAnAnswerOfAnotherShape() {
        final IntervalSettings other = SketchPairTest.context(1 << 10).geometry(SketchGeometry.lds(2, 1 << 10, 1)).build();
        final IntervalPoint stranger = new IntervalPoint(other, false);
        final IntervalReceiver own = new IntervalReceiver(
            SketchPairTest.context(1 << 10).build(), stranger, TwoPoints.ENTRY_LENGTH_BYTES,
            (buffer, offset, lengthBytes, record) -> { }, (answer) -> { }, (sent, row, startNs, endNs) -> { });
        stranger.onPacket(new SketchedPacket().set(START_NS, 1, 2, 100, 0, 1));
        final int record = own.onPacket(new SketchedPacket().set(START_NS + MS, 1, 2, 100, 0, 1), 0, SketchRecords.NONE);
        own.onTime(START_NS + 3 * INTERVAL_NS);
        assertEquals(1, own.counters().get(SketchCounter.INTERVALS_REFUSED));
        assertFalse(own.records().hasMean(record));
    }

    /** As an older one does. The first intervals are refused, never compared. */
    @Test
    void shouldFollowASenderThatHashesAllIntervalsAlike() {
        answers.through = Long.MAX_VALUE;
        sender.followSeed(new LossyDifferenceSketch(context.cells().geometry(), context.cells().seed()).image());
        int record = SketchRecords.NONE;
        for (int interval = 0; interval < 20; interval++) {
            record = packet(record, interval * INTERVAL_NS + MS, MS);
        }
        receiver.onTime(START_NS + 25 * INTERVAL_NS);
        final long refused = receiver.counters().get(SketchCounter.INTERVALS_REFUSED);
        assertTrue(refused > 0 && refused <= context.openIntervals(), "refused " + refused);
        assertEquals(20 - refused, receiver.records().answeredPackets(record));
        assertEquals(MS, receiver.records().meanNs(record));
    }

    @Test
    void shouldReleaseThePreviousSettingsWhenTheirIntervalsWereReported() {
        answers.through = Long.MAX_VALUE;
        packet(SketchRecords.NONE, MS, MS);
        final IntervalReceiver next =
            new IntervalReceiver(context, new IntervalPoint(context, false), receiver, (answer) -> { });
        next.follow(receiver, START_NS + INTERVAL_NS, true);
        receiver.onTime(START_NS + 2 * INTERVAL_NS);
        assertTrue(receiver.isOver());
        next.onTime(START_NS + 2 * INTERVAL_NS);
        final WeakReference<IntervalReceiver> previous = new WeakReference<>(receiver);
        receiver = next;
        System.gc();
        assertNull(previous.get());
    }

    @Test
    void shouldRefuseADeadlineThatKeepsTooManyIntervalsOpen() {
        assertThrows(
            IllegalArgumentException.class, () -> SketchPairTest.context(16).answerDeadlineNs(8 * INTERVAL_NS).build());
    }
}
