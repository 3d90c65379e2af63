package io.flowlag.exporter.exchange.link;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.delay.interval.repair.SynopsisPeer;
import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.link.SenderArrivals.Lost;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisVerifier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The sender point in another process, as the metering thread sees it. The exchange's thread carries requests and answers over
 * bounded queues. One request is pending at a time. Each is answered once, with null if there is no answer. Allocates for each
 * request.
 */
final class RemotePeer implements SynopsisPeer {
    private static final int QUEUED = 4;

    private final AtomicInteger requestIds;
    private final CounterSet<Lost> lost;
    private final SynopsisAssembler assembler;
    private final SenderClock clock;
    private final OneToOneConcurrentArrayQueue<Asked> asked = new OneToOneConcurrentArrayQueue<>(QUEUED);
    private final OneToOneConcurrentArrayQueue<Answered> answered = new OneToOneConcurrentArrayQueue<>(2 * QUEUED);
    /** Owned by the metering thread. */
    private final SegmentFlowHash flowHash;
    private final SynopsisImage image = new SynopsisImage();
    private int waitsForId;
    private long waitsForInterval;
    private boolean isWaiting;
    private boolean hasImage;
    /** Owned by the exchange's thread. */
    private int carriedId;
    private boolean isCarrying;

    /** A pending request. */
    record Asked(int requestId, SynopsisRequest request) {
    }

    /** An answer; null if there is none. */
    private record Answered(int requestId, DirectBuffer octets) {
    }

    /**
     * No request pending.
     *
     * @param hash  with the key of digests.
     * @param lost  counts answers that are not a valid image.
     * @param clock of the sender point, which an answer is corrected by as its interval was.
     */
    RemotePeer(
        final ReconcileSettings settings, final SipHash hash, final AtomicInteger requestIds, final CounterSet<Lost> lost,
        final SenderClock clock) {
        this.clock = clock;
        flowHash = new SegmentFlowHash(hash);
        this.requestIds = requestIds;
        this.lost = lost;
        assembler = new SynopsisAssembler(settings.mostAnswerBytes());
    }

    @Override
    public boolean ask(final SynopsisRequest request) {
        hasImage = false;
        waitsForId = requestIds.incrementAndGet();
        waitsForInterval = request.intervalNumber();
        isWaiting = asked.offer(new Asked(waitsForId, request.copy()));
        return isWaiting;
    }

    @Override
    public SynopsisImage answer() {
        Answered next = isWaiting ? answered.poll() : null;
        while (next != null) {
            if (next.requestId() == waitsForId) {
                isWaiting = false;
                hasImage = next.octets() != null && isVerified(next.octets());
            }
            next = answered.poll();
        }
        return hasImage ? image : null;
    }

    private boolean isVerified(final DirectBuffer octets) {
        boolean isAccepted = SynopsisVerifier.verify(octets, 0, octets.capacity()) == ImageResult.ACCEPTED;
        if (isAccepted) {
            image.wrap(octets, 0, octets.capacity());
            isAccepted = image.family() != SynopsisFamily.FLOW_KEYS || areKeysOfTheirHashes();
        }
        if (!isAccepted) {
            lost.increment(Lost.SYNOPSES_UNVERIFIED);
        } else {
            final ClockEstimate applied = clock.applied(waitsForInterval);
            if (applied.isCorrected()) {
                image.retime(applied.offsetAtSentNs(waitsForInterval * image.intervalNs()), applied.senderRate());
            }
        }
        return isAccepted;
    }

    /** A flow's hash follows from its key, so a key with another hash is rejected. */
    private boolean areKeysOfTheirHashes() {
        boolean isRight = true;
        for (int i = 0; isRight && i < image.totalCells(); i++) {
            isRight = image.keyFlowHash(i) == flowHash.flow(
                image.keyIpVersion(i), image.keyProtocol(i), image.keySourcePort(i), image.keyDestinationPort(i)).hash(
                image.keySourceHigh(i), image.keySourceLow(i), image.keyDestinationHigh(i), image.keyDestinationLow(i));
        }
        return isRight;
    }

    @Override
    public boolean isExpected() {
        return isWaiting;
    }

    /** The next request to send, or null; an unanswered one is abandoned. Exchange's thread. */
    Asked poll() {
        final Asked next = asked.poll();
        if (next != null) {
            onAnswer(carriedId, null);
            carriedId = next.requestId();
            isCarrying = true;
            assembler.expect();
        }
        return next;
    }

    /** Room for the answer to a request; null if it is not pending. Exchange's thread. */
    SynopsisAssembler assembler(final int requestId) {
        return isCarrying && requestId == carriedId ? assembler : null;
    }

    /** The session is over; no answer will come. Exchange's thread. */
    void onSessionEnd() {
        onAnswer(carriedId, null);
    }

    /** Delivers the answer of a pending request; null for no answer. Exchange's thread. */
    void onAnswer(final int requestId, final DirectBuffer octets) {
        if (isCarrying && requestId == carriedId) {
            isCarrying = false;
            answered.offer(new Answered(carriedId, octets));
        }
    }
}
