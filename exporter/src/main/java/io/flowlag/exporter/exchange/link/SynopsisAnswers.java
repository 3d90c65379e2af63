package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.delay.interval.repair.SynopsisResponder;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.SynopsisImage;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Answers the receiver's requests about sent intervals. It keeps the last intervals with their packets, and builds one answer at
 * a time, {@link #WORK_SLOTS} packets per duty cycle, then sends it in pieces as there is room. A new request replaces an
 * unfinished answer, because the receiver waits for the last one only.
 * <p>
 * Each kind of request is answered twice per interval and class, and twice for all classes. An interval therefore costs at most
 * four passes over its packets for each class and four more. Each pass makes two look-ups for each packet and for each flow that
 * an answer can hold. The exchange's thread owns it. Allocates at the first answer, and a little for each answer.
 */
final class SynopsisAnswers {
    /** Requests of a kind that are answered per interval and class: one, and one repetition. */
    static final int MOST_REQUESTS = 2;
    /** Slots of a packet cache, or packets or flows of a request, that are processed in one duty cycle. */
    static final int WORK_SLOTS = 1 << 13;

    private final Sending sending;
    private final ExchangeCounters counters;
    private final Consumer<SketchShipment> giveBack;
    private final Deque<Kept> kept = new ArrayDeque<>();
    private final UnsafeBuffer octets = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer image = new UnsafeBuffer(0, 0);
    private SynopsisResponder responder;
    private long responderSeed;
    private boolean isAnswering;
    private boolean isWorking;
    private boolean hasImage;
    private SketchShipment asked;
    private int requestId;
    private int sentBytes;

    /** Sends answers. */
    @FunctionalInterface
    interface Sending {
        /**
         * Sends the next piece of an answer.
         *
         * @param image of the answer; null if it is unavailable.
         * @return octets of the image sent so far; negative without a session.
         */
        int send(int requestId, DirectBuffer image, int imageOffset);
    }

    /** An interval sent under settings, with its count of requests by kind and class or all classes. */
    private static final class Kept {
        private final SketchShipment shipment;
        private final int settingsNumber;
        private final int classCount;
        private final byte[] requests;

        private Kept(final SketchShipment shipment, final int settingsNumber) {
            this.shipment = shipment;
            this.settingsNumber = settingsNumber;
            classCount = shipment.agreement().settings().cells().classCount();
            requests = new byte[(classCount + 1) * SynopsisRequest.Kind.values().length];
        }

        private boolean isOf(final int number, final long intervalNumber) {
            return settingsNumber == number && shipment.interval().intervalNumber() == intervalNumber;
        }

        /** Counts a request; false above the limit. */
        private boolean admits(final SynopsisRequest request) {
            final int index = request.kind().ordinal() * (classCount + 1) + request.classIndex() - PacketCache.ANY_CLASS;
            final boolean isAdmitted = requests[index] < MOST_REQUESTS;
            requests[index] += isAdmitted ? 1 : 0;
            return isAdmitted;
        }
    }

    /** No intervals kept; released ones are given back. */
    SynopsisAnswers(final Sending sending, final ExchangeCounters counters, final Consumer<SketchShipment> giveBack) {
        this.sending = sending;
        this.counters = counters;
        this.giveBack = giveBack;
    }

    /** Keeps a sent interval for a while if its packets are remembered, else releases it. */
    void keep(final SketchShipment shipment, final int settingsNumber, final int intervals) {
        if (!shipment.interval().keepsPackets()) {
            giveBack.accept(shipment);
            return;
        }
        kept.addLast(new Kept(shipment, settingsNumber));
        while (kept.size() > intervals) {
            release(kept.removeFirst().shipment);
        }
    }

    /** Releases everything; no further request will come. */
    void forget() {
        isAnswering = false;
        while (!kept.isEmpty()) {
            release(kept.removeFirst().shipment);
        }
    }

    /** Releases an interval, and cancels the answer that is read from it. */
    private void release(final SketchShipment shipment) {
        if (isWorking && shipment == asked) {
            isWorking = false;
            responder.cancel();
        }
        giveBack.accept(shipment);
    }

    /** Handles a request of the receiver. */
    void onRequest(final int newRequestId, final int settingsNumber, final SynopsisRequest request) {
        requestId = newRequestId;
        sentBytes = 0;
        isAnswering = true;
        isWorking = false;
        hasImage = false;
        for (final Kept each : kept) {
            final boolean isMeant = each.isOf(settingsNumber, request.intervalNumber()) && request.classIndex() < each.classCount;
            if (isMeant && each.admits(request)) {
                begin(each.shipment, request);
            } else if (isMeant) {
                counters.increment(ExchangeCounter.SYNOPSIS_REQUESTS_EXCESS);
            }
        }
    }

    private void begin(final SketchShipment shipment, final SynopsisRequest request) {
        final PacketCache cache = shipment.interval().packets();
        final long seed = shipment.agreement().settings().cells().seed();
        if (responder == null || responderSeed != seed) {
            final ReconcileSettings settings = shipment.agreement().settings().reconcile();
            responder = new SynopsisResponder(settings, seed);
            octets.wrap(new byte[settings.mostAnswerBytes()]);
            responderSeed = seed;
        }
        final boolean isDamaged = shipment.interval().isDamaged() || shipment.kernelDrops() + shipment.ringDrops() +
            shipment.latePackets() + shipment.unsketchedPackets() > 0;
        responder.begin(request, cache, shipment.interval().keys(), isDamaged);
        asked = shipment;
        isWorking = true;
    }

    private void work() {
        isWorking = !responder.work(WORK_SLOTS);
        final SynopsisImage answer = isWorking ? null : responder.image();
        hasImage = answer != null && answer.length() <= octets.capacity();
        if (hasImage) {
            image.wrap(octets, 0, answer.copyTo(octets, 0));
        }
    }

    /** Continues with the answer, or sends the next piece. */
    int doWork() {
        if (!isAnswering) {
            return 0;
        }
        if (isWorking) {
            work();
            return 1;
        }
        final int before = sentBytes;
        final int after = sending.send(requestId, hasImage ? image : null, sentBytes);
        sentBytes = Math.max(0, after);
        isAnswering = after >= 0 && hasImage && after < image.capacity();
        return after == before && isAnswering ? 0 : 1;
    }
}
