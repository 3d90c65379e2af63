package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.IntervalReceiver;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.SettingsBuilder;
import io.flowlag.exporter.delay.interval.SketchPair;
import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.delay.interval.compare.IntervalHandler;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Delays and losses over all intervals, by aggregators and by reconciled packets. */
class ClassDelaysTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 100 * MS;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int FLOW = 7;

    private final TrafficClasses classes = new TrafficClasses(List.of());
    private final ClassDelays aggregates = new ClassDelays(false);
    private final ClassDelays reconciled = new ClassDelays(true);
    private final List<AggregateDelay> intervals = new ArrayList<>();
    private final List<AggregateDelay> reconciledIntervals = new ArrayList<>();
    private AggregateDelay total;
    private AggregateDelay reconciledTotal;

    private static SettingsBuilder context() {
        return new SettingsBuilder().geometry(SketchGeometry.lds(4, 1024, 1)).aggregatorCells(64).seed(42)
            .intervalNs(INTERVAL_NS).maximumDelayNs(10 * MS).inFlightPackets(64).waitingRecords(64).maxFlows(64);
    }

    private static IntervalSettings reconciledContext() {
        return context().reconcile(new ReconcileSettings(1024, 1024, 0)).build();
    }

    private IntervalHandler handler() {
        return new IntervalHandler() {
            @Override
            public void onInterval(final IntervalAnswer answer) {
                aggregates.add(answer, classes);
                reconciled.add(answer, classes);
                intervals.add(aggregates.interval(answer, classes).get(0));
                reconciledIntervals.add(reconciled.statistics(answer, classes).interval().get(0));
                sum();
            }

            @Override
            public void onUnknownLoss() {
                aggregates.onUnknownLoss();
                reconciled.onUnknownLoss();
                sum();
            }
        };
    }

    private void sum() {
        total = aggregates.total(classes).get(0);
        reconciledTotal = reconciled.total(classes).get(0);
    }

    private SketchPair pair() {
        return new SketchPair(
            reconciledContext(), 64, (buffer, offset, lengthBytes, record) -> { }, handler(),
            (sent, row, startNs, endNs) -> { });
    }

    private static int packet(final SketchPair pair, final long digest, final long sentNs, final long delayNs, final int record) {
        pair.onSent(new SketchedPacket().set(START_NS + sentNs, FLOW, digest, 100, 0, 1));
        return pair.onReceived(new SketchedPacket().set(START_NS + sentNs + delayNs, FLOW, digest, 100, 0, 1), 0, record);
    }

    @Test
    void shouldHaveNoDeviationOfOnePacket() {
        final SketchPair pair = pair();
        packet(pair, 77, 30 * MS, 3 * MS, -1);
        pair.onEnd();

        for (final AggregateDelay each : List.of(intervals.get(0), total, reconciledIntervals.get(0), reconciledTotal)) {
            assertEquals(1, each.samples());
            assertEquals(3 * MS, each.meanNs());
            assertNull(each.standardDeviationNs());
        }
    }

    /** Equal packets are in one cell, which gives no deviation. */
    @Test
    void shouldHaveNoDeviationOfEqualPackets() {
        final SketchPair pair = pair();
        int record = -1;
        for (int i = 0; i < 49; i++) {
            record = packet(pair, 77, (20 + i) * MS, 1 + i * MS / 60, record);
        }
        pair.onEnd();

        for (final AggregateDelay each : List.of(intervals.get(0), total, reconciledIntervals.get(0), reconciledTotal)) {
            assertEquals(49, each.samples());
            assertNotNull(each.meanNs());
            assertNull(each.standardDeviationNs());
        }
    }

    /** Many intervals without a known deviation do not reduce the deviation of the others. */
    @Test
    void shouldNotDiluteTheDeviationByIntervalsWithoutOne() {
        final SketchPair pair = pair();
        int record = -1;
        for (int i = 0; i < 500; i++) {
            record = packet(pair, i * 0x9E37_79B9_7F4A_7C15L, 20 * MS + i * MS / 10, (1 + i % 3) * MS, record);
        }
        for (int interval = 1; interval < 20; interval++) {
            for (int i = 0; i < 49; i++) {
                record = packet(pair, interval, interval * INTERVAL_NS + (20 + i) * MS, 2 * MS, record);
            }
        }
        pair.onEnd();

        assertEquals(20, intervals.size());
        assertNull(intervals.get(1).standardDeviationNs());
        assertNull(reconciledIntervals.get(1).standardDeviationNs());
        assertEquals(500 + 19 * 49, total.samples());
        assertEquals(500 + 19 * 49, reconciledTotal.samples());
        assertEquals(List.of(500L, 49L), List.of(intervals.get(0).packets(), intervals.get(1).packets()));
        assertEquals(List.of(500L, 49L), List.of(reconciledIntervals.get(0).packets(), reconciledIntervals.get(1).packets()));
        assertEquals(0, reconciledIntervals.get(1).boundNs());
        assertNull(intervals.get(1).boundNs());
        assertNull(total.boundNs());
        assertEquals(intervals.get(0).standardDeviationNs(), total.standardDeviationNs());
        assertEquals(reconciledIntervals.get(0).standardDeviationNs(), reconciledTotal.standardDeviationNs());
    }

    /** Lost packets leave some of the cells unusable: the bound holds for the packets in the others, and is not idle. */
    @Test
    void shouldBoundTheMeanOfAllPacketsByThoseInUsableCells() {
        final SketchPair pair = new SketchPair(context().inFlightPackets(1024).build(), 64,
            (buffer, offset, lengthBytes, record) -> { }, new IntervalHandler() {
                @Override
                public void onInterval(final IntervalAnswer answer) {
                    intervals.add(aggregates.interval(answer, classes).get(0));
                }

                @Override
                public void onUnknownLoss() {
                    intervals.add(null);
                }
            }, (sent, row, startNs, endNs) -> { });
        final Random random = new Random(17);
        final List<Double> truth = new ArrayList<>();
        final List<Long> packets = new ArrayList<>();
        int record = -1;
        for (int interval = 0; interval < 200; interval++) {
            double sumNs = 0;
            long received = 0;
            for (int i = 0; i < 400; i++) {
                final long sentNs = interval * INTERVAL_NS + i * INTERVAL_NS / 500;
                final long delayNs = (long)(MS * Math.exp(0.5 * random.nextGaussian()));
                if (random.nextInt(50) == 0) {
                    pair.onSent(new SketchedPacket().set(START_NS + sentNs, FLOW, random.nextLong(), 100, 0, 1));
                } else {
                    record = packet(pair, random.nextLong(), sentNs, delayNs, record);
                    sumNs += delayNs;
                    received++;
                }
            }
            truth.add(sumNs / received);
            packets.add(received);
        }
        pair.onEnd();

        assertEquals(truth.size(), intervals.size());
        final List<Double> errors = new ArrayList<>();
        int held = 0;
        final int whole = truth.size() - 1;
        for (int i = 0; i < whole; i++) {
            final double errorNs = Math.abs(intervals.get(i).meanNs() - truth.get(i));
            assertEquals(packets.get(i), intervals.get(i).packets());
            assertTrue(intervals.get(i).samples() < packets.get(i));
            held += errorNs <= intervals.get(i).boundNs() ? 1 : 0;
            errors.add(errorNs / intervals.get(i).boundNs());
        }
        errors.sort(null);
        assertTrue(held >= 0.95 * whole, held + " of " + whole);
        assertTrue(errors.get(whole / 2) > 0.2, "median error over bound " + errors.get(whole / 2));
    }

    /** The deviations of several intervals combine with the distance of their means. */
    @Test
    void shouldPutDeviationsTogether() {
        final DelayTotal delays = new DelayTotal();
        assertNull(delays.meanNs());
        assertNull(delays.standardDeviationNs());
        for (final int meanNs : new int[] {1000, 3000}) {
            delays.add(10, meanNs);
            delays.addDeviation(10, meanNs, 500);
        }

        assertEquals(20, delays.samples());
        assertEquals(2000, delays.meanNs());
        assertEquals(Math.round(Math.sqrt(500 * 500 + 1000 * 1000)), delays.standardDeviationNs());

        delays.add(10, 2_000_000);
        assertEquals(30, delays.samples());
        assertEquals(Math.round(Math.sqrt(500 * 500 + 1000 * 1000)), delays.standardDeviationNs());
    }

    /** A packet that arrives after the answer of its interval counts as lost there. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKnowTheLossOfAllIntervalsUnlessAPacketComesTooLate(final boolean isLate) {
        final SketchPair pair = pair();
        int record = -1;
        for (int interval = 0; interval < 10; interval++) {
            record = packet(pair, interval, interval * INTERVAL_NS + 50 * MS, MS, record);
            if (isLate && interval == 5) {
                record = pair.onReceived(
                    new SketchedPacket().set(START_NS + INTERVAL_NS + 60 * MS, FLOW, 999, 100, 0, 1), 0, record);
            }
        }
        pair.onTime(START_NS + 11 * INTERVAL_NS);

        assertEquals(10, intervals.size());
        assertEquals(isLate ? null : 0L, total.lostPackets());
        assertEquals(isLate ? null : 0L, reconciledTotal.lostPackets());
    }

    /** A sender that ships no answer to one interval, although it has one. */
    private static final class ForgetfulSender implements SenderAnswers {
        private final IntervalPoint point = new IntervalPoint(reconciledContext(), false);
        private final long forgotten;

        private ForgetfulSender(final int forgotten) {
            this.forgotten = START_NS / INTERVAL_NS + forgotten;
        }

        @Override
        public SenderAnswer take(final long number) {
            final SenderAnswer answer = point.take(number);
            if (answer == null || number != forgotten) {
                return answer;
            }
            point.giveBack(answer);
            return null;
        }

        @Override
        public boolean isExpected(final long number) {
            return false;
        }

        @Override
        public void giveBack(final SenderAnswer answer) {
            point.giveBack(answer);
        }

        @Override
        public void restart() {
            point.restart();
        }
    }

    /** Packets every millisecond, idle at the borders of intervals; those of some milliseconds are lost. */
    private IntervalReceiver pass(final int forgotten, final int lostFrom, final int lostTo, final int idleFrom,
        final int idleTo) {
        final ForgetfulSender sender = new ForgetfulSender(forgotten);
        final IntervalReceiver receiver = new IntervalReceiver(
            reconciledContext(), sender, 64, (buffer, offset, lengthBytes, record) -> { }, handler(),
            (sent, row, startNs, endNs) -> { });
        int record = -1;
        for (int i = 0; i < 2000; i++) {
            final long sentNs = START_NS + i * MS;
            if (i % 100 >= 20 && i % 100 <= 80 && (i < idleFrom || i >= idleTo)) {
                sender.point.onPacket(new SketchedPacket().set(sentNs, FLOW, i * 77L, 100, 0, 1));
                if (i < lostFrom || i >= lostTo) {
                    record = receiver.onPacket(new SketchedPacket().set(sentNs + MS / 2, FLOW, i * 77L, 100, 0, 1), 0, record);
                }
            }
        }
        return receiver;
    }

    @Test
    void shouldNotKnowTheLossOfAllAfterAnIntervalWithoutAnAnswer() {
        final IntervalReceiver receiver = pass(2, 200, 250, 0, 0);

        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS_UNANSWERED));
        assertTrue(intervals.size() > 10);
        assertNotNull(intervals.get(10).lostPackets());
        assertNotNull(reconciledIntervals.get(10).lostPackets());
        assertNull(total.lostPackets());
        assertNull(reconciledTotal.lostPackets());
        assertNotNull(total.meanNs());
    }

    /** Without packets sent nothing is lost, however long the time leap. */
    @Test
    void shouldKnowTheLossOfAllOverIdleTime() {
        final IntervalReceiver receiver = pass(-1, 250, 270, 500, 1500);

        assertEquals(0, receiver.counters().get(SketchCounter.INTERVALS_UNANSWERED));
        assertEquals(20, total.lostPackets());
        assertEquals(20, reconciledTotal.lostPackets());
    }

    /** A sender begins some intervals after the receiver: the totals begin with it. */
    @Test
    void shouldKnowTheLossOfAllSinceTheFirstAnswer() {
        final IntervalReceiver receiver = pass(0, 250, 270, 0, 0);

        assertEquals(1, receiver.counters().get(SketchCounter.INTERVALS_UNANSWERED));
        assertEquals(20, total.lostPackets());
        assertEquals(20, reconciledTotal.lostPackets());
    }
}
