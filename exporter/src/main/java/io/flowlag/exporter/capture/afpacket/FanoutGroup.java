package io.flowlag.exporter.capture.afpacket;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The sockets between which the kernel shares the packets of one interface out. Whichever is closed first leaves its flows to the
 * others, in the middle of them; so each waits for the others to refuse further packets too. Safe from any thread.
 */
final class FanoutGroup {
    private static final int NONE = -1;

    private final AtomicInteger receivingCount;
    private int groupId = NONE;

    /**
     * A group without sockets.
     *
     * @param size how many there will be.
     */
    FanoutGroup(final int size) {
        receivingCount = new AtomicInteger(size);
    }

    /**
     * Takes a socket in; one thread alone, before the sources are worked.
     *
     * @param socket bound to the interface.
     */
    void join(final PacketSocket socket) {
        if (groupId == NONE) {
            groupId = socket.beginGroup();
        } else {
            socket.joinGroup(groupId);
        }
    }

    /** A member takes no further packet in; called once by each. */
    void onRefusing() {
        receivingCount.decrementAndGet();
    }

    /** {@return whether all members have stopped receiving} */
    boolean isRefusing() {
        return receivingCount.get() <= 0;
    }
}
