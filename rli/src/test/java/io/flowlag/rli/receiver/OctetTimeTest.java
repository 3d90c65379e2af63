package io.flowlag.rli.receiver;

import io.flowlag.rli.counters.SpanCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** A queue in simulated time whose stamps are the beginnings or ends of transmissions, and references that time chooses. */
class OctetTimeTest {
    private static final long CAPACITY_BPS = 10_000_000;
    private static final int REFERENCE_BYTES = 110;
    private static final int PACKETS = 150_000;
    private static final int FLOWS = 750;

    private final double[] sumsNs = new double[FLOWS];
    private final double[] truthsNs = new double[FLOWS];
    private final long[] octets = new long[FLOWS];
    private final int[] counts = new int[FLOWS];
    private final UnsafeBuffer spans = new UnsafeBuffer(new byte[FLOWS * SpanCounters.LENGTH_BYTES]);
    private RliReceiver receiver;
    private double halfSumNs;
    private int knownEvery = PACKETS;

    private void run(
        final double load, final double gapTransmissions, final double seenShare, final boolean isEnd,
        final long capacityBps) {
        receiver = new RliReceiver(
            new ReceiverSettingsBuilder().sendTimes(SendTimes.STAMP).silentAfterNs(10_000_000_000L)
                .maximumDelayNs(10_000_000_000L).capacityBps(capacityBps).build(), this::onSamples);
        final FifoModel model = new FifoModel(CAPACITY_BPS, load, 7);
        final double gapNs = gapTransmissions * FifoModel.MEAN_LENGTH_BYTES * model.nsPerByte;
        double dueNs = 0;
        int number = 0;
        for (int i = 0; i < PACKETS; i++) {
            final int lengthBytes = model.nextLengthBytes();
            final long sentNs = model.nextArrivalNs();
            while (dueNs < sentNs) {
                final long referenceNs = Math.round(dueNs);
                receiver.stream(0).onReference(
                    number++, referenceNs, stampNs(model, referenceNs, REFERENCE_BYTES, isEnd), REFERENCE_BYTES);
                dueNs += gapNs;
            }
            final long stampNs = stampNs(model, sentNs, lengthBytes, isEnd);
            if (model.random.nextDouble() < seenShare) {
                final int flow = i / (PACKETS / 10) * (FLOWS / 10) + model.random.nextInt(FLOWS / 10);
                truthsNs[flow] += stampNs - sentNs;
                octets[flow] += lengthBytes;
                halfSumNs += model.nsPerByte * lengthBytes / 2;
                receiver.stream(0).onPacket(flow, 0, 0, 0, lengthBytes, stampNs);
                if (i % knownEvery == 0) {
                    receiver.stream(0).paths().onKnown(flow, 0, lengthBytes, stampNs, stampNs - sentNs);
                }
            }
        }
    }

    private static long stampNs(final FifoModel model, final long sentNs, final int lengthBytes, final boolean isEnd) {
        return model.departureNs(sentNs, lengthBytes) - (isEnd ? 0 : Math.round(lengthBytes * model.nsPerByte));
    }

    private int onSamples(final DelaySamples samples) {
        for (int i = 0; i < samples.count(); i++) {
            final int flow = samples.slot(i);
            SpanCounters.record(
                spans, flow * SpanCounters.LENGTH_BYTES, samples.spanNumber(), samples.errorScaleNs(i), counts[flow]++);
            sumsNs[flow] += samples.delayNs(i);
        }
        return 0;
    }

    /** The mean error in halves of a transmission. */
    private double error() {
        double errorSumNs = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            errorSumNs += sumsNs[flow] - truthsNs[flow];
        }
        return errorSumNs / halfSumNs;
    }

    private double coverage() {
        int held = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            final double scaleNs = SpanCounters.meanScaleNs(spans, flow * SpanCounters.LENGTH_BYTES, counts[flow]);
            final double meanNs = sumsNs[flow] / counts[flow];
            final long boundNs = receiver.statistics(0).heldOut().halfWidthNs(
                scaleNs, counts[flow], Math.round(meanNs), 0, (double)octets[flow] / counts[flow]);
            held += Math.abs(meanNs - truthsNs[flow] / counts[flow]) <= boundNs ? 1 : 0;
        }
        return (double)held / FLOWS;
    }

    private void check(
        final double load, final double gapTransmissions, final double seenShare, final boolean isEnd, final long capacityBps) {
        Arrays.fill(sumsNs, 0);
        Arrays.fill(truthsNs, 0);
        Arrays.fill(octets, 0);
        Arrays.fill(counts, 0);
        spans.setMemory(0, spans.capacity(), (byte)0);
        halfSumNs = 0;
        run(load, gapTransmissions, seenShare, isEnd, capacityBps);
        final String line = load + " " + gapTransmissions + " " + seenShare + (isEnd ? " end " : " begin ") + capacityBps +
            ": error " + error() + ", coverage " + coverage();
        assertTrue(isEnd ? error() < 0 : error() > 0, line);
        assertTrue(coverage() >= 0.93, line);
    }

    @ParameterizedTest
    @CsvSource({"0.5, 1, 1", "0.7, 3, 1", "0.9, 3, 1", "0.9, 10, 1", "0.9, 3, 0.5", "0.9, 10, 0.5", "0.5, 20, 1", "0.3, 3, 1"})
    void shouldCoverTransmissionsBeforeAndBehindTheStamp(
        final double load, final double gapTransmissions, final double seenShare) {
        check(load, gapTransmissions, seenShare, false, 0);
        check(load, gapTransmissions, seenShare, false, CAPACITY_BPS);
        check(load, gapTransmissions, seenShare, true, CAPACITY_BPS);
    }

    /** A queue that is never seen busy does not tell its time. */
    @ParameterizedTest
    @CsvSource({"0.5, 1, 1", "0.7, 3, 1", "0.9, 3, 1", "0.9, 10, 1", "0.9, 3, 0.5", "0.9, 10, 0.5", "0.3, 3, 1"})
    void shouldCoverTransmissionsBeforeTheStampWhereTheQueueIsBusy(
        final double load, final double gapTransmissions, final double seenShare) {
        check(load, gapTransmissions, seenShare, true, 0);
    }

    /** Every tenth packet's delay is known, as where matching takes a part of the flows. */
    @ParameterizedTest
    @CsvSource({"0.7, 3, false", "0.9, 3, false", "0.9, 10, false", "0.7, 3, true", "0.9, 3, true", "0.5, 20, true"})
    void shouldLearnWhichWayTransmissionsErr(final double load, final double gapTransmissions, final boolean isEnd) {
        knownEvery = 10;
        run(load, gapTransmissions, 1, isEnd, 0);
        final String line = load + " " + gapTransmissions + " " + isEnd + ": error " + error() + ", coverage " + coverage();
        assertTrue(Math.abs(error()) <= 0.15, line);
        assertTrue(coverage() >= 0.93, line);
    }
}
