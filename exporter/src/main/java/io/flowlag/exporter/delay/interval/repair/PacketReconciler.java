package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.FlowSample;
import io.flowlag.sketch.reconcile.LdsRepair;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.MissingPacketSource;
import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.PacketDetails;
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
 * Reconciles an interval at the receiver point (RDA paper, sections V and VIII). It requests an estimator of the difference, then
 * an aggregator of the size that the difference needs. It lists the difference, requests the packets that it does not have, and
 * passes on the list.
 *
 * <p>These steps ignore traffic classes: a mark (DSCP) may change on the path, so it is not part of a packet's identity. A loss
 * counts in the class that the packet had at the sender point.
 *
 * <p>With several classes, the delays of each class follow, from an aggregator of the packets with that class at each point.
 * Packets that are already listed are removed from it. The remaining difference is packets that have another mark at the receiver
 * point; they are moved to the class in which they were sent. If that fails, the class has delays of its clean cells only, or
 * none.
 *
 * <p>Every step returns instead of waiting for an answer. One thread. Takes its memory at construction; allocates a geometry for
 * each aggregator.
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
    private final LatePackets late = new LatePackets();
    private final AggregateEstimate whole;
    private final AggregateEstimate[] estimates;
    private final boolean[] hasEstimate;
    private final long[] classLost;
    private final long[] classUnexpected;
    private final boolean isByClass;
    /** The whole difference: a copy where the reconciler goes on to those of classes. */
    private final PacketDifference known;
    /** The requested packets where they are needed for longer. */
    private final UnsafeBuffer missingOctets;
    private final SynopsisImage missingImage = new SynopsisImage();

    private PacketCache cache;
    private boolean isDamaged;
    private boolean isSenderDamaged;
    private ReconcileTarget target;
    private SynopsisPeer peer;
    private Step step = Step.DONE;
    private ReconcileStatus status = ReconcileStatus.UNANSWERED;
    private int classIndex;
    private boolean isClassEstimated;
    private boolean isOver;
    private boolean isSenderSaturated;
    private long flowThreshold;
    private long octets;
    private long cells;
    private long undecodedCells;
    private long unrepairedItems;
    private long remarkedPackets;

    private enum Step {
        ESTIMATOR, AGGREGATOR, PACKETS, FLOWS, DONE
    }

    /** Allocates the memory; both points share the seed. */
    public PacketReconciler(final ReconcileSettings settings, final int classCount, final long seed) {
        this.settings = settings;
        rankSeed = FlowSample.rankSeed(seed);
        counts = new SignedCounts(ReconcileSettings.COUNTS, seed);
        aggregator = new ReconcilableDifferenceAggregator(settings.largest(), seed);
        senderOctets = new UnsafeBuffer(ByteBuffer.allocateDirect(settings.largest().imageLength()));
        reconciler = new RdaReconciler(settings.cells(), seed, CONFIDENCE);
        missing = new MissingPacketSource(settings.mostMissing());
        request = new SynopsisRequest(settings.mostMissing());
        losses = new FlowLosses(2 * settings.cells());
        estimates = new AggregateEstimate[classCount];
        hasEstimate = new boolean[classCount];
        classLost = new long[classCount];
        classUnexpected = new long[classCount];
        isByClass = classCount > 1;
        known = isByClass ? reconciler.newDifference() : reconciler.difference();
        missingOctets = new UnsafeBuffer(ByteBuffer.allocateDirect(isByClass ? settings.missingImageBytes() : 0));
        for (int i = 0; i < classCount; i++) {
            estimates[i] = new AggregateEstimate();
        }
        whole = isByClass ? new AggregateEstimate() : estimates[0];
    }

    /**
     * Begins an interval; {@link #work} continues it.
     *
     * @param received    all packets of the receiver point; settled here.
     * @param later       packets of the receiver point in the next interval, as far as they arrived; null if there are none.
     * @param damaged     whether this point lost packets of its own.
     * @param sentDamaged whether the sender point is known to have lost packets of its own.
     */
    public void begin(
        final PacketCache received, final PacketCache later, final boolean damaged, final boolean sentDamaged,
        final SynopsisPeer sender, final ReconcileTarget newTarget) {
        cache = received;
        late.begin(received.intervalNumber(), later);
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
        remarkedPackets = 0;
        isOver = false;
        isSenderSaturated = false;
        classIndex = PacketCache.ANY_CLASS;
        flowThreshold = cache.flowThreshold();
        missing.clear();
        Arrays.fill(hasEstimate, false);
        Arrays.fill(classLost, 0);
        Arrays.fill(classUnexpected, 0);
        ask(Step.ESTIMATOR, request.estimator(cache.intervalNumber(), classIndex, flowThreshold));
    }

    /** Continues as far as answers are available. Returns whether the interval is done. */
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

    /** Ends the interval on timeout, with the results so far. */
    public void giveUp() {
        isOver = true;
        while (step != Step.DONE) {
            onSilence();
        }
    }

    private void ask(final Step next, final SynopsisRequest asked) {
        step = next;
        if (isOver) {
            return;
        }
        octets += asked.encodedBytes();
        if (!peer.ask(asked)) {
            onSilence();
        }
    }

    private void onSilence() {
        switch (step) {
            case PACKETS -> finishWhole();
            case FLOWS -> beginClass(0);
            case ESTIMATOR, AGGREGATOR -> fail(ReconcileStatus.UNANSWERED);
            default -> {
                // no answer is pending
            }
        }
    }

    /** Ends a failed step. A class then lacks only its delays; its losses are already known. */
    private void fail(final ReconcileStatus reason) {
        if (classIndex == PacketCache.ANY_CLASS) {
            status = reason;
            step = Step.DONE;
            late.settle(false, this::addLost);
        } else {
            isOver |= reason == ReconcileStatus.UNANSWERED;
            beginClass(classIndex + 1);
        }
    }

    private void onAnswer(final SynopsisImage answer) {
        final boolean isSampleMeant = classIndex == PacketCache.ANY_CLASS ?
            answer.flowThreshold() <= flowThreshold : answer.flowThreshold() == flowThreshold;
        final boolean isMeant = answer.intervalNumber() == cache.intervalNumber() && isSampleMeant;
        switch (step) {
            case ESTIMATOR -> onEstimator(answer, isMeant);
            case AGGREGATOR -> onAggregator(answer, isMeant);
            case PACKETS -> {
                if (isMeant) {
                    onPackets(answer);
                    finishWhole();
                } else {
                    fail(ReconcileStatus.REFUSED);
                }
            }
            case FLOWS -> {
                if (isMeant && answer.family() == SynopsisFamily.FLOW_KEYS) {
                    target.onFlowKeys(answer);
                }
                beginClass(0);
            }
            default -> throw new IllegalStateException("step=" + step);
        }
    }

    private void onEstimator(final SynopsisImage answer, final boolean isMeant) {
        if (!isMeant) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
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
        final boolean isForDelays = classIndex != PacketCache.ANY_CLASS || !isByClass;
        final SynopsisGeometry geometry = RdaSizing.forEstimate(
            items, SignedCounts.relativeDeviation(ReconcileSettings.COUNTS), isForDelays ? ReconcileSettings.LEAST_CELLS : 1,
            aggregator.capacityBytes());
        if (classIndex != PacketCache.ANY_CLASS && geometry.totalCells() <= senderAggregator.totalCells()) {
            finishClass();
        } else {
            askForAggregator(geometry);
        }
    }

    private void askForAggregator(final SynopsisGeometry geometry) {
        aggregator.reshape(geometry);
        cache.fill(aggregator, flowThreshold, classIndex);
        if (isDamaged) {
            aggregator.markDamaged();
        }
        ask(Step.AGGREGATOR,
            request.aggregator(cache.intervalNumber(), classIndex, flowThreshold, geometry.banks(), geometry.cells()));
    }

    private void onAggregator(final SynopsisImage answer, final boolean isMeant) {
        if (!isMeant || answer.family() != SynopsisFamily.RDA || answer.length() > senderOctets.capacity()) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        answer.copyTo(senderOctets, 0);
        senderAggregator.wrap(senderOctets, 0, answer.length());
        if (classIndex == PacketCache.ANY_CLASS) {
            listWhole();
        } else {
            listClass();
        }
    }

    private void listWhole() {
        if (reconciler.decode(senderAggregator, aggregator.image()) != SynopsisPairing.PAIRED) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        reconciler.decodeFurther(cache, false);
        // The sender point reports packets with too many copies to count as its own loss.
        isSenderSaturated = !isSenderDamaged && senderAggregator.damaged();
        final PacketDifference difference = reconciler.difference();
        request.packets(cache.intervalNumber(), classIndex, flowThreshold);
        for (int item = 0; item < difference.size(); item++) {
            if (difference.lost(item) && !request.add(difference.identifier(item))) {
                break;
            }
        }
        if (request.count() > 0) {
            ask(Step.PACKETS, request);
        } else {
            finishWhole();
        }
    }

    /** Stores the requested packets. With several classes they are needed beyond the next request, so they are copied. */
    private void onPackets(final SynopsisImage answer) {
        if (!isByClass) {
            missing.wrap(answer);
        } else if (answer.length() <= missingOctets.capacity()) {
            answer.copyTo(missingOctets, 0);
            missing.wrap(missingImage.wrap(missingOctets, 0, answer.length()));
        }
    }

    private void finishWhole() {
        final PacketDifference difference = reconciler.difference();
        reconciler.repair(missing, cache, whole);
        cells += whole.totalCells();
        undecodedCells += difference.undecodedCells();
        unrepairedItems += whole.unrepairedItems();
        if (!difference.complete() || whole.unrepairedItems() > 0 || cache.saturatedPackets() > 0 || isSenderSaturated) {
            status = ReconcileStatus.INCOMPLETE;
        }
        if (difference.size() > 0) {
            LdsRepair.forEachLoss(difference, missing, cache, this::onLoss);
            target.onListed(difference, missing, cache);
        }
        late.settle(status == ReconcileStatus.COMPLETE && !losses.isFull(), this::addLost);
        if (isByClass) {
            known.set(difference);
        } else {
            hasEstimate[0] = true;
            if (late.isAny() && whole.hasLoss() && whole.unrepairedItems() == 0) {
                whole.loss(classLost[0], classUnexpected[0]);
            }
        }
        askForKeys();
    }

    private void onLoss(
        final long identifier, final long flowHash, final int ofClass, final long packets, final long common) {
        final long awaited = packets > 0 ? late.onLost(identifier, flowHash, ofClass, packets) : 0;
        final long cameLate = packets < 0 ? late.onUnexpected(identifier, flowHash, -packets) : 0;
        add(flowHash, ofClass, packets - awaited + cameLate, common + cameLate);
    }

    private void addLost(final long flowHash, final int ofClass, final long packets) {
        add(flowHash, ofClass, packets, 0);
    }

    private void add(final long flowHash, final int ofClass, final long packets, final long common) {
        losses.add(flowHash, packets, common);
        if (ofClass < classLost.length) {
            classLost[ofClass] += Math.max(0, packets);
            classUnexpected[ofClass] += Math.max(0, -packets);
        }
    }

    /**
     * Begins with the delays of the next class, if there is one. Its loss is already known; lost packets without a class count in
     * none.
     */
    private void beginClass(final int next) {
        step = Step.DONE;
        if (!isByClass || next == estimates.length) {
            return;
        }
        classIndex = next;
        isClassEstimated = false;
        estimates[next].reset();
        hasEstimate[next] = true;
        if (whole.hasLoss() && whole.unrepairedItems() == 0) {
            estimates[next].loss(classLost[next], classUnexpected[next]);
        }
        if (isOver) {
            beginClass(next + 1);
        } else {
            askForAggregator(RdaSizing.forEstimate(0, 0, ReconcileSettings.LEAST_CELLS, aggregator.capacityBytes()));
        }
    }

    /**
     * Lists the difference of a class. Packets beyond the already listed difference have a changed mark. If they cannot be
     * listed, an estimator of their number is requested.
     */
    private void listClass() {
        if (reconciler.decodeClass(senderAggregator, aggregator.image(), known, this::isKnownOfClass) !=
            SynopsisPairing.PAIRED) {
            fail(ReconcileStatus.REFUSED);
            return;
        }
        reconciler.decodeFurther(cache, false, classIndex);
        if (reconciler.difference().complete() || isClassEstimated) {
            finishClass();
        } else {
            isClassEstimated = true;
            ask(Step.ESTIMATOR, request.estimator(cache.intervalNumber(), classIndex, flowThreshold));
        }
    }

    private boolean isKnownOfClass(final int item) {
        final PacketDetails source = known.lost(item) ? missing : cache;
        final int entry = source.find(known.identifier(item));
        return entry != ListedTimes.NOT_FOUND && source.copies(entry) == known.copies(item) &&
            source.classIndex(entry) == classIndex;
    }

    private void finishClass() {
        final AggregateEstimate estimate = estimates[classIndex];
        final boolean hasLoss = estimate.hasLoss();
        reconciler.repairClass(missing, cache, estimate);
        if (hasLoss) {
            estimate.loss(classLost[classIndex], classUnexpected[classIndex]);
        }
        remarkedPackets += estimate.remarkedPackets();
        cells += estimate.totalCells();
        undecodedCells += reconciler.difference().undecodedCells();
        beginClass(classIndex + 1);
    }

    /** Requests the keys of flows with losses that are unknown here. Flows beyond one request stay unnamed. */
    private void askForKeys() {
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
        } else {
            beginClass(0);
        }
    }

    /** {@return result of the last interval} */
    public ReconcileStatus status() {
        return status;
    }

    /** Whether the delays or the loss of a class are known. */
    public boolean hasEstimate(final int ofClass) {
        return hasEstimate[ofClass];
    }

    /**
     * {@return the delays and loss of a class with an estimate, by the packets' class at the sender point; valid for this
     * interval}
     */
    public AggregateEstimate estimate(final int ofClass) {
        return estimates[ofClass];
    }

    /** {@return packets that only one point has, by flow} */
    public FlowLosses losses() {
        return losses;
    }

    /** Whether the packets of a flow were compared. With too many flows only a sample is. */
    public boolean covers(final long flowHash) {
        return FlowSample.rank(flowHash, rankSeed) < flowThreshold && !losses.isFull();
    }

    /** {@return whether all flows were compared; if not, the results of a class cover a sample of its flows} */
    public boolean coversAll() {
        return flowThreshold == FlowSample.ALL;
    }

    /** {@return packets that seem lost but may have arrived in the next interval} */
    public LatePackets late() {
        return late;
    }

    /** {@return octets of all requests and answers} */
    public long octets() {
        return octets;
    }

    /** {@return cells of the aggregators} */
    public long cells() {
        return cells;
    }

    /** {@return aggregator cells that still differ} */
    public long undecodedCells() {
        return undecodedCells;
    }

    /** {@return packets with another class at the receiver point than at the sender point} */
    public long remarkedPackets() {
        return remarkedPackets;
    }

    /** {@return listed packets that cannot be removed because too little is known of them} */
    public long unrepairedItems() {
        return unrepairedItems;
    }
}
