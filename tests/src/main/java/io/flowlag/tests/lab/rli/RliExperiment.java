package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentSimulation;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.counters.SpanCounters;
import io.flowlag.rli.receiver.DelaySamples;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.HeldOutErrors;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import io.flowlag.rli.sender.SenderCounter;
import io.flowlag.tests.lab.report.Numbers;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * One run of a simulated segment with RLI at its receiver: estimates and the truth, flow by flow. Flows are compared by the mean
 * over all packets that arrived, estimated or not.
 */
final class RliExperiment {
    private static final long LONG_NS = 100_000_000L;
    private static final long STEP_NS = 1_000_000_000L;
    private static final int SPAN_OFFSET = DelayCounters.USED_BYTES;

    private final SegmentProfile profile;
    private final SimulatedSegment segment;
    private final SegmentTruth truth;
    private final RliReceiver receiver;
    private final SegmentSimulation simulation;
    private final UnsafeBuffer estimates;
    private final byte[] classes;
    private long betweenCount;

    /** Runs it to the end. */
    RliExperiment(final SegmentProfile profile, final Estimator estimator) {
        this.profile = profile;
        segment = new SimulatedSegment(profile);
        final int flowCount = segment.flows().flowCount();
        truth = new SegmentTruth(segment.flows());
        estimates = new UnsafeBuffer(ByteBuffer.allocateDirect(flowCount * DelayCounters.LENGTH_BYTES));
        classes = new byte[flowCount];
        receiver = new RliReceiver(settings(estimator), this::onSamples);
        simulation = segment.run(new Wiring());
        receiver.onEnd();
    }

    private ReceiverSettings settings(final Estimator estimator) {
        final ReferenceModel references = profile.references();
        return ReceiverSettings.defaults()
            .withStreams(2, IntStream.range(0, references.streamCount()).map(references::streamClass).boxed().toList())
            .withEstimation(new ReceiverSettings.Estimation(
                estimator, SendTimes.STAMP, false, SerialisationMode.CAPACITY, profile.capacityBps()))
            .withHistograms(new ReceiverSettings.Histograms(2, 1));
    }

    private int onSamples(final DelaySamples samples) {
        for (int i = 0; i < samples.count(); i++) {
            final int offset = samples.slot(i) * DelayCounters.LENGTH_BYTES;
            final long delayNs = samples.delayNs(i);
            SpanCounters.record(
                estimates, offset + SPAN_OFFSET, samples.spanNumber(), samples.errorScaleNs(i),
                DelayCounters.count(estimates, offset));
            if (Math.abs(delayNs) > LONG_NS && Math.abs(delayNs) < STEP_NS - LONG_NS) {
                betweenCount++;
            }
            DelayCounters.record(estimates, offset, delayNs);
        }
        return 0;
    }

    /** The truth, and the receiver at the same time. */
    private final class Wiring implements SegmentHandler {
        @Override
        public void onSent(final SimulatedPacket packet) {
            truth.onSent(packet);
        }

        @Override
        public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
            truth.onReceived(packet, arrivalNs);
            final int stream = profile.references().streamCount() == 1 ? 0 : packet.classIndex();
            if (packet.isReference()) {
                receiver.stream(stream).onReference(packet.number(), packet.sentNs(), arrivalNs, packet.lengthBytes());
            } else {
                classes[packet.flow()] = (byte)packet.classIndex();
                receiver.stream(stream).onPacket(
                    packet.flow(), 0, packet.classIndex(), 0, packet.lengthBytes(), arrivalNs);
            }
        }

        @Override
        public void onLost(final SimulatedPacket packet) {
            truth.onLost(packet);
        }
    }

    SegmentTruth truth() {
        return truth;
    }

    RliReceiver receiver() {
        return receiver;
    }

    private long sampleCount(final int flow) {
        return DelayCounters.count(estimates, flow * DelayCounters.LENGTH_BYTES);
    }

    /** Every flow that has an estimate. */
    boolean isEstimated(final int flow) {
        return sampleCount(flow) > 0;
    }

    IntPredicate ofClass(final int classIndex) {
        return flow -> classes[flow] == classIndex;
    }

    IntPredicate ofAtLeast(final int packets) {
        return flow -> truth.receivedPackets(flow) >= packets;
    }

    IntPredicate slowerThan(final long delayNs) {
        return flow -> truth.meanNs(flow) >= delayNs;
    }

    /** The mean delay of all packets, µs. */
    double trueMeanUs() {
        return perPacketUs(flow -> (double)truth.sumNs(flow));
    }

    /** The mean error of all packets of flows with estimates, µs, signed. */
    double biasUs() {
        return perPacketUs(flow ->
            isEstimated(flow) ? (estimatedMeanNs(flow) - truth.meanNs(flow)) * truth.receivedPackets(flow) : 0);
    }

    private double perPacketUs(final FlowValue sumNs) {
        return Arrays.stream(values(flow -> true, sumNs)).sum() / 1e3 /
            Arrays.stream(values(flow -> true, truth::receivedPackets)).sum();
    }

    double estimatedMeanNs(final int flow) {
        final int offset = flow * DelayCounters.LENGTH_BYTES;
        return (double)DelayCounters.sumNs(estimates, offset) / sampleCount(flow);
    }

    double absoluteErrorNs(final int flow) {
        return Math.abs(estimatedMeanNs(flow) - truth.meanNs(flow));
    }

    double relativeError(final int flow) {
        return absoluteErrorNs(flow) / truth.meanNs(flow);
    }

    /** The error of a flow's standard deviation over the true one; absent where packets are few or do not differ. */
    double deviationError(final int flow) {
        return sampleCount(flow) >= 2 && truth.standardDeviationNs(flow) > 0 ? relativeDeviationError(flow) : Double.NaN;
    }

    /** What is given for each flow that has an estimate. */
    double[] ofEstimated(final FlowValue value) {
        return values(this::isEstimated, value);
    }

    private double relativeDeviationError(final int flow) {
        final double trueNs = truth.standardDeviationNs(flow);
        return Math.abs(DelayCounters.standardDeviationNs(estimates, flow * DelayCounters.LENGTH_BYTES) - trueNs) / trueNs;
    }

    /** A quantile of the relative error of flow means. */
    double meanError(final IntPredicate flows, final double quantile) {
        return Numbers.quantile(values(flow -> isEstimated(flow) && flows.test(flow), this::relativeError), quantile);
    }

    /** The median relative error of the means of all flows. */
    double medianMeanError() {
        return meanError(flow -> true, 0.5);
    }

    /** The median error of the means of flows, µs. */
    double medianAbsoluteErrorUs(final IntPredicate flows) {
        return Numbers.quantile(values(flow -> isEstimated(flow) && flows.test(flow), this::absoluteErrorNs), 0.5) / 1e3;
    }

    /** The median relative error of the means of all flows, against what they would have been in another run. */
    double medianErrorAgainst(final SegmentTruth other) {
        return Numbers.quantile(values(
            flow -> isEstimated(flow) && other.receivedPackets(flow) > 0,
            flow -> Math.abs(estimatedMeanNs(flow) - other.meanNs(flow)) / other.meanNs(flow)), 0.5);
    }

    /** The median relative error of the standard deviations of flows with two packets or more that differ in delay. */
    double medianDeviationError(final IntPredicate flows) {
        final IntPredicate varying = flow -> sampleCount(flow) >= 2 && truth.standardDeviationNs(flow) > 0;
        return Numbers.quantile(values(varying.and(flows), this::relativeDeviationError), 0.5);
    }

    /** The share of flows whose true mean is within the bound that the held-out references give (element 14). */
    double coverage(final IntPredicate flows) {
        return Arrays.stream(values(flow -> isEstimated(flow) && flows.test(flow), flow -> {
            final HeldOutErrors heldOut = receiver.statistics(
                profile.references().streamCount() == 1 ? profile.references().streamClass(0) : classes[flow]).heldOut();
            final double unknownShare = Math.max(0, 1 - (double)sampleCount(flow) / truth.receivedPackets(flow));
            return absoluteErrorNs(flow) <= heldOut.halfWidthNs(
                errorScaleNs(flow), sampleCount(flow), Math.round(estimatedMeanNs(flow)), unknownShare) ? 1 : 0;
        })).average().orElse(Double.NaN);
    }

    private double errorScaleNs(final int flow) {
        final int offset = flow * DelayCounters.LENGTH_BYTES;
        return SpanCounters.meanScaleNs(estimates, offset + SPAN_OFFSET, DelayCounters.count(estimates, offset));
    }

    /** References for each regular packet. */
    double injectionRate() {
        return (double)simulation.counter(SenderCounter.REFERENCES) / simulation.counter(SenderCounter.REGULAR_PACKETS);
    }

    /** Estimates that are impossible when the clock is set by a second: between 0.1 and 0.9 s. */
    long samplesWithinStep() {
        return betweenCount;
    }

    long references() {
        return simulation.counter(SenderCounter.REFERENCES);
    }

    long referenceBytes() {
        return simulation.counter(SenderCounter.REFERENCE_BYTES);
    }

    long regularPackets() {
        return simulation.counter(SenderCounter.REGULAR_PACKETS);
    }

    long elapsedNs() {
        return simulation.elapsedNs();
    }

    /** The references' share of the link. */
    double linkShare() {
        return referenceBytes() * 8e9 / ((double)profile.capacityBps() * simulation.elapsedNs());
    }

    /** Regular packets that were lost. */
    double lossShare() {
        long lost = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            lost += truth.lostPackets(flow);
        }
        return (double)lost / profile.traffic().packetCount();
    }

    /** The share of packets that arrived and have an estimate. */
    double estimatedShare() {
        return (double)receiver.counter(ReceiverCounter.ESTIMATED) / receiver.counter(ReceiverCounter.PACKETS);
    }

    double[] values(final IntPredicate flows, final FlowValue value) {
        final double[] values = new double[truth.flowCount()];
        int count = 0;
        for (int flow = 0; flow < values.length; flow++) {
            if (truth.receivedPackets(flow) > 0 && flows.test(flow)) {
                values[count++] = value.of(flow);
            }
        }
        return Arrays.copyOf(values, count);
    }

    /** A number of a flow. */
    @FunctionalInterface
    interface FlowValue {
        double of(int flow);
    }
}
