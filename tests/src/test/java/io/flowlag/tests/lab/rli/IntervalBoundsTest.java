package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.LoadModel;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import io.flowlag.rli.receiver.SignedHistogram;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.tests.lab.report.Numbers;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The bound of the mean of each measurement interval against the truth of a queue in simulated time: all packets that came in the
 * interval, estimated or not. Bursts are so long and high that the queue is empty in one interval and grows all through another.
 */
class IntervalBoundsTest {
    /** Factor by which there are more seeds. */
    private static final int SCALE = Integer.getInteger("flowlag.bounds.scale", 1);
    private static final int PACKETS = 200_000;
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int HELD_OUT_INTERVALS = 8;

    private final List<Double> errors = new ArrayList<>();
    private final List<Double> bounds = new ArrayList<>();
    private final List<Double> referenceErrors = new ArrayList<>();
    private final List<Double> plainBounds = new ArrayList<>();

    /** One run of a segment. */
    private final class Run implements SegmentHandler {
        private final RliReceiver receiver;
        private long endNs = Long.MIN_VALUE;
        private long packets;
        private double sumNs;

        private Run(final SegmentProfile profile, final Estimator estimator, final SerialisationMode serialisation) {
            receiver = new RliReceiver(ReceiverSettings.defaults().withStreams(2, List.of(1))
                .withEstimation(new ReceiverSettings.Estimation(
                    estimator, SendTimes.STAMP, false, serialisation, profile.capacityBps()))
                .withHistograms(new ReceiverSettings.Histograms(3, HELD_OUT_INTERVALS)), (samples) -> 0);
            new SimulatedSegment(profile).run(this);
        }

        @Override
        public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
            if (arrivalNs >= endNs) {
                end();
                endNs = (Math.floorDiv(arrivalNs, INTERVAL_NS) + 1) * INTERVAL_NS;
            }
            if (packet.isReference()) {
                receiver.stream(0).onReference(packet.number(), packet.sentNs(), arrivalNs, packet.lengthBytes());
            } else {
                packets++;
                sumNs += arrivalNs - packet.sentNs();
                receiver.stream(0).onPacket(0, 0, 1, 0, packet.lengthBytes(), arrivalNs);
            }
        }

        @Override
        public void onSent(final SimulatedPacket packet) {
        }

        @Override
        public void onLost(final SimulatedPacket packet) {
        }

        private void end() {
            final long boundNs = receiver.stream(0).meanBoundNs(packets);
            if (boundNs >= 0) {
                final SignedHistogram references = receiver.statistics(1).references();
                errors.add(Math.abs(receiver.statistics(1).estimates().meanNs() - sumNs / packets));
                bounds.add((double)boundNs);
                referenceErrors.add(Math.abs(references.meanNs() - sumNs / packets));
                plainBounds.add(1.96 * references.standardDeviationNs() *
                    Math.sqrt((1 - references.count() / (double)packets) / references.count()));
            }
            packets = 0;
            sumNs = 0;
            receiver.rotate();
        }
    }

    private void run(
        final double load, final InjectionPolicy policy, final Estimator estimator, final SerialisationMode serialisation) {
        for (int seed = 1; seed <= SCALE; seed++) {
            new Run(PaperSegment.of(load, PaperSegment.dropTail(), PACKETS, seed).with(LoadModel.constant(load).bursting(
                new LoadModel.Burstiness(0.6, TimeUnit.MICROSECONDS.toNanos(200)),
                new LoadModel.Burstiness(0.5, TimeUnit.MILLISECONDS.toNanos(2)),
                new LoadModel.Burstiness(0.3, TimeUnit.MILLISECONDS.toNanos(50)))).with(ReferenceModel.of(policy)),
                estimator, serialisation);
        }
    }

    private static double held(final List<Double> ofErrors, final List<Double> ofBounds) {
        int held = 0;
        for (int i = 0; i < ofErrors.size(); i++) {
            held += ofErrors.get(i) <= ofBounds.get(i) ? 1 : 0;
        }
        return (double)held / ofErrors.size();
    }

    private static double median(final List<Double> values) {
        return Numbers.quantile(values.stream().mapToDouble(each -> each).toArray(), 0.5);
    }

    private void assertHeld(final double mostWidth) {
        final double width = median(bounds) / median(errors);
        final String message = held(errors, bounds) + " of " + errors.size() + " held, width over error " + width;
        assertTrue(errors.size() >= 10 * SCALE && held(errors, bounds) >= 0.95, message);
        assertTrue(width <= mostWidth, message);
    }

    @Test
    void shouldBoundTheMeanOfInterpolatedDelays() {
        for (final double load : new double[] {0.2, 0.88}) {
            run(load, AdaptivePolicy.PAPER, Estimator.LINEAR, SerialisationMode.CAPACITY);
            run(load, new EveryNPolicy(20), Estimator.LINEAR, SerialisationMode.CAPACITY);
        }
        run(0.5, new EveryIntervalPolicy(200_000), Estimator.LINEAR, SerialisationMode.CAPACITY);
        assertHeld(20);
    }

    /** Estimates ignore the size of packets; the capacity tells how much that may be. */
    @Test
    void shouldBoundTheMeanWherePacketsAreLargerThanReferences() {
        run(0.2, AdaptivePolicy.PAPER, Estimator.LINEAR, SerialisationMode.NONE);
        run(0.5, new EveryNPolicy(20), Estimator.LINEAR, SerialisationMode.NONE);
        assertHeld(20);
    }

    @Test
    void shouldBoundTheMeanByTheLeftReference() {
        run(0.3, AdaptivePolicy.PAPER, Estimator.LEFT, SerialisationMode.CAPACITY);
        run(0.88, new EveryNPolicy(20), Estimator.LEFT, SerialisationMode.CAPACITY);
        assertHeld(200);
    }

    /** Why references have no bound of their own: they are fewer where the queue grows. */
    @Test
    void shouldNotTakeReferencesForASampleOfThePackets() {
        run(0.5, AdaptivePolicy.PAPER, Estimator.LINEAR, SerialisationMode.CAPACITY);
        assertTrue(held(referenceErrors, plainBounds) < 0.7, held(referenceErrors, plainBounds) + " held");
    }
}
