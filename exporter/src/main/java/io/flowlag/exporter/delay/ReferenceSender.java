package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.TimestampMethod;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.ReferenceSource;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;
import java.util.Map;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Sends references when they are due: one stream for each class. Effective send times come from this process's own sender point
 * if it sees its references, else from the transmitter; the next reference carries them. The metering thread owns it. Allocates
 * at construction.
 */
final class ReferenceSender extends PolicySchedule {
    private static final int POLL_LIMIT = 64;
    private static final int CATCH_UP_LIMIT = 16;
    /** The effective send time of a reference is usually known after this. */
    private static final long SEND_TIME_NS = 100_000;

    private final ReferenceSource[] sources;
    private final boolean[] isSeen;
    private final ReferenceTransmitter transmitter;
    private final ReferenceTransmitter.SendTimeHandler ownHandler = this::onSendTime;
    private final ReferenceTransmitter.SendTimeHandler receiver;
    private final ClockError clockError;
    private final EpochNanoClock clock;
    private final UnsafeBuffer packet;
    private final PassedPackets.PassedHandler passedHandler = this::onPassed;
    private PassedPackets[] others = {};
    private long passedNs;
    /** When the send time of the last reference may be known. */
    private long knownNs = Long.MAX_VALUE;

    /** A sender whose receiver takes effective send times in addition to follow-ups. */
    ReferenceSender(
        final ExporterConfig config,
        final DelayWiring wiring,
        final CurrentSegment segment,
        final ReferenceTransmitter.SendTimeHandler receiver,
        final EpochNanoClock clock) {
        super(config, InjectionTerms.of(config.rli()), segment);
        this.receiver = receiver;
        this.clock = clock;
        transmitter = wiring.references().transmitter();
        clockError = wiring.clockError();
        sources = new ReferenceSource[wiring.references().sessions().size()];
        isSeen = new boolean[sources.length];
        int lengthBytes = 0;
        for (int i = 0; i < sources.length; i++) {
            sources[i] = new ReferenceSource(wiring.references().sessions().get(i), errorEstimate());
            lengthBytes = Math.max(
                lengthBytes, ReferenceEncoder.maximumLengthBytes(wiring.references().sessions().get(i).isAuthenticated()));
        }
        packet = new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthBytes, CACHE_LINE_LENGTH));
    }

    @Override
    InjectionTerms terms(final ExporterConfig config) {
        return InjectionTerms.of(config.rli());
    }

    @Override
    void renew(final List<ReferenceSession> newer) {
        for (int i = 0; i < sources.length; i++) {
            sources[i].renew(newer.get(i));
        }
    }

    @Override
    void onPacket(
        final DirectBuffer descriptor, final int offset, final int classIndex, final long nowNs, final boolean isDue) {
        if (isDue) {
            send(classIndex, nowNs);
        }
    }

    @Override
    void join(final List<ReferenceSchedule> schedules) {
        others = schedules.toArray(new PassedPackets[0]);
    }

    /** Packets of other shards: a reference is due by as many of them as in one thread, a little later. */
    private void onPassed(final int classIndex, final long packets, final long octets) {
        long leftPackets = packets;
        long leftOctets = octets;
        while (leftPackets > 0) {
            final long count = Math.min(leftPackets, scheduler().packetsUntilDue(classIndex));
            final long countOctets = leftOctets * count / leftPackets;
            leftPackets -= count;
            leftOctets -= countOctets;
            onPacket(null, 0, classIndex, passedNs,
                scheduler().onPackets(classIndex, passedNs, count, countOctets) && isInjecting());
        }
    }

    private void send(final int classIndex, final long nowNs) {
        final ReferenceSource source = sources[classIndex];
        source.errorEstimate(errorEstimate());
        final int lengthBytes = source.encode(packet, 0, clock.nanoTime());
        if (transmitter.send(classIndex, packet, 0, lengthBytes)) {
            source.onSent();
            knownNs = Math.min(knownNs, nowNs + SEND_TIME_NS);
            scheduler().onInjected(classIndex, nowNs, lengthBytes + transmitter.headerLengthBytes());
        } else {
            scheduler().onInjectionFailed(classIndex, nowNs);
        }
    }

    /** Also reads effective send times. */
    @Override
    int onTime(final long nowNs, final long capturedNs) {
        super.onTime(nowNs, capturedNs);
        passedNs = nowNs;
        for (final PassedPackets each : others) {
            scheduler().onLinkQuiet(each.linkNs());
            scheduler().onOtherPacket(each.takeOther());
            each.take(passedHandler);
        }
        knownNs = nowNs < knownNs ? knownNs : Long.MAX_VALUE;
        int workCount = transmitter.poll(ownHandler, POLL_LIMIT);
        for (int i = 0; isInjecting() && i < CATCH_UP_LIMIT; i++) {
            final int classIndex = scheduler().dueClass(nowNs);
            if (classIndex == InjectionScheduler.NONE) {
                break;
            }
            send(classIndex, nowNs);
            workCount++;
        }
        return workCount;
    }

    @Override
    long nextDueNs(final long nowNs) {
        return isInjecting() ? Math.min(knownNs, scheduler().nextDueNs(nowNs)) : knownNs;
    }

    @Override
    void onSeen(final int streamIndex, final int sequenceNumber, final long sentNs) {
        isSeen[streamIndex] = true;
        sources[streamIndex].onObserved(sequenceNumber, sentNs, TimestampMethod.SOFTWARE_LOCAL);
        receiver.onSendTime(streamIndex, sequenceNumber, sentNs, TimestampMethod.SOFTWARE_LOCAL);
    }

    @Override
    void tell(final Map<String, Long> values) {
        super.tell(values);
        long forgottenCount = 0;
        for (final ReferenceSource source : sources) {
            forgottenCount += source.forgottenCount();
        }
        values.put("send_times_forgotten", forgottenCount);
        transmitter.counters(values::put);
    }

    private void onSendTime(
        final int streamIndex, final int sequenceNumber, final long sentNs, final TimestampMethod method) {
        if (!isSeen[streamIndex]) {
            sources[streamIndex].onObserved(sequenceNumber, sentNs, method);
            receiver.onSendTime(streamIndex, sequenceNumber, sentNs, method);
        }
    }

    private int errorEstimate() {
        return ErrorEstimate.of(Math.max(0, clockError.errorNs()), clockError.isSynchronized());
    }

    @Override
    void close() {
        transmitter.close();
    }
}
