package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.rli.receiver.RliReceiver;
import org.agrona.DirectBuffer;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.ObjLongConsumer;

/**
 * Policy passive at a receiver point: packets that both points choose by digest are the references. Their send times come from
 * the sender point in this process or from the exchange. Packets of sampled flows are matched alike, for their delays alone. The
 * metering thread owns it. Allocates at construction.
 */
class PassiveStage extends ReferencePackets {
    private static final int CAPACITY = 64 * 1024;
    /** Room for the references of this time, because one process may lag behind the other over the exchange. */
    private static final int SHIPPED_SECONDS = 4;
    private static final int MOST_CAPACITY = 1024 * 1024;

    private final RliReceiver receiver;
    private final SharedSampling sampling;
    private final FlowSamples samples;
    private final ClockDifference clocks;
    private final PassiveReferences[] references;
    private final int classCount;
    private final int[] nextNumbers;
    private final long[] lastArrivalsNs;
    private final long maximumDelayNs;
    private final long keyMask;
    private volatile long reorderedCount;

    /**
     * A stage that has seen nothing.
     *
     * @param receiver   takes the references; its streams are numbered by sender, then class.
     * @param passivePpm packets in a million.
     * @param shippingNs how much later send times may come than packets; 0 in one process.
     * @param ceilingBps what send times may take of the exchange.
     * @param samples    takes the delays of sampled packets.
     * @param clocks     take the delays between the clocks as they are, and correct them.
     */
    PassiveStage(
        final RliReceiver receiver, final int senderCount, final int passivePpm, final long maximumDelayNs,
        final long shippingNs, final long ceilingBps, final FlowSamples samples, final ClockDifference clocks) {
        this.receiver = receiver;
        this.clocks = clocks;
        this.samples = samples;
        this.maximumDelayNs = maximumDelayNs;
        keyMask = shippingNs == 0 ? -1 : ReceiverLink.SHIPPED_DIGEST_MASK;
        sampling = new SharedSampling(IntervalSettings.SKETCH_SEED, passivePpm, 0);
        classCount = receiver.streamCount() / senderCount;
        references = new PassiveReferences[senderCount];
        for (int i = 0; i < senderCount; i++) {
            references[i] = new PassiveReferences(
                capacity(shippingNs > 0, ceilingBps), maximumDelayNs + shippingNs, this::onMatched);
        }
        nextNumbers = new int[receiver.streamCount()];
        lastArrivalsNs = new long[receiver.streamCount()];
        Arrays.fill(lastArrivalsNs, Long.MIN_VALUE / 2);
    }

    /** The memory of a stage, by formula, octets; the ceiling is of send times that come by the exchange. */
    static long memoryBytes(final int senderCount, final boolean isShipped, final long ceilingBps) {
        return senderCount * PassiveReferences.memoryBytes(capacity(isShipped, ceilingBps));
    }

    private static int capacity(final boolean isShipped, final long ceilingBps) {
        final long shipped = SHIPPED_SECONDS * ceilingBps / ReceiverLink.SEND_TIME_BITS;
        return isShipped ? (int)Math.max(2 * CAPACITY, Math.min(MOST_CAPACITY, shipped)) : CAPACITY;
    }

    @Override
    boolean isPassive() {
        return true;
    }

    @Override
    boolean uses(final boolean isOfPassive) {
        return isOfPassive;
    }

    @Override
    final boolean isOn() {
        return true;
    }

    @Override
    boolean hasRoom(final int senderIndex) {
        return references[senderIndex].hasRoom();
    }

    @Override
    void onSent(final DirectBuffer descriptor, final int offset) {
        if (CurrentSegment.hasDigest(descriptor, offset) &&
            (isReference(descriptor, offset) || samples.isOfSampledFlow(descriptor, offset))) {
            final long sentNs = PacketDescriptor.timestampNs(descriptor, offset);
            onSendTime(0, PacketDescriptor.digest(descriptor, offset), sentNs, sentNs);
        }
    }

    @Override
    void onSendTime(final int senderIndex, final long digest, final long sentNs, final long shippedNs) {
        references[senderIndex].onSent(digest & keyMask, sentNs, shippedNs);
    }

    @Override
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int streamIndex) {
        if (!CurrentSegment.hasDigest(descriptor, offset)) {
            return;
        }
        final boolean isReference = isReference(descriptor, offset);
        if (isReference || samples.isOfSampledFlow(descriptor, offset)) {
            references[streamIndex / classCount].onArrived(
                PacketDescriptor.digest(descriptor, offset) & keyMask, PacketDescriptor.timestampNs(descriptor, offset),
                streamIndex, PacketDescriptor.wireLengthBytes(descriptor, offset), samples.onArrived(slot, isReference));
        }
    }

    private boolean isReference(final DirectBuffer descriptor, final int offset) {
        return sampling.isPassiveReference(PacketDescriptor.digest(descriptor, offset));
    }

    @Override
    void onTime(final long nowNs) {
        for (final PassiveReferences each : references) {
            each.onTime(nowNs);
        }
    }

    @Override
    void onTimeSetBack() {
        for (final PassiveReferences each : references) {
            each.forget();
        }
        Arrays.fill(lastArrivalsNs, Long.MIN_VALUE / 2);
    }

    private void onMatched(
        final int streamIndex, final long shippedNs, final long arrivalNs, final int lengthBytes, final long tag) {
        clocks.onDelay(streamIndex, shippedNs, arrivalNs);
        final long sentNs = clocks.ofStream(streamIndex).correctedNs(shippedNs);
        samples.onDelay(tag, arrivalNs - sentNs);
        if (FlowSamples.isReference(tag)) {
            onSample(streamIndex, sentNs, arrivalNs, lengthBytes, tag);
        }
    }

    /** A chosen packet is a reference if it comes in order of arrival; others would look like a step of a clock. */
    void onSample(
        final int streamIndex, final long sentNs, final long arrivalNs, final int lengthBytes, final long tag) {
        final long behindNs = lastArrivalsNs[streamIndex] - arrivalNs;
        if (behindNs > 0 && behindNs <= maximumDelayNs) {
            reorderedCount = reorderedCount + 1;
            return;
        }
        lastArrivalsNs[streamIndex] = arrivalNs;
        receiver.stream(streamIndex).onReference(nextNumbers[streamIndex]++, sentNs, arrivalNs, lengthBytes);
    }

    @Override
    void counters(final ObjLongConsumer<String> consumer) {
        final Map<String, Long> sums = new LinkedHashMap<>();
        for (final PassiveReferences each : references) {
            each.counters((label, count) -> sums.merge(label, count, Long::sum));
        }
        sums.forEach(consumer::accept);
        consumer.accept("passive_reordered", reorderedCount);
    }
}
