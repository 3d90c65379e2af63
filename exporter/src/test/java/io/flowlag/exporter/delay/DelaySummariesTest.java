package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelaySummariesTest {
    private static final long REFERENCE_NS = 10_000_000L;
    private static final long DELAY_NS = 1_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long REFERENCES_PER_INTERVAL = INTERVAL_NS / REFERENCE_NS;
    private static final long RECORD_INTERVALS = 20;
    private static final long MAXIMUM_NS = 200_000_000L;

    private final RliReceiver receiver =
        new RliReceiver(ReceiverSettings.defaults().withSendTimes(SendTimes.STAMP), (samples) -> 0);
    private final DelaySummaries summaries = new DelaySummaries(
        receiver, (sender) -> ClockEstimate.NONE, false, new TrafficClasses(List.of()), 1,
        INTERVAL_NS, RECORD_INTERVALS * INTERVAL_NS, MAXIMUM_NS);
    private int number;

    /** A packet and a reference again and again. */
    private long heldOutAfter(final long references) {
        for (long i = 0; i < references; i++) {
            final long arrivalNs = ++number * REFERENCE_NS;
            receiver.stream(0).onPacket(0, 0, 0, 0, 100, arrivalNs - 1);
            receiver.stream(0).onReference(number, arrivalNs - DELAY_NS, arrivalNs, 100);
            summaries.onTime(arrivalNs);
        }
        return receiver.statistics(0).heldOut().count();
    }

    private static void assertPeriod(final long wanted, final long heldOut) {
        assertTrue(heldOut >= wanted * 0.9 && heldOut <= 2.1 * wanted, heldOut + " held out with " + wanted + " a period");
    }

    @Test
    void shouldGatherErrorsForAsLongAsARecordWaitsWhenTheIntervalChanges() {
        final long wanted = RECORD_INTERVALS * REFERENCES_PER_INTERVAL;
        assertPeriod(wanted, heldOutAfter(5 * wanted));
        summaries.intervalNs(10 * INTERVAL_NS);
        assertPeriod(wanted, heldOutAfter(10 * wanted));
        summaries.intervalNs(INTERVAL_NS / 10);
        assertPeriod(wanted, heldOutAfter(5 * wanted));
    }

    @Test
    void shouldGatherErrorsForAsLongAsARecordWaitsWhenThatChanges() {
        final long wanted = RECORD_INTERVALS * REFERENCES_PER_INTERVAL;
        heldOutAfter(5 * wanted);
        summaries.recordNs(3 * INTERVAL_NS);
        assertPeriod(3 * REFERENCES_PER_INTERVAL, heldOutAfter(5 * wanted));
    }

    /** Truth: the mean over all packets of the interval, matched in it, later, or never. */
    @Property(tries = 200)
    void shouldBoundTheMeanOfMatchedDelaysByPacketsThatAreMissing(
        @ForAll final long seed, @ForAll @DoubleRange(min = 0, max = 1) final double missing,
        @ForAll @DoubleRange(min = 0, max = 0.5) final double late, @ForAll @IntRange(min = 1, max = 3_000) final int packets) {
        final SplittableRandom random = new SplittableRandom(seed);
        final DelaySummaries matched = new DelaySummaries(
            RliReceiver.none(), (sender) -> ClockEstimate.NONE, true, new TrafficClasses(List.of()), 1, INTERVAL_NS, INTERVAL_NS,
            MAXIMUM_NS);
        final List<long[]> waiting = new ArrayList<>();
        for (long interval = 0; interval < 4; interval++) {
            matched.onTime(interval * INTERVAL_NS);
            waiting.forEach((each) -> matched.onMatched(0, each[0], each[1]));
            boolean isWhole = waiting.isEmpty();
            waiting.clear();
            double sumNs = 0;
            for (int i = 0; i < packets; i++) {
                final long delayNs = random.nextLong(1, 1 + MAXIMUM_NS / 10);
                final long receivedNs = interval * INTERVAL_NS + random.nextLong(INTERVAL_NS);
                sumNs += delayNs;
                matched.onReceived(0);
                if (random.nextDouble() < late) {
                    waiting.add(new long[] {delayNs, receivedNs});
                } else if (random.nextDouble() >= missing) {
                    matched.onMatched(0, delayNs, receivedNs);
                    continue;
                }
                isWhole = false;
            }
            matched.onTime((interval + 1) * INTERVAL_NS);
            final IntervalDelays last = matched.intervals().get(interval).get(0);
            final long boundNs = last.matchedBoundNs();
            if (last.summary().matched().count() > 0) {
                // The range of a thousand delays lacks some of the tails.
                final double errorNs = Math.abs(last.summary().matched().meanNs() - sumNs / packets);
                assertTrue(errorNs <= boundNs + 1 + boundNs * 0.01, errorNs + " above " + boundNs);
                assertEquals(isWhole, boundNs == 0);
            } else {
                assertEquals(-1, boundNs);
            }
        }
    }

    /** The distance of their mean from that of the estimates, and its bound. */
    @Test
    void shouldBoundTheMeanOfReferencesByThatOfTheEstimates() {
        final RliReceiver known = new RliReceiver(
            ReceiverSettings.defaults().withEstimation(new ReceiverSettings.Estimation(
                Estimator.LINEAR, SendTimes.STAMP, false, SerialisationMode.NONE, 1_000_000_000L)), (samples) -> 0);
        final DelaySummaries both = new DelaySummaries(
            known, (sender) -> ClockEstimate.NONE, false, new TrafficClasses(List.of()), 1, INTERVAL_NS, INTERVAL_NS, MAXIMUM_NS);
        final SplittableRandom random = new SplittableRandom(3);
        for (int i = 1; i <= 5 * REFERENCES_PER_INTERVAL; i++) {
            final long arrivalNs = i * REFERENCE_NS;
            for (int j = 0; j < 1 + i % 5; j++) {
                known.stream(0).onPacket(0, 0, 0, 0, 100, arrivalNs - 5 + j);
            }
            known.stream(0).onReference(i, arrivalNs - DELAY_NS * (1 + i % 5) - random.nextLong(1_000), arrivalNs, 100);
            both.onTime(arrivalNs);
        }
        final IntervalDelays last = both.intervals().get(3).get(0);
        final long apartNs = Math.abs(last.summary().references().meanNs() - last.summary().estimates().meanNs());
        assertTrue(apartNs > DELAY_NS / 10, apartNs + " apart");
        assertTrue(last.estimatesBoundNs() > 0, last.estimatesBoundNs() + " ns");
        assertEquals(last.estimatesBoundNs() + apartNs, last.referencesBoundNs());
        assertEquals(-1, both.intervals().get(0).get(0).estimatesBoundNs(), "too few references");
    }
}
