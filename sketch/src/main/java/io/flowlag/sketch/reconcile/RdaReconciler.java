package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.estimate.SampleBound;

import java.util.function.IntPredicate;

/**
 * Compares two RDA (RDA paper, section V): {@link #decode} lists lost and reordered packets, {@link #repair} removes them from
 * the cells and estimates from all clean cells. Between the two calls the sender can request the timestamps of packets that only
 * the receiver has. A listed item unknown to all sources is not removed, and its cells do not count.
 *
 * <p>One thread at a time. Takes 61 octets a cell at construction; allocates nothing later.
 */
public final class RdaReconciler {
    private final SampleBound bound;
    private final DifferenceDecoder decoder;
    private final PacketDifference difference;
    private final CellDelays delays;
    private final BankHashes hashes;
    private final PacketGroup groups;
    private SynopsisImage sender;
    private SynopsisImage receiver;
    private SynopsisPairing pairing = SynopsisPairing.FAMILY;

    /**
     * A reconciler.
     *
     * @param capacity   most cells of an RDA, over all banks.
     * @param seed       that both measurement points share.
     * @param confidence of the bound, between 0 and 1.
     */
    public RdaReconciler(final int capacity, final long seed, final double confidence) {
        bound = new SampleBound(confidence);
        decoder = new DifferenceDecoder(capacity, seed);
        difference = decoder.newDifference();
        delays = new CellDelays(capacity);
        hashes = new BankHashes(SynopsisFamily.RDA.maxBanks(), seed);
        groups = new PacketGroup(seed);
    }

    /**
     * Lists the difference of the two. The images must not change until {@link #repair}. Returns {@link SynopsisPairing#PAIRED},
     * or why the pair is refused.
     */
    public SynopsisPairing decode(final SynopsisImage senderImage, final SynopsisImage receiverImage) {
        sender = senderImage;
        receiver = receiverImage;
        pairing = decoder.decode(sender, receiver, difference);
        return pairing;
    }

    /**
     * Lists the difference of two images of one traffic class when the difference of all packets is known. It holds lost and
     * unexpected packets, and those with another mark (DSCP) at the receiver.
     *
     * @param senderImage   verified; of the packets that have the class at the sender.
     * @param receiverImage verified; of those that have it at the receiver.
     * @param known         the difference of all packets, of {@link #newDifference}.
     * @param isOfClass     whether the item of an index in that list has the class at the point that has the packet.
     * @return {@link SynopsisPairing#PAIRED}, or why the pair is refused.
     */
    public SynopsisPairing decodeClass(
        final SynopsisImage senderImage, final SynopsisImage receiverImage, final PacketDifference known,
        final IntPredicate isOfClass) {
        sender = senderImage;
        receiver = receiverImage;
        pairing = decoder.decode(sender, receiver, known, isOfClass, difference);
        return pairing;
    }

    /** Makes a list that can keep what {@link #difference} has. Returns an empty list. */
    public PacketDifference newDifference() {
        return decoder.newDifference();
    }

    /**
     * Continues a decode with the packets of one point, see {@link DifferenceDecoder#decodeFurther}.
     *
     * @param cache      packets of one point; its threshold is the images'.
     * @param fromSender whether it is the sender's.
     */
    public void decodeFurther(final PacketCache cache, final boolean fromSender) {
        decodeFurther(cache, fromSender, PacketCache.ANY_CLASS);
    }

    /**
     * Continues a decode with the packets of one traffic class of a point.
     *
     * @param cache      packets of one point; its threshold is the images'.
     * @param fromSender whether it is the sender's.
     * @param classIndex of the images, or {@link PacketCache#ANY_CLASS}.
     */
    public void decodeFurther(final PacketCache cache, final boolean fromSender, final int classIndex) {
        if (pairing == SynopsisPairing.PAIRED) {
            decoder.decodeFurther(cache, fromSender, classIndex, difference);
        }
    }

    /** What {@link #decode} listed. Returns the one list of this reconciler. */
    public PacketDifference difference() {
        return difference;
    }

    /**
     * Removes the listed packets and estimates.
     *
     * @param senderPackets   holds the packets of the sender.
     * @param receiverPackets holds the packets of the receiver, at least those that are listed as reordered.
     * @param result          is filled; empty if the last pair was refused.
     */
    public void repair(
        final ListedTimes senderPackets, final ListedTimes receiverPackets, final AggregateEstimate result) {
        result.reset();
        if (pairing != SynopsisPairing.PAIRED) {
            return;
        }
        loadCells();
        long reorderedPackets = 0;
        for (int item = 0; item < difference.size(); item++) {
            final boolean lost = difference.lost(item);
            final ListedTimes source = lost ? senderPackets : receiverPackets;
            takeOut(item, source, result);
            if (!lost) {
                final int sent = senderPackets.find(difference.identifier(item));
                final int sentCopies = sent == ListedTimes.NOT_FOUND ? 0 : senderPackets.copies(sent);
                result.unexpectedPackets += Math.max(0, difference.copies(item) - sentCopies);
                reorderedPackets += difference.copies(item);
            }
        }
        if (!sender.damaged() && !receiver.damaged()) {
            result.hasLoss = true;
            result.netLostPackets = sender.packets() - receiver.packets();
        }
        delays.estimate(bound, receiver.packets() - reorderedPackets, difference.complete(), result);
    }

    /**
     * Removes the packets that {@link #decodeClass} listed from the cells, and estimates the delays of packets that had the class
     * at the sender. A packet that arrived with another mark is included, because its arrival is known here. The estimate carries
     * no loss until the caller sets it.
     *
     * @param receiverPackets holds all packets of the receiver.
     * @param result          is filled; empty if the last pair was refused.
     */
    public void repairClass(
        final ListedTimes senderPackets, final ListedTimes receiverPackets, final AggregateEstimate result) {
        result.reset();
        if (pairing != SynopsisPairing.PAIRED) {
            return;
        }
        loadCells();
        long packets = sender.packets();
        for (int item = 0; item < difference.size(); item++) {
            if (!difference.lost(item)) {
                takeOut(item, receiverPackets, result);
            } else if (isAtOtherClass(item, receiverPackets)) {
                bringIn(item, receiverPackets);
                result.remarkedPackets += difference.copies(item);
            } else {
                takeOut(item, senderPackets, result);
                packets -= difference.copies(item);
            }
        }
        delays.estimate(bound, packets, difference.complete(), result);
    }

    /** {@return the cells as the last repair left them} */
    public CellDelays cells() {
        return delays;
    }

    private boolean isAtOtherClass(final int item, final ListedTimes receiverPackets) {
        final int entry = receiverPackets.find(difference.identifier(item));
        return entry != ListedTimes.NOT_FOUND && receiverPackets.copies(entry) == difference.copies(item);
    }

    private void bringIn(final int item, final ListedTimes receiverPackets) {
        final long identifier = difference.identifier(item);
        final int copies = difference.copies(item);
        final long timestampSumNs = receiverPackets.timestampSumNs(receiverPackets.find(identifier));
        for (int bank = 0; bank < receiver.banks(); bank++) {
            delays.change(cell(bank, identifier, copies), timestampSumNs, -copies);
        }
    }

    private void loadCells() {
        delays.begin(receiver.banks(), receiver.cells());
        for (int cell = 0; cell < receiver.totalCells(); cell++) {
            delays.set(cell, receiver.timestampSumNs(cell) - sender.timestampSumNs(cell), receiver.count(cell));
            if (!decoder.clean(cell)) {
                delays.spoil(cell);
            }
        }
    }

    private void takeOut(final int item, final ListedTimes source, final AggregateEstimate result) {
        final long identifier = difference.identifier(item);
        final int copies = difference.copies(item);
        final int entry = source.find(identifier);
        final boolean known = entry != ListedTimes.NOT_FOUND && copies == source.copies(entry);
        final boolean lost = difference.lost(item);
        if (!known) {
            result.unrepairedItems++;
        }
        for (int bank = 0; bank < receiver.banks(); bank++) {
            final int cell = cell(bank, identifier, copies);
            if (known && lost) {
                delays.change(cell, source.timestampSumNs(entry), 0);
            } else if (known) {
                delays.change(cell, -source.timestampSumNs(entry), copies);
            } else {
                delays.spoil(cell);
            }
        }
    }

    private int cell(final int bank, final long identifier, final int copies) {
        final long mixed = hashes.mixed(bank, groups.identifier(identifier, copies));
        return bank * receiver.cells() + BankHashes.cell(mixed, receiver.cells());
    }
}
