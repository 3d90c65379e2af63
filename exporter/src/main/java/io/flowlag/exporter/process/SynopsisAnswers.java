package io.flowlag.exporter.process;

import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.exchange.ExchangeConnector;
import io.flowlag.exporter.reconcile.ReconcileSettings;
import io.flowlag.exporter.reconcile.SynopsisRequest;
import io.flowlag.exporter.reconcile.SynopsisResponder;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.SynopsisImage;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * Answers, in a sender's exchange, what the receiver asks about intervals that were shipped: keeps the last of them with their
 * packets, and sends one answer at a time, piece by piece as there is room. A request that comes before an answer is out takes
 * its place: the receiver waits for the last one alone. The exchange's thread owns it. Allocates at construction, and a little
 * for each answer.
 */
final class SynopsisAnswers {
    private final ReconcileSettings settings;
    private final ExchangeConnector connector;
    private final Consumer<SketchShipment> giveBack;
    private final Deque<Kept> kept = new ArrayDeque<>();
    private final UnsafeBuffer octets;
    private final UnsafeBuffer image = new UnsafeBuffer(0, 0);
    private SynopsisResponder responder;
    private long responderSeed;
    private boolean isAnswering;
    private boolean hasImage;
    private int requestId;
    private int sentBytes;

    /** An interval that was shipped under settings. */
    private record Kept(SketchShipment shipment, int settingsNumber) {
    }

    /**
     * Nothing kept.
     *
     * @param settings  sizes; null if nothing is remembered.
     * @param connector sends answers.
     * @param giveBack  takes intervals that are kept no longer.
     */
    SynopsisAnswers(
        final ReconcileSettings settings, final ExchangeConnector connector, final Consumer<SketchShipment> giveBack) {
        this.settings = settings;
        this.connector = connector;
        this.giveBack = giveBack;
        octets = new UnsafeBuffer(new byte[settings == null ? 0 : settings.mostAnswerBytes()]);
    }

    /** An interval was shipped: it is kept for a while if its packets are remembered, else given back. */
    void keep(final SketchShipment shipment, final int settingsNumber, final int intervals) {
        if (settings == null || shipment.interval().packets() == null) {
            giveBack.accept(shipment);
            return;
        }
        kept.addLast(new Kept(shipment, settingsNumber));
        while (kept.size() > intervals) {
            giveBack.accept(kept.removeFirst().shipment());
        }
    }

    /** Gives everything back: nobody will ask for it. */
    void forget() {
        while (!kept.isEmpty()) {
            giveBack.accept(kept.removeFirst().shipment());
        }
        isAnswering = false;
    }

    /** The receiver asks. */
    void onRequest(final int newRequestId, final int settingsNumber, final SynopsisRequest request) {
        requestId = newRequestId;
        sentBytes = 0;
        isAnswering = true;
        hasImage = false;
        for (final Kept each : kept) {
            if (each.settingsNumber() == settingsNumber &&
                each.shipment().interval().intervalNumber() == request.intervalNumber()) {
                answer(each.shipment(), request);
            }
        }
    }

    private void answer(final SketchShipment shipment, final SynopsisRequest request) {
        final PacketCache cache = shipment.interval().packets();
        final long seed = shipment.agreement().context().seed();
        if (responder == null || responderSeed != seed) {
            responder = new SynopsisResponder(settings, seed);
            responderSeed = seed;
        }
        final boolean isDamaged = shipment.interval().isDamaged() || shipment.kernelDrops() + shipment.ringDrops() +
            shipment.latePackets() + shipment.unsketchedPackets() > 0;
        final SynopsisImage answer = responder.answer(request, cache, isDamaged);
        hasImage = answer != null && answer.length() <= octets.capacity();
        if (hasImage) {
            image.wrap(octets, 0, answer.copyTo(octets, 0));
        }
    }

    /** Sends what there is room for. */
    int doWork() {
        if (!isAnswering) {
            return 0;
        }
        final int before = sentBytes;
        final int after = connector.sendSynopsis(requestId, hasImage ? image : null, sentBytes);
        sentBytes = Math.max(0, after);
        isAnswering = after >= 0 && hasImage && after < image.capacity();
        return after == before && isAnswering ? 0 : 1;
    }
}
