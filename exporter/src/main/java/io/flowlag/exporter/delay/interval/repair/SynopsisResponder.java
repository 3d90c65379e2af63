package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.FlowKeys;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.MissingPackets;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * Answers, at the sender point, what the receiver point asks, from the packets that it remembers (RDA paper, section VIII). An
 * estimator or aggregator costs a pass over them, packets and keys of flows two look-ups each. Whoever has other work makes an
 * answer piece by piece: {@link #begin}, {@link #work} until it is done, {@link #image}. One thread at a time. Allocates at
 * construction, and a few small objects an answer.
 */
public final class SynopsisResponder {
    private static final int MAX_BANKS = 8;

    private final ReconcileSettings settings;
    private final SignedCounts counts;
    private final ReconcilableDifferenceAggregator aggregator;
    private final MissingPackets missing;
    private final FlowKeys flowKeys;
    private SynopsisRequest request;
    private PacketCache cache;
    private FlowKeyTable keys;
    private long threshold;
    private boolean isIncomplete;
    private Phase phase = Phase.DONE;
    private int position;
    private int known;
    private SynopsisImage image;

    /** What is done next: slots of the cache are added, or what is known of a list is counted and then written. */
    private enum Phase {
        FILL, COUNT, WRITE, DONE
    }

    /**
     * Takes the memory of answers.
     *
     * @param seed that both points share.
     */
    public SynopsisResponder(final ReconcileSettings settings, final long seed) {
        this.settings = settings;
        counts = new SignedCounts(ReconcileSettings.COUNTS, seed);
        aggregator = new ReconcilableDifferenceAggregator(settings.largest(), seed);
        missing = new MissingPackets(settings.mostMissing(), seed);
        flowKeys = new FlowKeys(settings.mostKeys(), seed);
    }

    /**
     * Answers at once.
     *
     * @param request   of any content.
     * @param cache     of the interval that is asked about, settled.
     * @param keys      of the flows of that interval; null if nobody knows them.
     * @param isDamaged whether this point lost packets of its own in it; too many copies of a packet to be counted are the same.
     * @return an image, valid until the next call; null if what is asked cannot be had.
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
     * Begins an answer; one that is not done is dropped.
     *
     * @param newRequest of any content; it must stay as it is until the answer is done.
     * @param newCache   of the interval that is asked about, settled; it must stay as it is until then.
     * @param newKeys    of the flows of that interval; null if nobody knows them.
     * @param isDamaged  whether this point lost packets of its own in it; too many copies of a packet to be counted are the same.
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

    /**
     * Goes on with an answer.
     *
     * @param most slots of the cache, or packets or flows that are asked for, to look at; at least 1.
     * @return whether it is done.
     */
    public boolean work(final int most) {
        switch (phase) {
            case FILL -> fill(most);
            case COUNT -> count(most);
            case WRITE -> write(most);
            default -> {
                // nothing is asked for, or it is done
            }
        }
        return phase == Phase.DONE;
    }

    /** Drops an answer that is not done. */
    public void cancel() {
        phase = Phase.DONE;
        image = null;
    }

    /** {@return the answer when it is done, valid until the next begins; null if what is asked cannot be had} */
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

    /** An answer begins with how much is in it; what is beyond its capacity is left out. */
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
        flowKeys.add(
            flowHash, keys.packets(row), keys.sourceHigh(row), keys.sourceLow(row), keys.destinationHigh(row),
            keys.destinationLow(row), keys.sourcePort(row), keys.destinationPort(row), keys.protocol(row), keys.ipVersion(row),
            keys.classIndex(row));
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
