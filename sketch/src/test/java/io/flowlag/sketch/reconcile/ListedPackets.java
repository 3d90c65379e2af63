package io.flowlag.sketch.reconcile;

import java.util.ArrayList;
import java.util.List;

/** A packet source of a few packets: what a test knows of them. */
final class ListedPackets implements ListedTimes {
    private final List<long[]> packets = new ArrayList<>();

    ListedPackets with(final long identifier, final long timestampSumNs, final int copies) {
        packets.add(new long[]{identifier, timestampSumNs, copies});
        return this;
    }

    @Override
    public int find(final long identifier) {
        for (int i = 0; i < packets.size(); i++) {
            if (identifier == packets.get(i)[0]) {
                return i;
            }
        }
        return NOT_FOUND;
    }

    @Override
    public int copies(final int entry) {
        return (int)packets.get(entry)[2];
    }

    @Override
    public long timestampSumNs(final int entry) {
        return packets.get(entry)[1];
    }
}
