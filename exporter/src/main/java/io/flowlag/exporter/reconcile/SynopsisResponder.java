package io.flowlag.exporter.reconcile;

import io.flowlag.sketch.reconcile.FlowKeys;
import io.flowlag.sketch.reconcile.MissingPackets;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * Answers, at the sender point, what the receiver point asks, from the packets that it remembers (RDA paper, section VIII). An
 * estimator or aggregator costs a pass over them, packets and keys of flows two look-ups each. One thread at a time. Allocates at
 * construction, and a few small objects an answer.
 */
public final class SynopsisResponder {
    private static final int MAX_BANKS = 8;

    private final ReconcileSettings settings;
    private final SignedCounts counts;
    private final ReconcilableDifferenceAggregator aggregator;
    private final MissingPackets missing;
    private final FlowKeys flowKeys;

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
        flowKeys = new FlowKeys(settings.mostKeys(), seed);
    }

    /**
     * Answers.
     *
     * @param request   of any content.
     * @param cache     of the interval that is asked about, settled.
     * @param keys      of the flows of that interval; null if nobody knows them.
     * @param isDamaged whether this point lost packets of its own in it; too many copies of a packet to be counted are the same.
     * @return an image, valid until the next call; null if what is asked cannot be had.
     */
    public SynopsisImage answer(
        final SynopsisRequest request, final PacketCache cache, final FlowKeyTable keys, final boolean isDamaged) {
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
            case FLOWS -> collect(request, cache, keys, threshold) == 0 ? null : told(flowKeys, threshold, isIncomplete);
        };
    }

    /** Fills an answer with the flows that are asked for and known; those beyond its capacity are left out. */
    private int collect(
        final SynopsisRequest request, final PacketCache cache, final FlowKeyTable keys, final long threshold) {
        int flows = 0;
        for (int i = 0; keys != null && i < request.count() && flows < flowKeys.capacity(); i++) {
            flows += hasKey(keys, keys.find(request.identifier(i))) ? 1 : 0;
        }
        if (flows > 0) {
            flowKeys.start(flows, cache.intervalNumber(), cache.intervalNs(), threshold);
            int added = 0;
            for (int i = 0; added < flows; i++) {
                final int row = keys.find(request.identifier(i));
                if (hasKey(keys, row)) {
                    flowKeys.add(
                        request.identifier(i), keys.packets(row), keys.sourceHigh(row), keys.sourceLow(row),
                        keys.destinationHigh(row), keys.destinationLow(row), keys.sourcePort(row), keys.destinationPort(row),
                        keys.protocol(row), keys.ipVersion(row), keys.classIndex(row));
                    added++;
                }
            }
        }
        return flows;
    }

    private static boolean hasKey(final FlowKeyTable keys, final int row) {
        return row >= 0 && keys.ipVersion(row) != 0;
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
