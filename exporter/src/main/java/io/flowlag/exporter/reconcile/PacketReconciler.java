package io.flowlag.exporter.reconcile;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.LdsRepair;
import io.flowlag.sketch.reconcile.MissingPacketSource;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.RdaReconciler;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.sketch.reconcile.SynopsisFamily;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.sketch.reconcile.SynopsisImage;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Reconciles an interval at the receiver point, traffic class by traffic class (RDA paper, sections V and VIII): asks the sender
 * point for an estimator of the difference, then for an aggregator as large as the difference needs, lists the difference, asks
 * for the packets that it does not have, and hands on the list. Each step that waits for an answer returns. One thread. Takes its
 * memory at construction; allocates a geometry for each class.
 */
public final class PacketReconciler {
    private static final double CONFIDENCE = 0.95;

    private final ReconcileSettings settings;
    private final long rankSeed;
    private final SignedCounts counts;
    private final ReconcilableDifferenceAggregator aggregator;
    private final UnsafeBuffer senderOctets;
    private final SynopsisImage senderAggregator = new SynopsisImage();
    private final RdaReconciler reconciler;
    private final MissingPacketSource missing;
    private final SynopsisRequest request;
    private final FlowLosses losses;
    private final AggregateEstimate[] estimates;
    private final boolean[] hasEstimate;

    private PacketCache cache;
    private boolean isDamaged;
    private boolean isSenderDamaged;
    private ReconcileTarget target;
    private SynopsisPeer peer;
    private Step step = Step.DONE;
    private ReconcileStatus status = ReconcileStatus.UNANSWERED;
    private int classIndex;
    private long flowThreshold;
    private long octets;
    private long cells;
    private long undecodedCells;
    private long unrepairedItems;

    private enum Step {
        ESTIMATOR, AGGREGATOR, PACKETS, FLOWS, DONE
    }

    /**
     * Takes the memory.
     *
     * @param settings   sizes.
     * @param classCount traffic classes.
     * @param seed       that both points share.
     */
    public PacketReconciler(final ReconcileSettings settings, final int classCount, final long seed) {
        this.settings = settings;
        rankSeed = FlowSample.rankSeed(seed);
        counts = new SignedCounts(ReconcileSettings.COUNTS, seed);
        aggregator = new ReconcilableDifferenceAggregator(settings.largest(), seed);
        senderOctets = new UnsafeBuffer(ByteBuffer.allocateDirect(settings.largest().imageLength()));
        reconciler = new RdaReconciler(settings.cells(), seed, CONFIDENCE);
        missing = new MissingPacketSource(settings.mostMissing(), seed);
        request = new SynopsisRequest(settings.mostMissing());
        losses = new FlowLosses(2 * settings.cells());
        estimates = new AggregateEstimate[classCount];
        hasEstimate = new boolean[classCount];
        for (int i = 0; i < classCount; i++) {
            estimates[i] = new AggregateEstimate();
        }
    }

    /**
     * Begins with an interval. {@link #work} goes on.
     *
     * @param received  packets of the receiver point, all of them; settled here.
     * @param damaged   whether this point lost packets of its own.
     * @param sentDamaged whether it is known that the sender point did.
     * @param sender    is asked.
     * @param newTarget takes the difference.
     */
    public void begin(
        final PacketCache received, final boolean damaged, final boolean sentDamaged, final SynopsisPeer sender,
        final ReconcileTarget newTarget) {
        cache = received;
        cache.settle();
        isDamaged = damaged || cache.saturatedPackets() > 0;
        isSenderDamaged = sentDamaged;
        peer = sender;
        target = newTarget;
        status = ReconcileStatus.COMPLETE;
        losses.clear();
        octets = 0;
        cells = 0;
        undecodedCells = 0;
        unrepairedItems = 0;
        classIndex = 0;
        flowThreshold = cache.flowThreshold();
        Arrays.fill(hasEstimate, false);
        ask(Step.ESTIMATOR, request.estimator(cache.intervalNumber(), classIndex, flowThreshold));
    }

    /**
     * Goes on as far as answers are there.
     *
     * @return whether the interval is done with.
     */
    public boolean work() {
        while (step != Step.DONE) {
            final SynopsisImage answer = peer.answer();
            if (answer != null) {
                octets += answer.length();
                onAnswer(answer);
            } else if (peer.isExpected()) {
                return false;
            } else {
                onSilence();
            }
        }
        return true;
    }

    /** Time is up: what is known counts. */
    public void giveUp() {
        while (step != Step.DONE) {
            onSilence();
        }
    }

    private void ask(final Step next, final SynopsisRequest asked) {
        step = next;
        octets += asked.encodedBytes();
        if (!peer.ask(asked)) {
            onSilence();
        }
    }

    private void onSilence() {
        if (step == Step.PACKETS) {
            missing.clear();
            finishClass();
        } else if (step == Step.FLOWS) {
            step = Step.DONE;
        } else if (step != Step.DONE) {
            fail(ReconcileStatus.UNANSWERED);
        }
    }

    private void fail(final ReconcileStatus reason) {
        status = classIndex > 0 ? ReconcileStatus.INCOMPLETE : reason;
        step = Step.DONE;
    }

    private void onAnswer(final SynopsisImage answer) {
        if (answer.intervalNumber() != cache.intervalNumber() || answer.flowThreshold() > flowThreshold) {
            refuse();
            return;
        }
        switch (step) {
            case ESTIMATOR -> onEstimator(answer);
            case AGGREGATOR -> onAggregator(answer);
            case PACKETS -> {
                if (!missing.wrap(answer)) {
                    missing.clear();
                }
                finishClass();
            }
            case FLOWS -> {
                if (answer.family() == SynopsisFamily.FLOW_KEYS) {
                    target.onFlowKeys(answer);
                }
                step = Step.DONE;
            }
            default -> throw new IllegalStateException("step=" + step);
        }
    }

    /** An answer is of something else: without keys all that is listed stands. */
    private void refuse() {
        if (step == Step.FLOWS) {
            step = Step.DONE;
        } else {
            fail(ReconcileStatus.REFUSED);
        }
    }

    private void onEstimator(final SynopsisImage answer) {
        flowThreshold = answer.flowThreshold();
        counts.clear();
        counts.begin(cache.intervalNumber(), answer.intervalNs());
        counts.flowThreshold(flowThreshold);
        cache.fill(counts, flowThreshold, classIndex);
        final double items = counts.estimate(answer);
        if (Double.isNaN(items)) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        final SynopsisGeometry geometry = RdaSizing.forEstimate(items,
            SignedCounts.relativeDeviation(ReconcileSettings.COUNTS), ReconcileSettings.LEAST_CELLS, aggregator.capacityBytes());
        aggregator.reshape(geometry);
        cache.fill(aggregator, flowThreshold, classIndex);
        if (isDamaged) {
            aggregator.markDamaged();
        }
        ask(Step.AGGREGATOR,
            request.aggregator(cache.intervalNumber(), classIndex, flowThreshold, geometry.banks(), geometry.cells()));
    }

    private void onAggregator(final SynopsisImage answer) {
        if (answer.family() != SynopsisFamily.RDA || answer.length() > senderOctets.capacity()) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        answer.copyTo(senderOctets, 0);
        senderAggregator.wrap(senderOctets, 0, answer.length());
        if (reconciler.decode(senderAggregator, aggregator.image()) != SynopsisPairing.PAIRED) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        reconciler.decodeFurther(cache, false, classIndex);
        final PacketDifference difference = reconciler.difference();
        request.packets(cache.intervalNumber(), classIndex, flowThreshold);
        for (int item = 0; item < difference.size(); item++) {
            if (difference.lost(item) && !request.add(difference.identifier(item))) {
                break;
            }
        }
        missing.clear();
        if (request.count() > 0) {
            ask(Step.PACKETS, request);
        } else {
            finishClass();
        }
    }

    private void finishClass() {
        final PacketDifference difference = reconciler.difference();
        final AggregateEstimate estimate = estimates[classIndex];
        reconciler.repair(missing, cache, estimate);
        hasEstimate[classIndex] = true;
        cells += estimate.totalCells();
        undecodedCells += difference.undecodedCells();
        unrepairedItems += estimate.unrepairedItems();
        if (!difference.complete() || estimate.unrepairedItems() > 0 || cache.saturatedPackets() > 0 || isSenderSaturated()) {
            status = ReconcileStatus.INCOMPLETE;
        }
        if (difference.size() > 0) {
            LdsRepair.forEachLoss(difference, missing, cache, losses::add);
            target.onListed(difference, missing, cache);
        }
        classIndex++;
        if (classIndex == estimates.length) {
            askForKeys();
        } else {
            ask(Step.ESTIMATOR, request.estimator(cache.intervalNumber(), classIndex, flowThreshold));
        }
    }

    /** Of a packet that came too often to be counted the sender point says that it lost packets of its own. */
    private boolean isSenderSaturated() {
        return !isSenderDamaged && senderAggregator.damaged();
    }

    /** Flows with losses that nobody here can name; those beyond one request stay without a name. */
    private void askForKeys() {
        step = Step.DONE;
        request.flows(cache.intervalNumber(), flowThreshold);
        for (int row = 0; status == ReconcileStatus.COMPLETE && row < losses.count(); row++) {
            final long flowHash = losses.flowHash(row);
            if (losses.lost(flowHash) > 0 && covers(flowHash) && request.count() < settings.mostKeys() &&
                !target.isNamed(flowHash)) {
                request.add(flowHash);
            }
        }
        if (request.count() > 0) {
            ask(Step.FLOWS, request);
        }
    }

    /** {@return what came of the last interval} */
    public ReconcileStatus status() {
        return status;
    }

    /**
     * Whether a class's delays were estimated.
     *
     * @param ofClass index of the class.
     * @return true if so.
     */
    public boolean hasEstimate(final int ofClass) {
        return hasEstimate[ofClass];
    }

    /**
     * A class's delays.
     *
     * @param ofClass index of the class, with an estimate.
     * @return the estimate, until the next interval.
     */
    public AggregateEstimate estimate(final int ofClass) {
        return estimates[ofClass];
    }

    /** {@return packets that only one point has, by flow} */
    public FlowLosses losses() {
        return losses;
    }

    /**
     * Whether the packets of a flow were compared: those of too many flows are not remembered.
     *
     * @param flowHash of the flow.
     * @return true if so.
     */
    public boolean covers(final long flowHash) {
        return FlowSample.rank(flowHash, rankSeed) < flowThreshold && !losses.isFull();
    }

    /** {@return whether all flows were compared: if not, what is said of a class is said of a sample of its flows} */
    public boolean coversAll() {
        return flowThreshold == FlowSample.ALL;
    }

    /** {@return octets of all requests and answers} */
    public long octets() {
        return octets;
    }

    /** {@return cells of the aggregators} */
    public long cells() {
        return cells;
    }

    /** {@return those of them that still differ} */
    public long undecodedCells() {
        return undecodedCells;
    }

    /** {@return packets that are listed and of which not enough is known to take them out} */
    public long unrepairedItems() {
        return unrepairedItems;
    }
}
