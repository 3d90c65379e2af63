package io.flowlag.exporter.reconcile;

import io.flowlag.sketch.reconcile.MissingPackets;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * Answers, at the sender point, what the receiver point asks, from the packets that it remembers (RDA paper, section VIII). An
 * answer costs a pass over them. One thread at a time. Allocates at construction, and a few small objects an answer.
 */
public final class SynopsisResponder {
    private static final int MAX_BANKS = 8;

    private final ReconcileSettings settings;
    private final SignedCounts counts;
    private final ReconcilableDifferenceAggregator aggregator;
    private final MissingPackets missing;

    /**
     * Takes the memory of answers.
     *
     * @param settings sizes.
     * @param seed     that both points share.
     */
    public SynopsisResponder(final ReconcileSettings settings, final long seed) {
        this.settings = settings;
        counts = new SignedCounts(ReconcileSettings.COUNTS, seed);
        aggregator = new ReconcilableDifferenceAggregator(settings.largest(), seed);
        missing = new MissingPackets(settings.mostMissing(), seed);
    }

    /**
     * Answers.
     *
     * @param request   of any content.
     * @param cache     of the interval that is asked about, settled.
     * @param isDamaged whether this point lost packets of its own in it; too many copies of a packet to be counted are the same.
     * @return an image, valid until the next call; null if what is asked cannot be had.
     */
    public SynopsisImage answer(final SynopsisRequest request, final PacketCache cache, final boolean isDamaged) {
        final long threshold = Math.min(request.flowThreshold(), cache.flowThreshold());
        final boolean isIncomplete = isDamaged || cache.saturatedPackets() > 0;
        if (threshold < 0 || request.classIndex() < 0 || request.classIndex() > PacketCache.MAX_CLASS_INDEX) {
            return null;
        }
        return switch (request.kind()) {
            case ESTIMATOR -> {
                counts.clear();
                counts.begin(cache.intervalNumber(), cache.intervalNs());
                cache.fill(counts, threshold, request.classIndex());
                yield told(counts, threshold, isIncomplete);
            }
            case AGGREGATOR -> {
                if (!isShapeLegal(request)) {
                    yield null;
                }
                aggregator.reshape(SynopsisGeometry.rda(request.banks(), request.cells()));
                cache.fill(aggregator, threshold, request.classIndex());
                yield told(aggregator, threshold, isIncomplete);
            }
            case PACKETS ->
                missing.collect(request.identifiers(), request.count(), cache) == 0 ?
                    null : told(missing, threshold, isIncomplete);
        };
    }

    private boolean isShapeLegal(final SynopsisRequest request) {
        return request.banks() >= 1 && request.banks() <= MAX_BANKS && request.cells() >= 1 &&
            (long)request.banks() * request.cells() <= settings.cells();
    }

    private static SynopsisImage told(final Synopsis synopsis, final long threshold, final boolean isDamaged) {
        synopsis.flowThreshold(threshold);
        if (isDamaged) {
            synopsis.markDamaged();
        }
        return synopsis.image();
    }
}
