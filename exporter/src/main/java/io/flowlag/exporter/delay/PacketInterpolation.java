package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Rli;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import org.agrona.DirectBuffer;

import java.util.function.ObjLongConsumer;
import java.util.stream.IntStream;

/**
 * Interpolation of packets between references, which are packets of their own or packets of the traffic. Does nothing with a
 * receiver without streams. The metering thread owns it; counters may be read by any. Allocates at construction.
 */
final class PacketInterpolation {
    private final RliReceiver receiver;
    private final boolean isOn;
    private final ReferencePackets references;
    private final FlowCache cache;
    private final FlowDistributions distributions;
    private final int classCount;

    /**
     * Nothing interpolated yet.
     *
     * @param receiver   with a stream for each class of each sender.
     * @param references that are packets of the traffic.
     * @param cache      with the flows of the packets.
     */
    PacketInterpolation(
        final RliReceiver receiver, final ReferencePackets references, final FlowCache cache,
        final FlowDistributions distributions, final int classCount) {
        this.receiver = receiver;
        isOn = receiver.streamCount() > 0;
        this.references = references;
        this.cache = cache;
        this.distributions = distributions;
        this.classCount = classCount;
    }

    /**
     * The settings of a receiver of references.
     *
     * @param mode        where references come from.
     * @param streamCount numbered by sender, then class; each stream has a class of its own.
     */
    static ReceiverSettings settings(
        final ExporterConfig config, final ReferenceMode mode, final int streamCount, final long silentAfterNs) {
        final Rli rli = config.rli();
        final ReceiverSettings defaults = ReceiverSettings.defaults();
        return defaults
            .withStreams(streamCount, IntStream.range(0, streamCount).boxed().toList())
            .withEstimation(new ReceiverSettings.Estimation(
                rli.estimator() == ExporterConfig.EstimatorKind.LEFT ? Estimator.LEFT : Estimator.LINEAR,
                mode.isTraffic() ? SendTimes.STAMP : SendTimes.FOLLOW_UP, mode.isTraffic(),
                serialisation(rli, mode.isTraffic()), rli.capacityBps()))
            .withLimits(new ReceiverSettings.Limits(
                rli.bufferPackets(), silentAfterNs,
                mode == ReferenceMode.PASSIVE ? rli.injection().maximumGapNs() : Long.MAX_VALUE,
                config.segment().maximumDelayNs()))
            .withDrift(new ReceiverSettings.Drift(
                defaults.drift().windowNs(), rli.drift() == ExporterConfig.Drift.APPLY))
            .withPathFlows(mode.isTraffic() ? 0 : config.metering().maxFlows());
    }

    /** References that a process sends have one size, so serialisation is not fitted; packets of the traffic differ in size. */
    private static SerialisationMode serialisation(final Rli rli, final boolean isTraffic) {
        return switch (rli.serialisation()) {
            case AUTO -> isTraffic ? SerialisationMode.AUTO : SerialisationMode.NONE;
            case NONE -> SerialisationMode.NONE;
            case CAPACITY -> SerialisationMode.CAPACITY;
            case FITTED -> SerialisationMode.FITTED;
        };
    }

    /** {@return whether packets are interpolated} */
    boolean isOn() {
        return isOn;
    }

    /** {@return the receiver of references, for its statistics} */
    RliReceiver receiver() {
        return receiver;
    }

    /** Prefetches what the next packets need. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        for (int i = 0; isOn && i < count; i++) {
            final int slot = cache.likelySlot(i);
            octets += slot < 0 ? 0 : distributions.touch(cache.entries(), cache.stateOffset(slot));
        }
        return octets + references.touch(descriptors, offset, count);
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        references.onSent(descriptor, offset);
    }

    /** A packet of the segment passed the receiver point; the ticket is of the sketches, for its estimate. */
    void onReceived(final DirectBuffer descriptor, final int offset, final int slot, final int stream, final long ticket) {
        if (isOn) {
            onPacket(descriptor, offset, slot, stream, ticket);
            references.onReceived(descriptor, offset, slot, stream);
        }
    }

    private void onPacket(
        final DirectBuffer descriptor, final int offset, final int slot, final int stream, final long ticket) {
        receiver.stream(stream).onPacket(
            slot, cache.generation(slot), stream, ticket, PacketDescriptor.wireLengthBytes(descriptor, offset),
            PacketDescriptor.timestampNs(descriptor, offset));
    }

    /** Packets of the first sender that waited, with their tickets. */
    void onReceived(final PendingPackets packets, final TrafficClasses classes) {
        if (!isOn) {
            return;
        }
        final DirectBuffer descriptors = packets.descriptors();
        final int count = packets.count();
        references.onReceived(packets, classes);
        if (classes.count() > 1 || !receiver.stream(0).wouldBuffer(count, packets.earliestNs(), packets.latestNs())) {
            for (int i = 0; i < count; i++) {
                final int offset = packets.offset(i);
                onPacket(descriptors, offset, packets.slot(i), classes.of(descriptors, offset), packets.ticket(i));
            }
            return;
        }
        for (int i = 0; i < count; i++) {
            receiver.stream(0).onBufferedPacket(
                packets.slot(i), cache.generation(packets.slot(i)), 0, packets.ticket(i),
                PacketDescriptor.wireLengthBytes(descriptors, packets.offset(i)),
                PacketDescriptor.timestampNs(descriptors, packets.offset(i)));
        }
        receiver.stream(0).onBuffered(count);
    }

    void onReference(
        final int stream, final int sequenceNumber, final long sentNs, final long arrivalNs, final int lengthBytes,
        final int sourcePort) {
        receiver.stream(stream).onReference(sequenceNumber, sentNs, arrivalNs, lengthBytes, sourcePort);
    }

    void onSendTime(final int stream, final int sequenceNumber, final long sentNs) {
        if (isOn) {
            receiver.stream(stream).onSendTime(sequenceNumber, sentNs);
        }
    }

    /** {@return whether there is room for send times of a sender; they wait in the exchange's queue until then} */
    boolean hasRoom(final int senderIndex) {
        return isOn && references.hasRoom(senderIndex);
    }

    /**
     * Takes a send time from the exchange, see {@link ReceiverLink.SendTimeHandler}; returns whether it is of use. A sender
     * numbers the streams of injected references by class.
     *
     * @param sentNs    by this host's clock, if delays are corrected.
     * @param shippedNs the same by the sender's.
     */
    boolean onShipped(
        final int senderIndex, final boolean isPassive, final long key, final long sentNs, final long shippedNs) {
        if (!references.uses(isPassive) || !isPassive && key >>> Integer.SIZE >= classCount) {
            return false;
        }
        if (isPassive) {
            references.onSendTime(senderIndex, key, sentNs, shippedNs);
        } else {
            receiver.stream(senderIndex * classCount + (int)(key >>> Integer.SIZE)).onSendTime((int)key, sentNs);
        }
        return true;
    }

    void settings(final Rli rli) {
        receiver.capacityBps(rli.capacityBps());
        if (references.isPassive()) {
            receiver.maximumGapNs(rli.injection().maximumGapNs());
        }
    }

    void onTime(final long capturedNs) {
        references.onTime(capturedNs);
        receiver.onTime(capturedNs);
    }

    void onTimeSetBack() {
        receiver.onClockStep();
        references.onTimeSetBack();
    }

    void onEnd() {
        receiver.onEnd();
    }

    /** Shows the counters of packets that stand in for references. Any thread. */
    void counters(final ObjLongConsumer<String> consumer) {
        references.counters(consumer);
    }
}
