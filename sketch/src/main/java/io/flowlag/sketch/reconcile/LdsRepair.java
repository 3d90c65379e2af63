package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;

/**
 * Removes the packets that an aggregator listed from the cells of an LDS: lost ones from the sender's image, reordered ones from
 * the receiver's. The cells then agree and are usable; the estimate equals the one without those packets. Repaired cells no
 * longer show loss: {@link #forEachLoss} counts it. An item is not removed if its copies belong to different flows or the cache
 * does not know it; its cells stay unusable.
 *
 * <p>One thread at a time; allocates at construction only.
 */
public final class LdsRepair {
    private final CellMap cellMap;
    private long repairedItems;
    private long unrepairedItems;

    /** Prepares repairs of sketches of family LDS. */
    public LdsRepair(final SketchGeometry geometry, final long seed) {
        if (geometry.family() != SketchFamily.LDS) {
            throw new IllegalArgumentException("family=" + geometry.family() + " is not LDS");
        }
        cellMap = new CellMap(geometry, seed);
    }

    /** Changes the seed. */
    public void reseed(final long seed) {
        cellMap.reseed(seed);
    }

    /**
     * Removes all listed items of one point from its image.
     *
     * @param fromSender whether cache and image are the sender's; else the receiver's.
     * @param cache      holds the listed packets of that point.
     * @param image      of that point, verified, of the geometry; its seed is the sketches'.
     */
    public void repair(
        final PacketDifference difference, final boolean fromSender, final PacketDetails cache, final CellEditor image) {
        for (int item = 0; item < difference.size(); item++) {
            if (fromSender == difference.lost(item)) {
                final int entry = cache.find(difference.identifier(item));
                if (entry != ListedTimes.NOT_FOUND && !cache.collided(entry) &&
                    difference.copies(item) == cache.copies(entry)) {
                    takeOut(difference.identifier(item), cache, entry, image);
                    repairedItems++;
                } else {
                    unrepairedItems++;
                }
            }
        }
    }

    /**
     * Names the flows of packets that differ. Exact if the difference is complete and no item of it has copies of different
     * flows.
     *
     * @param received packets of the receiver, at least those that are listed as reordered.
     * @param handler  takes one call for each listed identifier.
     */
    public static void forEachLoss(
        final PacketDifference difference, final PacketDetails sent, final PacketDetails received,
        final FlowLossHandler handler) {
        for (int item = 0; item < difference.size(); item++) {
            final long identifier = difference.identifier(item);
            final int sentEntry = sent.find(identifier);
            final int receivedEntry = received.find(identifier);
            final int sentCopies = sentEntry == ListedTimes.NOT_FOUND ? 0 : sent.copies(sentEntry);
            final int receivedCopies = receivedEntry == ListedTimes.NOT_FOUND ? 0 : received.copies(receivedEntry);
            // An identifier with different numbers of copies is listed twice, once for each point.
            if (difference.lost(item) && sentCopies > 0) {
                handler.onLoss(
                    identifier, sent.flowHash(sentEntry), sent.classIndex(sentEntry), sentCopies - receivedCopies,
                    Math.min(sentCopies, receivedCopies));
            } else if (!difference.lost(item) && receivedCopies > 0 && sentCopies == 0) {
                handler.onLoss(
                    identifier, received.flowHash(receivedEntry), received.classIndex(receivedEntry), -receivedCopies, 0);
            }
        }
    }

    /** Items that were taken out. Returns count since construction. */
    public long repairedItems() {
        return repairedItems;
    }

    /** Items that could not be taken out. Returns count since construction. */
    public long unrepairedItems() {
        return unrepairedItems;
    }

    private void takeOut(final long identifier, final PacketDetails cache, final int entry, final CellEditor image) {
        final long weight = cache.weight(entry);
        final int copies = cache.copies(entry);
        for (int row = 0; row < cellMap.rows(); row++) {
            final int column = cellMap.column(row, cache.flowHash(entry), identifier);
            if (column != CellMap.NOT_SAMPLED) {
                image.subtract(
                    row, column, weight * cache.timestampSumNs(entry), weight * copies, identifier * copies,
                    weight * cache.bytes(entry));
            }
        }
    }
}
