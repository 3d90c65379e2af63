package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.FlowTotals;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.ReceiverRecords;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;
import io.flowlag.exporter.delay.interval.repair.FlowLosses;
import io.flowlag.exporter.delay.interval.repair.LocalPeer;
import io.flowlag.exporter.delay.interval.repair.PacketReconciler;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.delay.interval.repair.ReconcileStatus;
import io.flowlag.exporter.delay.interval.repair.ReconcileTarget;
import io.flowlag.exporter.delay.interval.repair.SynopsisPeer;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.reconcile.AggregateEstimate;
import io.flowlag.sketch.reconcile.LdsRepair;
import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.SynopsisImage;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.BitSet;

/**
 * Repairs an interval before it is compared. Packets that only one point has are removed from the cells, the sums of flows and
 * the sums of estimates, and are kept by flow as losses. The metering thread owns it. Allocates at construction, and a few small
 * objects for each interval.
 */
public final class IntervalRepair implements ReconcileTarget {
    /** Packets of a flow that lost an unknown number before it had a record. */
    static final long UNKNOWN = -1;

    private static final int MOST_UNNAMED = 1 << 16;

    private final boolean isOn;
    private final PacketReconciler reconciler;
    private final LocalPeer local;
    private final LdsRepair cells;
    private final long sharedSeed;
    private final CellEditor editor = new CellEditor();
    private final UnsafeBuffer flowKey = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
    private final CounterSet<SketchCounter> counters;
    private final IntervalKeys run;
    private final SketchRecords records;
    private final FlowTotals recorded;
    private final FlowSums unseen;
    private SenderAnswer answer;
    private ReceiverInterval own;
    private boolean isIndexed;
    private final BitSet named = new BitSet();
    /** Lost packets of flows that had no record yet, or {@link #UNKNOWN}; most such flows never have a record. */
    private final Long2LongHashMap unnamed = new Long2LongHashMap(0);
    private boolean isUnnamedForgotten;
    private boolean isTried;
    /** Neither point has packets: that needs no question. */
    private boolean isEmpty;
    private boolean isPending;
    private boolean isRepaired;
    private boolean isLossHidden;
    private final ClockEvidence clocks;

    /** Creates the repair of the receiver point's records; the evidence receives the list of packets. */
    IntervalRepair(
        final IntervalSettings settings, final IntervalKeys run, final ReceiverRecords keeper, final ClockEvidence clocks) {
        this.clocks = clocks;
        this.run = run;
        counters = keeper.counters();
        records = keeper.table();
        recorded = keeper.flows().room();
        isOn = settings.reconcile() != null;
        final ReconcileSettings reconcile = isOn ? settings.reconcile() : ReconcileSettings.OFF;
        sharedSeed = settings.cells().seed();
        reconciler = new PacketReconciler(reconcile, settings.cells().classCount(), sharedSeed);
        unseen = FlowSums.ofAll(reconcile.mostKeys());
        local = new LocalPeer(reconcile, sharedSeed);
        cells = new LdsRepair(isOn ? settings.geometry() : IntervalSettings.NO_CELLS, sharedSeed);
    }

    /**
     * Memory, by formula: the reconciler, the responder, and the flows that only the sender point saw. Returns octets; 0 without
     * reconciliation.
     */
    static long bytes(final IntervalSettings settings) {
        final ReconcileSettings reconcile = settings.reconcile();
        return reconcile == null ? 0 : reconcile.reconcilerBytes(settings.cells().classCount()) + reconcile.responderBytes() +
            FlowSums.memoryBytes(reconcile.mostKeys());
    }

    /**
     * Begins to repair an interval, if both points have kept its packets.
     *
     * @param sent the sender's interval; null if there is none.
     * @param next the receiver's next interval, as far as it was seen; null if it has not begun.
     * @param peer answers if the sender's packets are elsewhere; null if there is no peer.
     * @return whether the repair is done or unnecessary; if not, {@link #work} continues it.
     */
    public boolean begin(
        final SenderAnswer sent, final ReceiverInterval received, final ReceiverInterval next, final SynopsisPeer peer) {
        isRepaired = false;
        isLossHidden = false;
        named.clear();
        answer = sent;
        own = received;
        clocks.begin(own);
        isPending = false;
        isTried = isOn && sent != null && (sent.keepsPackets() || peer != null);
        if (!isTried) {
            return true;
        }
        isIndexed = false;
        unseen.clear();
        isEmpty = !sent.hasSketches() && sent.flows().count() == 0 && received.packets().offeredPackets() == 0 &&
            !sent.isDamaged() && !received.isDamaged();
        final SynopsisPeer asked = sent.keepsPackets() ? local.of(sent.packets(), sent.keys(), sent.isDamaged()) :
            isEmpty ? local.of(received.packets(), null, false) : peer;
        reconciler.begin(
            received.packets(), next == null ? null : next.packets(), received.isDamaged(), sent.isDamaged(), asked, this);
        isPending = !work();
        return !isPending;
    }

    /** {@return whether a repair began and has not ended} */
    public boolean isPending() {
        return isPending;
    }

    /** {@return the sender's interval; null if there is none} */
    public SenderAnswer sent() {
        return answer;
    }

    /** {@return the receiver point's interval} */
    public ReceiverInterval received() {
        return own;
    }

    /** {@return whether the repair of the interval is done} */
    public boolean work() {
        if (!reconciler.work()) {
            return false;
        }
        conclude();
        return true;
    }

    /** Ends the repair on timeout, with the results so far. */
    public void giveUp() {
        reconciler.giveUp();
        conclude();
    }

    private void conclude() {
        isPending = false;
        isRepaired = reconciler.status() == ReconcileStatus.COMPLETE || reconciler.status() == ReconcileStatus.INCOMPLETE;
        counters.increment(switch (reconciler.status()) {
            case COMPLETE -> SketchCounter.RECONCILE_COMPLETE;
            case INCOMPLETE -> SketchCounter.RECONCILE_INCOMPLETE;
            case UNANSWERED -> SketchCounter.RECONCILE_UNANSWERED;
            case REFUSED -> SketchCounter.RECONCILE_REFUSED;
        });
        counters.increment(SketchCounter.RECONCILE_INTERVALS);
        counters.add(SketchCounter.RECONCILE_LOST, reconciler.losses().lostPackets());
        counters.add(SketchCounter.RECONCILE_UNEXPECTED, reconciler.losses().unexpectedPackets());
        counters.add(SketchCounter.RECONCILE_LATE, reconciler.late().latePackets());
        counters.add(SketchCounter.RECONCILE_UNREPAIRED, reconciler.unrepairedItems());
        counters.add(SketchCounter.RECONCILE_REMARKED, reconciler.remarkedPackets());
        counters.add(SketchCounter.RECONCILE_CELLS, reconciler.cells());
        counters.add(SketchCounter.RECONCILE_CELLS_UNDECODED, reconciler.undecodedCells());
        counters.add(SketchCounter.RECONCILE_OCTETS, octets());
        SketchCounter.countCache(counters, own);
        if (answer.keepsPackets()) {
            SketchCounter.countCache(counters, answer);
        }
    }

    @Override
    public void onListed(final PacketDifference difference, final PacketDetails sent, final PacketDetails received) {
        clocks.onListed(difference, sent, received);
        takeOutOfSums(difference, true, sent);
        takeOutOfSums(difference, false, received);
        if (answer.hasSketches() && own.hasSketches()) {
            takeOutOfEstimates(difference, received);
            cells.reseed(own.sketch().seed(sharedSeed));
            answer.edit(editor);
            cells.repair(difference, true, sent, editor);
            own.edit(editor);
            cells.repair(difference, false, received, editor);
        }
    }

    /**
     * Whether a flow's key need not be requested. Sums of all flows have their keys, and where a point lost packets of its own no
     * loss is reported.
     */
    @Override
    public boolean isNamed(final long flowHash) {
        if (!answer.hasSketches() || answer.isDamaged() || own.isDamaged()) {
            return true;
        }
        if (!isIndexed) {
            isIndexed = true;
            indexRecords();
        }
        return recorded.get(flowHash) != 0;
    }

    private void indexRecords() {
        final long key = run.key(own.intervalNumber());
        recorded.clear(records.limit());
        for (int i = 0; i < own.records().count(); i++) {
            recorded.add(records.flowHash(own.records().get(i)), 1);
        }
        for (int record = 0; record < records.limit(); record++) {
            if (records.isSilent(record, key)) {
                recorded.add(records.flowHash(record), 1);
            }
        }
    }

    @Override
    public void onFlowKeys(final SynopsisImage keys) {
        for (int i = 0; i < keys.totalCells(); i++) {
            final int row = unseen.put(keys.keyFlowHash(i), keys.keyPackets(i), 0, 0, 0);
            if (row != FlowSums.NONE) {
                FlowKeyLayout.sourceHigh(flowKey, 0, keys.keySourceHigh(i));
                FlowKeyLayout.sourceLow(flowKey, 0, keys.keySourceLow(i));
                FlowKeyLayout.destinationHigh(flowKey, 0, keys.keyDestinationHigh(i));
                FlowKeyLayout.destinationLow(flowKey, 0, keys.keyDestinationLow(i));
                FlowKeyLayout.sourcePort(flowKey, 0, keys.keySourcePort(i));
                FlowKeyLayout.destinationPort(flowKey, 0, keys.keyDestinationPort(i));
                FlowKeyLayout.protocol(flowKey, 0, keys.keyProtocol(i));
                FlowKeyLayout.ipVersion(flowKey, 0, keys.keyIpVersion(i));
                unseen.key(row, flowKey, 0);
                unseen.classIndex(row, keys.keyClassIndex(i));
            }
        }
    }

    /**
     * Reports flows without a record whose key is known and whose sent packets were all lost. Called after all records are
     * updated.
     *
     * @param isHeld whether the handler decides later which of them belong to the segment.
     * @return packets that those flows lost, if all of them belong to the segment.
     */
    long tellUnseen(final UnseenFlowHandler handler, final boolean isHeld, final long startNs, final long endNs) {
        long lost = 0;
        for (int row = 0; isRepaired && !isLossHidden && row < unseen.count(); row++) {
            final long flowHash = unseen.flowHash(row);
            final long lostPackets = reconciler.losses().lost(flowHash);
            if (isLossKnown(flowHash) && lostPackets == unseen.packets(row) && name(flowHash)) {
                counters.increment(SketchCounter.RECONCILE_FLOWS_UNSEEN);
                lost += isHeld ? 0 : lostPackets;
                handler.onUnseenFlow(unseen, row, startNs, endNs);
            }
        }
        return lost;
    }

    private void takeOutOfSums(final PacketDifference difference, final boolean isSender, final PacketDetails packets) {
        for (int item = 0; item < difference.size(); item++) {
            if (difference.lost(item) == isSender) {
                final int entry = entry(difference, item, packets);
                if (entry != ListedTimes.NOT_FOUND) {
                    final long identifier = difference.identifier(item);
                    takeOut(isSender ? answer.flows() : own.flows(), own.flows(), identifier, packets, entry);
                    takeOut(isSender ? answer.witnesses() : own.witnesses(), own.witnesses(), identifier, packets, entry);
                }
            }
        }
    }

    /**
     * Removes listed packets. A flow without received packets stays unchanged, except for late ones: there is nothing to compare,
     * and its loss is its count.
     */
    private void takeOut(
        final FlowSums sums, final FlowSums received, final long identifier, final PacketDetails packets, final int entry) {
        final long flowHash = packets.flowHash(entry);
        if (received.find(flowHash) != FlowSums.NONE || reconciler.late().isAwaited(identifier)) {
            sums.subtract(
                flowHash, packets.copies(entry), packets.timestampSumNs(entry), identifier * packets.copies(entry),
                packets.bytes(entry));
        }
    }

    private void takeOutOfEstimates(final PacketDifference difference, final PacketDetails received) {
        for (int item = 0; !own.estimates().isEmpty() && item < difference.size(); item++) {
            final int entry = difference.lost(item) ? ListedTimes.NOT_FOUND : entry(difference, item, received);
            if (entry != ListedTimes.NOT_FOUND) {
                own.estimates().takeOut(
                    received.flowHash(entry), difference.identifier(item),
                    (long)received.weight(entry) * received.copies(entry), own.sketch());
            }
        }
    }

    /** {@return position of an item's packets; {@link ListedTimes#NOT_FOUND} if they cannot be removed from a flow} */
    private static int entry(final PacketDifference difference, final int item, final PacketDetails packets) {
        final int entry = packets.find(difference.identifier(item));
        return entry == ListedTimes.NOT_FOUND || packets.collided(entry) || packets.copies(entry) != difference.copies(item) ?
            ListedTimes.NOT_FOUND : entry;
    }

    /** {@return whether packets were removed from the interval} */
    boolean isRepaired() {
        return isRepaired;
    }

    /** Sets whether the loss on the path cannot be determined for the interval. */
    void hideLoss(final boolean isHidden) {
        isLossHidden = isHidden;
    }

    boolean isLossHidden() {
        return isLossHidden;
    }

    /** {@return whether packets of a flow were removed, or may have been because not all such flows fit} */
    boolean isListed(final long flowHash) {
        return isUndecided(flowHash) || isRepaired &&
            (reconciler.losses().isFull() || reconciler.losses().row(flowHash) != FlowLosses.NONE);
    }

    /**
     * Whether packets of a record's flow may have been removed unnoticed, or may have arrived late, so that another record counts
     * them.
     */
    boolean isLossDoubtful(final int record, final long flowHash) {
        return isUndecided(flowHash) || isRepaired && (
            reconciler.losses().isFull() && reconciler.losses().row(flowHash) == FlowLosses.NONE ||
            reconciler.late().isFlowAwaited(flowHash) && !records.hasPacketsAfter(record, run.key(own.intervalNumber())));
    }

    private boolean isUndecided(final long flowHash) {
        return isTried && reconciler.late().isUndecided(flowHash);
    }

    /** Marks the losses of a flow as assigned to a record. Returns whether it is the first record of the flow. */
    boolean name(final long flowHash) {
        final int row = isRepaired ? reconciler.losses().row(flowHash) : FlowLosses.NONE;
        if (row == FlowLosses.NONE || named.get(row)) {
            return false;
        }
        named.set(row);
        return true;
    }

    /** {@return whether flows lost packets before they had a record} */
    boolean isAnyUnnamed() {
        return !unnamed.isEmpty();
    }

    /** {@return the packets that a flow lost before it had a record: once; 0 if there are none, {@link #UNKNOWN} if unknown} */
    long takeUnnamed(final long flowHash) {
        final long lostPackets = unnamed.remove(flowHash);
        counters.add(SketchCounter.RECONCILE_LOST_UNNAMED, -Math.max(0, lostPackets));
        return lostPackets;
    }

    /** Records that a flow without a record may have lost packets. */
    void doubtUnnamed(final long flowHash) {
        makeRoomForUnnamed();
        unnamed.put(flowHash, UNKNOWN);
    }

    private void makeRoomForUnnamed() {
        if (unnamed.size() >= MOST_UNNAMED) {
            unnamed.clear();
            isUnnamedForgotten = true;
        }
    }

    /** Counts lost packets of flows without a record, and keeps them for later records. */
    void keepUnnamed() {
        for (int row = 0; isRepaired && row < reconciler.losses().count(); row++) {
            final long flowHash = reconciler.losses().flowHash(row);
            final long lostPackets = named.get(row) ? 0 : reconciler.losses().lost(flowHash);
            counters.add(SketchCounter.RECONCILE_LOST_UNNAMED, lostPackets);
            if (lostPackets > 0 && isLossKnown(flowHash) && !isLossHidden) {
                makeRoomForUnnamed();
                final long earlierLost = unnamed.get(flowHash);
                unnamed.put(flowHash, earlierLost == UNKNOWN ? UNKNOWN : earlierLost + lostPackets);
            } else if (lostPackets > 0) {
                doubtUnnamed(flowHash);
            }
        }
    }

    /** {@return whether the losses of a flow are known packet by packet} */
    boolean isLossKnown(final long flowHash) {
        return isComplete() && reconciler.covers(flowHash) && !reconciler.late().isUndecided(flowHash);
    }

    private boolean isComplete() {
        return isRepaired && reconciler.status() == ReconcileStatus.COMPLETE;
    }

    /** {@return whether all packets that only one point has are known, of all flows, including late ones} */
    boolean isWhole() {
        return isComplete() && reconciler.coversAll() && !reconciler.losses().isFull();
    }

    /** {@return whether flows without a record may have unlisted losses, because the interval, or a flow, was not reconciled} */
    boolean mayHideUnnamed() {
        return isOn && !isWhole();
    }

    /** {@return whether the table of lost packets without a record was cleared since the last call, because it was full} */
    boolean takeForgotten() {
        final boolean isForgotten = isUnnamedForgotten;
        isUnnamedForgotten = false;
        return isForgotten;
    }

    /** {@return packets of a flow that were listed as lost} */
    long lostPackets(final long flowHash) {
        return isRepaired ? reconciler.losses().lost(flowHash) : 0;
    }

    /** {@return packets of a flow that were listed as unexpected} */
    long unexpectedPackets(final long flowHash) {
        return isRepaired ? reconciler.losses().unexpected(flowHash) : 0;
    }

    /** {@return packets of a flow that both points have and that were removed with their copies: they have no delay} */
    long withdrawnPackets(final long flowHash) {
        return isRepaired ? reconciler.losses().withdrawn(flowHash) : 0;
    }

    /** {@return result of the reconciliation; null if it was not tried} */
    ReconcileStatus status() {
        return isTried ? reconciler.status() : null;
    }

    /** {@return a class's delays; null if they were not estimated} */
    AggregateEstimate estimate(final int classIndex) {
        return status() != null && reconciler.hasEstimate(classIndex) ? reconciler.estimate(classIndex) : null;
    }

    /** {@return whether the estimate of a class covers all of its flows} */
    boolean isOfAllFlows() {
        return reconciler.coversAll();
    }

    /** {@return octets of requests and answers} */
    long octets() {
        return isEmpty ? 0 : reconciler.octets();
    }
}
