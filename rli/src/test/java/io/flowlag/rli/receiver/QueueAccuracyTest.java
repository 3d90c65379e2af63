package io.flowlag.rli.receiver;

import io.flowlag.rli.counters.SpanCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Estimates against the truth of a queue in simulated time. */
class QueueAccuracyTest {
    private static final long CAPACITY_BPS = 1_000_000_000L;
    private static final int REFERENCE_BYTES = 110;
    private static final int PACKETS = 200_000;
    private static final int FLOWS = 2000;
    private static final int BURST_PACKETS = PACKETS / FLOWS / 2;
    private static final int SPANS_BYTES = SpanCounters.LENGTH_BYTES;

    private final long[] flowSumsNs = new long[FLOWS];
    private final long[] flowTruthsNs = new long[FLOWS];
    private final int[] flowCounts = new int[FLOWS];
    private final long[] allTruthsNs = new long[FLOWS];
    private final int[] allCounts = new int[FLOWS];
    private final UnsafeBuffer flowSpans = new UnsafeBuffer(new byte[FLOWS * SPANS_BYTES]);
    private final long[] truthsNs = new long[PACKETS];
    private double absoluteErrorNs;
    private double errorNs;
    private boolean isBehind;
    private boolean isBursty;
    private boolean isRandom;
    private long maximumGapNs = Long.MAX_VALUE;
    private RliReceiver receiver;

    private int onSamples(final DelaySamples samples) {
        for (int i = 0; i < samples.count(); i++) {
            final int slot = samples.slot(i);
            final long delayNs = samples.delayNs(i);
            final long truthNs = truthsNs[samples.generation(i)];
            errorNs += delayNs - truthNs;
            absoluteErrorNs += Math.abs(delayNs - truthNs);
            SpanCounters.record(
                flowSpans, slot * SPANS_BYTES, samples.spanNumber(), samples.errorScaleNs(i), flowCounts[slot]++);
            flowSumsNs[slot] += delayNs;
            flowTruthsNs[slot] += truthNs;
        }
        return 0;
    }

    /** The slot is the flow and the generation the packet, so that each sample meets its truth. */
    private double meanAbsoluteErrorNs(final ReceiverSettingsBuilder settings, final double utilization, final int packetGap,
        final boolean isMarked) {
        Arrays.fill(flowCounts, 0);
        Arrays.fill(allTruthsNs, 0);
        Arrays.fill(allCounts, 0);
        flowSpans.setMemory(0, flowSpans.capacity(), (byte)0);
        Arrays.fill(flowSumsNs, 0);
        Arrays.fill(flowTruthsNs, 0);
        absoluteErrorNs = 0;
        errorNs = 0;
        int sequenceNumber = 0;
        receiver = new RliReceiver(
            settings.sendTimes(SendTimes.STAMP).capacityBps(CAPACITY_BPS).maximumGapNs(maximumGapNs).significantDigits(2).build(),
            this::onSamples);
        final FifoModel model = new FifoModel(CAPACITY_BPS, utilization, 42);
        for (int i = 0; i < PACKETS; i++) {
            final int lengthBytes = model.nextLengthBytes();
            final long sentNs = model.nextArrivalNs();
            if (!isMarked && !isBehind && isDue(i, packetGap)) {
                // Ahead of the packet that made it due: behind it, every reference would wait for that packet's transmission.
                receiver.stream(0).onReference(
                    sequenceNumber++, sentNs, model.departureNs(sentNs, REFERENCE_BYTES), REFERENCE_BYTES);
            }
            final long arrivalNs = model.departureNs(sentNs, lengthBytes);
            if (isBehind && isDue(i, packetGap)) {
                receiver.stream(0).onReference(
                    sequenceNumber++, sentNs, model.departureNs(sentNs, REFERENCE_BYTES), REFERENCE_BYTES);
            }
            truthsNs[i] = arrivalNs - sentNs;
            if (isMarked && isDue(i, packetGap)) {
                receiver.stream(0).onReference(sequenceNumber++, sentNs, arrivalNs, lengthBytes);
            } else {
                allTruthsNs[flowOf(i)] += truthsNs[i];
                allCounts[flowOf(i)]++;
                receiver.stream(0).onPacket(flowOf(i), i, 0, 0, lengthBytes, arrivalNs);
            }
        }
        return absoluteErrorNs / receiver.counter(ReceiverCounter.ESTIMATED);
    }

    private boolean isDue(final int packet, final int packetGap) {
        return isRandom ? new Random(packet).nextInt(packetGap) == 0 : packet % packetGap == 0;
    }

    /** Flows overlap and last about a tenth of the run; or they come in two bursts, half of the run apart. */
    private int flowOf(final int packet) {
        if (isBursty) {
            return packet / BURST_PACKETS % FLOWS;
        }
        final long hash = packet * 0x9E3779B97F4A7C15L;
        return packet / (PACKETS / 10) * (FLOWS / 10) + (int)((hash >>> 33) % (FLOWS / 10));
    }

    private static ReceiverSettingsBuilder settings() {
        return new ReceiverSettingsBuilder();
    }

    @Test
    void shouldEstimateBetterLinearThanLeftAndBetterWithSizeThanWithout() {
        for (final double utilization : new double[] {0.5, 0.7}) {
            final double linearNs = meanAbsoluteErrorNs(
                settings().serialisation(SerialisationMode.CAPACITY), utilization, 10, false);
            final double leftNs = meanAbsoluteErrorNs(
                settings().serialisation(SerialisationMode.CAPACITY).estimator(Estimator.LEFT), utilization, 10, false);
            final double sizelessNs = meanAbsoluteErrorNs(settings(), utilization, 10, false);

            assertTrue(linearNs < leftNs, linearNs + " " + leftNs + " at " + utilization);
            assertTrue(linearNs < sizelessNs, linearNs + " " + sizelessNs);
        }
    }

    @Test
    void shouldEstimateBetterWithMoreReferences() {
        double beforeNs = 0;
        for (final int packetGap : new int[] {5, 20, 100}) {
            final double errorNs =
                meanAbsoluteErrorNs(settings().serialisation(SerialisationMode.CAPACITY), 0.7, packetGap, false);
            assertTrue(errorNs > beforeNs, packetGap + " " + errorNs);
            beforeNs = errorNs;
        }
    }

    /** The table in docs/rli.md. */
    @Test
    void shouldLeanHighByOneTransmissionWhenReferencesFollowThePacketThatMadeThemDue() {
        final double transmissionNs = FifoModel.MEAN_LENGTH_BYTES * 8e9 / CAPACITY_BPS;
        for (final double utilization : new double[] {0.2, 0.5, 0.7, 0.9}) {
            for (final boolean behind : new boolean[] {true, false}) {
                isBehind = behind;
                meanAbsoluteErrorNs(settings().serialisation(SerialisationMode.CAPACITY), utilization, 10, false);
                final double biasNs = errorNs / receiver.counter(ReceiverCounter.ESTIMATED);

                assertEquals(behind ? transmissionNs : 0, biasNs, 0.1 * transmissionNs, behind + " at " + utilization);
            }
        }
    }

    @Test
    void shouldFitTheTimePerOctetFromReferencesThatDifferInSize() {
        meanAbsoluteErrorNs(settings().serialisation(SerialisationMode.FITTED), 0.5, 5, true);

        assertEquals(8e9 / CAPACITY_BPS, receiver.stream(0).serialisationNsPerByte(), 0.15 * 8e9 / CAPACITY_BPS);
    }

    @Test
    void shouldFitNothingFromReferencesOfOneSize() {
        meanAbsoluteErrorNs(settings().serialisation(SerialisationMode.FITTED), 0.5, 5, false);

        assertEquals(0, receiver.stream(0).serialisationNsPerByte());
    }

    @Test
    void shouldBoundTheErrorOfMostFlowMeans() {
        for (final double utilization : new double[] {0.5, 0.7, 0.9}) {
            assertMostBoundsHold(utilization, 20, Estimator.LINEAR);
        }
    }

    @Test
    void shouldBoundTheErrorOfMostMeansOfFlowsThatComeInBursts() {
        isBursty = true;
        for (final int packetGap : new int[] {20, 100}) {
            assertMostBoundsHold(0.9, packetGap, Estimator.LINEAR);
        }
    }

    @Test
    void shouldBoundTheErrorOfMostMeansByTheLeftReference() {
        for (final double utilization : new double[] {0.5, 0.7, 0.9}) {
            assertMostBoundsHold(utilization, 20, Estimator.LEFT);
        }
        isBursty = true;
        assertMostBoundsHold(0.9, 20, Estimator.LEFT);
    }

    /** References of random distances, and no estimate over the longer ones. */
    @Test
    void shouldBoundTheErrorOfMostMeansWherePacketsHaveNoEstimate() {
        maximumGapNs = 200_000;
        isRandom = true;
        assertMostBoundsHold(0.9, 50, Estimator.LINEAR);
        assertTrue(receiver.counter(ReceiverCounter.SILENCE) > PACKETS / 2);
        assertMostBoundsHold(0.9, 50, Estimator.LEFT);
    }

    private void assertMostBoundsHold(
        final double utilization, final int packetGap, final Estimator estimator) {
        meanAbsoluteErrorNs(
            settings().serialisation(SerialisationMode.CAPACITY).estimator(estimator), utilization, packetGap, false);
        final HeldOutErrors heldOut = receiver.statistics(0).heldOut();
        assertTrue(heldOut.hasBound());
        final List<Integer> covered = new ArrayList<>();
        for (int flow = 0; flow < FLOWS; flow++) {
            if (flowCounts[flow] > 0) {
                final double meanNs = (double)flowSumsNs[flow] / flowCounts[flow];
                final double errorNs = meanNs - (double)allTruthsNs[flow] / allCounts[flow];
                final double scaleNs = SpanCounters.meanScaleNs(flowSpans, flow * SPANS_BYTES, flowCounts[flow]);
                final long boundNs = heldOut.halfWidthNs(
                    scaleNs, flowCounts[flow], Math.round(meanNs), 1 - (double)flowCounts[flow] / allCounts[flow]);
                covered.add(Math.abs(errorNs) <= boundNs ? 1 : 0);
            }
        }
        final double coverage = covered.stream().mapToInt(Integer::intValue).average().orElseThrow();
        assertTrue(coverage >= 0.93, "coverage " + coverage + " at " + utilization + " " + estimator);
    }
}
