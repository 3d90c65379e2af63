package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Faults of the path cause no wrong estimates of RLI. */
class RliModelTest {
    private static final int PACKETS = 100_000;
    /** Any other must do as well. */
    private static final long SEED = Long.getLong("flowlag.seed", 7);

    private static SegmentProfile paper(final double utilization) {
        return PaperSegment.of(utilization, PaperSegment.red(), PACKETS, SEED);
    }

    private static RliExperiment run(final double utilization, final InjectionPolicy policy) {
        return new RliExperiment(paper(utilization).with(ReferenceModel.of(policy)), Estimator.LINEAR);
    }

    private static RliExperiment run(final double utilization, final ReferenceModel references) {
        return new RliExperiment(paper(utilization).with(references), Estimator.LINEAR);
    }

    /** Half the references lost: as if half had been sent. */
    @Test
    void shouldEstimateAcrossLostReferences() {
        final ReferenceModel references = ReferenceModel.of(new EveryNPolicy(20));
        final RliExperiment whole = run(0.70, references);
        final RliExperiment half = new RliExperiment(
            paper(0.70).with(references).with(new PathFaults(0, 0.5, 0, 0, 0, 0)), Estimator.LINEAR);
        final RliExperiment fewer = run(0.70, new EveryNPolicy(40));

        assertEquals(0.5, (double)half.receiver().counter(ReceiverCounter.REFERENCES_LOST) / half.references(), 0.05);
        assertTrue(half.estimatedShare() > 0.99, "estimated " + half.estimatedShare());
        assertTrue(half.medianMeanError() > whole.medianMeanError(), "error " + half.medianMeanError());
        assertTrue(half.medianMeanError() < 1.3 * fewer.medianMeanError(),
            half.medianMeanError() + " " + fewer.medianMeanError());
    }

    /** Adaptive gaps differ in packets, but no few of them hold nearly all. */
    @Test
    void shouldHaveABoundAtAnyLoad() {
        final ReferenceModel references = ReferenceModel.of(AdaptivePolicy.PAPER);
        for (final double utilization : new double[] {0.20, 0.55, 0.70, 0.88}) {
            final RliExperiment adaptive = run(utilization, references);
            assertTrue(
                adaptive.receiver().statistics(references.streamClass(0)).heldOut().hasBound(), "no bound at " + utilization);
        }
    }

    @Test
    void shouldNotTakeDuplicatesAndStragglersForSomethingElse() {
        final ReferenceModel references = ReferenceModel.of(new EveryNPolicy(20));
        final RliExperiment clean = run(0.70, references);
        final RliExperiment faulty = new RliExperiment(
            paper(0.70).with(references).with(new PathFaults(0.01, 0, 0.02, 0.02, 0, 0)), Estimator.LINEAR);

        assertTrue(faulty.receiver().counter(ReceiverCounter.REFERENCES_DUPLICATED) > 0);
        assertEquals(0, faulty.receiver().counter(ReceiverCounter.SENDER_RESTARTS));
        assertEquals(0, faulty.receiver().counter(ReceiverCounter.CLOCK_STEPS));
        assertTrue(faulty.estimatedShare() > 0.999, "estimated " + faulty.estimatedShare());
        assertTrue(faulty.medianMeanError() < 1.2 * clean.medianMeanError(),
            faulty.medianMeanError() + " " + clean.medianMeanError());
    }

    /** Loss in episodes takes references and packets alike: what arrives is estimated as before. */
    @Test
    void shouldEstimateAcrossEpisodesOfLoss() {
        final ReferenceModel references = ReferenceModel.of(new EveryNPolicy(20));
        final RliExperiment clean = run(0.70, references);
        final RliExperiment bursts = new RliExperiment(
            paper(0.70).with(references).with(PathFaults.NONE.withBursts(0.02, 100)), Estimator.LINEAR);

        assertEquals(0.02, bursts.lossShare(), 0.015);
        assertTrue(bursts.estimatedShare() > 0.99, "estimated " + bursts.estimatedShare());
        assertTrue(bursts.medianMeanError() < 1.2 * clean.medianMeanError(),
            bursts.medianMeanError() + " " + clean.medianMeanError());
    }

    /** Offset and drift of the receiver's clock are in references and packets alike: means are off by them, errors as before. */
    @Test
    void shouldPassOffsetAndDriftThrough() {
        final ReferenceModel references = ReferenceModel.of(new EveryNPolicy(20));
        final RliExperiment exact = run(0.70, references);
        final long offsetNs = TimeUnit.MICROSECONDS.toNanos(-300);
        final RliExperiment off = new RliExperiment(
            paper(0.70).with(references).with(PathFaults.NONE.withClock(offsetNs, 50)), Estimator.LINEAR);

        final double driftUs = 50e-6 * off.elapsedNs() / 1e3;
        assertEquals(exact.trueMeanUs() - 300 + driftUs / 2, off.trueMeanUs(), 0.2 * driftUs);
        assertEquals(exact.medianAbsoluteErrorUs(flow -> true), off.medianAbsoluteErrorUs(flow -> true), 0.1);
    }

    /** The receiver's clock is set by a second, either way: after it packets have the clocks' offset, none has a share of it. */
    @Test
    void shouldNotEstimateAcrossAStepOfTheClock() {
        final long stepNs = TimeUnit.SECONDS.toNanos(1);
        for (final long clockStepNs : new long[] {stepNs, -stepNs}) {
            final RliExperiment run = new RliExperiment(
                paper(0.70).with(ReferenceModel.of(new EveryNPolicy(20)))
                    .with(new PathFaults(0, 0, 0, 0, TimeUnit.MILLISECONDS.toNanos(140), clockStepNs)), Estimator.LINEAR);

            assertTrue(run.receiver().counter(ReceiverCounter.CLOCK_STEPS) +
                run.receiver().counter(ReceiverCounter.SILENCES) >= 1, "by " + clockStepNs);
            assertTrue(run.estimatedShare() > 0.99, "estimated " + run.estimatedShare());
            assertEquals(0, run.samplesWithinStep(), "estimates between the two clocks, step " + clockStepNs);
        }
    }
}
