package io.flowlag.exporter.delay;

import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.TimestampMethod;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.ReferenceSource;
import org.agrona.BufferUtil;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Sends references when they are due: one stream for each class. Effective send times come from this process's own sender point
 * if it sees its references, else from the transmitter; the next reference carries them. The metering thread owns it. Allocates
 * at construction.
 */
final class ReferenceSender implements AutoCloseable {
    private static final int POLL_LIMIT = 64;
    private static final int CATCH_UP_LIMIT = 16;

    private final InjectionScheduler scheduler;
    private final ReferenceSource[] sources;
    private final boolean[] isSeen;
    private final ReferenceTransmitter transmitter;
    private final ReferenceTransmitter.SendTimeHandler ownHandler = this::onSendTime;
    private final ReferenceTransmitter.SendTimeHandler receiver;
    private final ClockError clockError;
    private final EpochNanoClock clock;
    private final UnsafeBuffer packet;

    /**
     * A sender.
     *
     * @param wiring   with sessions, transmitter and clock.
     * @param receiver takes effective send times in addition to follow-ups; may be null.
     */
    ReferenceSender(
        final InjectionScheduler scheduler,
        final DelayWiring wiring,
        final ReferenceTransmitter.SendTimeHandler receiver,
        final EpochNanoClock clock) {
        this.scheduler = scheduler;
        this.receiver = receiver;
        this.clock = clock;
        transmitter = wiring.transmitter();
        clockError = wiring.clockError();
        sources = new ReferenceSource[wiring.sessions().size()];
        isSeen = new boolean[sources.length];
        int lengthBytes = 0;
        for (int i = 0; i < sources.length; i++) {
            sources[i] = new ReferenceSource(wiring.sessions().get(i), errorEstimate());
            lengthBytes = Math.max(
                lengthBytes, ReferenceEncoder.maximumLengthBytes(wiring.sessions().get(i).isAuthenticated()));
        }
        packet = new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthBytes, CACHE_LINE_LENGTH));
    }

    /** Sends the reference of a class. */
    void send(final int classIndex, final long nowNs) {
        final ReferenceSource source = sources[classIndex];
        source.errorEstimate(errorEstimate());
        final int lengthBytes = source.encode(packet, 0, clock.nanoTime());
        if (transmitter.send(classIndex, packet, 0, lengthBytes)) {
            source.onSent();
            scheduler.onInjected(classIndex, nowNs, lengthBytes + transmitter.headerLengthBytes());
        } else {
            scheduler.onInjectionFailed(classIndex, nowNs);
        }
    }

    /** Sends the references that are due, if sending is on, and reads effective send times. */
    int onTime(final long nowNs, final boolean isInjecting) {
        int workCount = transmitter.poll(ownHandler, POLL_LIMIT);
        for (int i = 0; isInjecting && i < CATCH_UP_LIMIT; i++) {
            final int classIndex = scheduler.dueClass(nowNs);
            if (classIndex == InjectionScheduler.NONE) {
                break;
            }
            send(classIndex, nowNs);
            workCount++;
        }
        return workCount;
    }

    /** The process's own sender point saw one of its references. */
    void onSeen(final int streamIndex, final int sequenceNumber, final long sentNs) {
        isSeen[streamIndex] = true;
        sources[streamIndex].onObserved(sequenceNumber, sentNs, TimestampMethod.SOFTWARE_LOCAL);
        if (receiver != null) {
            receiver.onSendTime(streamIndex, sequenceNumber, sentNs, TimestampMethod.SOFTWARE_LOCAL);
        }
    }

    /** Reports the counters. Safe from any thread. */
    void counters(final ReferenceTransmitter.CounterHandler handler) {
        long forgottenCount = 0;
        for (final ReferenceSource source : sources) {
            forgottenCount += source.forgottenCount();
        }
        handler.onCounter("send_times_forgotten", forgottenCount);
        transmitter.counters(handler);
    }

    private void onSendTime(
        final int streamIndex, final int sequenceNumber, final long sentNs, final TimestampMethod method) {
        if (!isSeen[streamIndex]) {
            sources[streamIndex].onObserved(sequenceNumber, sentNs, method);
            if (receiver != null) {
                receiver.onSendTime(streamIndex, sequenceNumber, sentNs, method);
            }
        }
    }

    private int errorEstimate() {
        return ErrorEstimate.of(Math.max(0, clockError.errorNs()), clockError.isSynchronized());
    }

    @Override
    public void close() {
        transmitter.close();
    }
}
