package io.flowlag.sketch.reconcile;

import io.flowlag.common.hash.SecretPlace;
import org.agrona.BitUtil;

import java.util.Arrays;

/**
 * Reads the packets of a {@link MissingPackets} image from the other point. Of records with one identifier the first counts.
 *
 * <p>One thread at a time. Takes 8 to 16 octets a record at construction; allocates nothing later.
 */
public final class MissingPacketSource implements PacketDetails {
    private final int capacity;
    private final int[] records;
    private SynopsisImage image;

    /**
     * An empty source.
     *
     * @param capacity most records of an image.
     */
    public MissingPacketSource(final int capacity) {
        if (capacity < 1 || capacity > 1 << 28) {
            throw new IllegalArgumentException("capacity=" + capacity + " is not in 1.." + (1 << 28));
        }
        this.capacity = capacity;
        records = new int[BitUtil.findNextPositivePowerOfTwo(2 * capacity)];
        clear();
    }

    /**
     * Takes an answer, instead of the one before.
     *
     * @param answer verified; it must stay as it is while the source is used.
     * @return whether it is one and fits; if not the source is empty.
     */
    public boolean wrap(final SynopsisImage answer) {
        clear();
        if (answer.family() != SynopsisFamily.MISSING_PACKETS || answer.cells() > capacity) {
            return false;
        }
        image = answer;
        for (int record = 0; record < answer.cells(); record++) {
            final int slot = slot(answer.identifier(record));
            if (records[slot] == NOT_FOUND) {
                records[slot] = record;
            }
        }
        return true;
    }

    public void clear() {
        Arrays.fill(records, NOT_FOUND);
    }

    @Override
    public int find(final long identifier) {
        return records[slot(identifier)];
    }

    @Override
    public int copies(final int entry) {
        return image.missingCopies(entry);
    }

    @Override
    public long timestampSumNs(final int entry) {
        return image.timestampSumNs(entry);
    }

    @Override
    public long flowHash(final int entry) {
        return image.missingFlowHash(entry);
    }

    @Override
    public long bytes(final int entry) {
        return image.missingBytes(entry);
    }

    @Override
    public int weight(final int entry) {
        return image.missingWeight(entry);
    }

    @Override
    public int classIndex(final int entry) {
        return image.missingClassIndex(entry);
    }

    @Override
    public boolean collided(final int entry) {
        return image.missingCollided(entry);
    }

    /** The slot of an identifier, or the free one where it would be; at least half of the slots are free. */
    private int slot(final long identifier) {
        int slot = SecretPlace.of(identifier, records.length - 1);
        while (records[slot] != NOT_FOUND && identifier != image.identifier(records[slot])) {
            slot = slot + 1 & records.length - 1;
        }
        return slot;
    }
}
