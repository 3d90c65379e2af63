package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.sketch.reconcile.FlowKeys;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.MissingPackets;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Answers requests of the receiver point at the sender point, from the packets that it keeps (RDA paper, section VIII). An
 * estimator or aggregator costs one pass over them; packets and flow keys cost two look-ups each. A caller with other work builds
 * an answer in pieces: {@link #begin}, {@link #work} until it is done, {@link #image}. One thread at a time. Allocates at
 * construction, and a few small objects for each answer.
 */
public final class SynopsisResponder {
    private static final int MAX_BANKS = 8;

    private final ReconcileSettings settings;
    private final SignedCounts counts;
    private final ReconcilableDifferenceAggregator aggregator;
    private final MissingPackets missing;
    private final FlowKeys flowKeys;
    private final UnsafeBuffer key = new UnsafeBuffer(new byte[FlowKeyLayout.TUPLE_LENGTH_BYTES]);
    private SynopsisRequest request;
    private PacketCache cache;
    private FlowKeyTable keys;
    private long threshold;
    private boolean isIncomplete;
    private Phase phase = Phase.DONE;
    private int position;
    private int known;
    private SynopsisImage image;

    /** The next step: add slots of the cache, or count the entries of a list and then write them. */
    private enum Phase {
        FILL, COUNT, WRITE, DONE
    }

    /** Allocates the memory of answers; both points share the seed. */
    public SynopsisResponder(final ReconcileSettings settings, final long seed) {
        this.settings = settings;
        counts = new SignedCounts(ReconcileSettings.COUNTS, seed);
        aggregator = new ReconcilableDifferenceAggregator(settings.largest(), seed);
        missing = new MissingPackets(settings.mostMissing(), seed);
        flowKeys = new FlowKeys(settings.mostKeys(), seed);
    }

    /**
     * Answers a request in one call.
     *
     * @param request   of any content.
     * @param cache     of the requested interval, settled.
     * @param keys      of the flows of that interval; null if unknown.
     * @param isDamaged whether this point lost packets of its own in it; a packet with too many copies to count has the same
     *                  effect.
     * @return an image, valid until the next call; null if the request cannot be answered.
     */
    public SynopsisImage answer(
        final SynopsisRequest request, final PacketCache cache, final FlowKeyTable keys, final boolean isDamaged) {
        begin(request, cache, keys, isDamaged);
        while (phase != Phase.DONE) {
            work(Integer.MAX_VALUE);
        }
        return image;
    }

    /**
     * Begins an answer, as {@link #answer}. An unfinished one is dropped. Request, packets and keys must not change until it
     * is done.
     */
    public void begin(
        final SynopsisRequest newRequest, final PacketCache newCache, final FlowKeyTable newKeys, final boolean isDamaged) {
        request = newRequest;
        cache = newCache;
        keys = newKeys;
        threshold = Math.min(request.flowThreshold(), cache.flowThreshold());
        isIncomplete = isDamaged || cache.saturatedPackets() > 0;
        image = null;
        position = 0;
        known = 0;
        phase = Phase.DONE;
        if (threshold < 0 || request.classIndex() < PacketCache.ANY_CLASS ||
            request.classIndex() > PacketCache.MAX_CLASS_INDEX) {
            return;
        }
        switch (request.kind()) {
            case ESTIMATOR -> {
                counts.clear();
                counts.begin(cache.intervalNumber(), cache.intervalNs());
                phase = Phase.FILL;
            }
            case AGGREGATOR -> {
                if (isShapeLegal()) {
                    aggregator.reshape(SynopsisGeometry.rda(request.banks(), request.cells()));
                    phase = Phase.FILL;
                }
            }
            default -> phase = Phase.COUNT;
        }
    }

    /** Continues an answer by at most so many cache slots, packets or flows. Returns whether it is done. */
    public boolean work(final int most) {
        switch (phase) {
            case FILL -> fill(most);
            case COUNT -> count(most);
            case WRITE -> write(most);
            default -> {
                // no request, or the answer is done
            }
        }
        return phase == Phase.DONE;
    }

    /** Drops an unfinished answer. */
    public void cancel() {
        phase = Phase.DONE;
        image = null;
    }

    /** {@return the finished answer, valid until the next one begins; null if the request cannot be answered} */
    public SynopsisImage image() {
        return image;
    }

    private void fill(final int most) {
        final boolean isEstimator = request.kind() == SynopsisRequest.Kind.ESTIMATOR;
        position = isEstimator ? cache.fill(counts, threshold, request.classIndex(), position, most) :
            cache.fill(aggregator, threshold, request.classIndex(), position, most);
        if (position == ListedTimes.NOT_FOUND) {
            finish(isEstimator ? counts : aggregator);
        }
    }

    /** Counts the entries of an answer, which its header states. Entries beyond its capacity are left out. */
    private void count(final int most) {
        final boolean isOfFlows = request.kind() == SynopsisRequest.Kind.FLOWS;
        final int capacity = isOfFlows ? flowKeys.capacity() : missing.capacity();
        final int end = position + Math.min(most, request.count() - position);
        for (; position < end && known < capacity; position++) {
            final long identifier = request.identifier(position);
            known += (isOfFlows ? hasKey(identifier) : cache.find(identifier) != ListedTimes.NOT_FOUND) ? 1 : 0;
        }
        if (position < request.count() && known < capacity) {
            return;
        }
        position = 0;
        phase = known == 0 ? Phase.DONE : Phase.WRITE;
        if (phase == Phase.WRITE && isOfFlows) {
            flowKeys.start(known, cache.intervalNumber(), cache.intervalNs(), threshold);
        } else if (phase == Phase.WRITE) {
            missing.start(known, cache);
        }
    }

    private void write(final int most) {
        final boolean isOfFlows = request.kind() == SynopsisRequest.Kind.FLOWS;
        final int end = position + Math.min(most, request.count() - position);
        for (; position < end && known > 0; position++) {
            final long identifier = request.identifier(position);
            known -= (isOfFlows ? addKey(identifier) : missing.add(identifier, cache)) ? 1 : 0;
        }
        if (known == 0) {
            finish(isOfFlows ? flowKeys : missing);
        }
    }

    private boolean hasKey(final long flowHash) {
        return keys != null && hasKey(keys, keys.find(flowHash));
    }

    private boolean addKey(final long flowHash) {
        final int row = keys.find(flowHash);
        if (!hasKey(keys, row)) {
            return false;
        }
        keys.copyKey(row, key, 0);
        flowKeys.add(flowHash, keys.packets(row), keys.classIndex(row), key, 0);
        return true;
    }

    private static boolean hasKey(final FlowKeyTable keys, final int row) {
        return row >= 0 && keys.ipVersion(row) != 0;
    }

    private boolean isShapeLegal() {
        return request.banks() >= 1 && request.banks() <= MAX_BANKS && request.cells() >= 1 &&
            (long)request.banks() * request.cells() <= settings.cells();
    }

    private void finish(final Synopsis synopsis) {
        synopsis.flowThreshold(threshold);
        if (isIncomplete) {
            synopsis.markDamaged();
        }
        image = synopsis.image();
        phase = Phase.DONE;
    }
}
