package io.flowlag.sketch.reconcile;

/**
 * One point's answer to the other's request for packets that only it has (RDA paper, section VIII): a record of 32 octets for
 * each listed item. It has the image format of a synopsis and is verified like one; {@link MissingPacketSource} reads it.
 *
 * <p>One thread at a time. It owns its memory. Allocates at construction, and a geometry for each answer.
 */
public final class MissingPackets extends Synopsis {
    private int written;

    /**
     * Takes the memory of answers.
     *
     * @param capacity most packets of an answer, at least 1.
     * @param seed     that both measurement points share.
     */
    public MissingPackets(final int capacity, final long seed) {
        super(SynopsisFamily.MISSING_PACKETS, new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, capacity), seed);
    }

    /**
     * Fills an answer with the listed items of one point that its cache knows. Those beyond the capacity are left out: the other
     * point cannot repair them, and counts them.
     *
     * @param fromSender whether cache and items are the sender's.
     * @return items in the answer; if there is none, the image is not of this interval and need not be sent.
     */
    public int collect(final PacketDifference difference, final boolean fromSender, final PacketCache cache) {
        final int capacity = capacity();
        int records = 0;
        for (int item = 0; item < difference.size() && records < capacity; item++) {
            records += entry(difference, item, fromSender, cache) >= 0 ? 1 : 0;
        }
        if (records > 0) {
            start(records, cache);
            for (int item = 0; written < records; item++) {
                final int entry = entry(difference, item, fromSender, cache);
                if (entry >= 0) {
                    write(cellOffset(written++), difference.identifier(item), cache, entry);
                }
            }
        }
        return records;
    }

    /** Begins an answer of 1 to {@link #capacity} packets; {@link #add} is to be called for each. */
    public void start(final int packets, final PacketCache cache) {
        form(new SynopsisGeometry(SynopsisFamily.MISSING_PACKETS, 1, packets));
        flowThreshold(cache.flowThreshold());
        begin(cache.intervalNumber(), cache.intervalNs());
        written = 0;
    }

    /** Adds a packet, if it is known. Returns whether it is known. */
    public boolean add(final long identifier, final PacketCache cache) {
        final int entry = cache.find(identifier);
        if (entry == ListedTimes.NOT_FOUND) {
            return false;
        }
        write(cellOffset(written++), identifier, cache, entry);
        return true;
    }

    private static int entry(
        final PacketDifference difference, final int item, final boolean fromSender, final PacketCache cache) {
        return fromSender == difference.lost(item) ? cache.find(difference.identifier(item)) : ListedTimes.NOT_FOUND;
    }

    private void write(final int offset, final long identifier, final PacketCache cache, final int entry) {
        countPackets(cache.copies(entry));
        putLong(offset + SynopsisDescriptor.CELL_IDENTIFIER_OFFSET, identifier);
        putLong(offset + SynopsisDescriptor.CELL_TIMESTAMP_SUM_OFFSET, cache.timestampSumNs(entry));
        putLong(offset + SynopsisDescriptor.MISSING_FLOW_HASH_OFFSET, cache.flowHash(entry));
        putLong(offset + SynopsisDescriptor.MISSING_BYTES_OFFSET,
            cache.bytes(entry) | (long)cache.copies(entry) << 32 |
                (long)cache.classIndex(entry) << 32 + SynopsisDescriptor.MISSING_CLASS_SHIFT |
                (long)cache.weight(entry) << 48 | (cache.collided(entry) ? Long.MIN_VALUE : 0));
    }
}
