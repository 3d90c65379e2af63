package io.flowlag.exporter.capture.afpacket;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The sockets that share the packets of one interface. When a socket closes, the kernel moves its flows to the others in the
 * middle; so each waits until the others refuse further packets too. Safe from any thread.
 */
final class FanoutGroup {
    private static final int NONE = -1;

    private final AtomicInteger receivingCount;
    private int groupId = NONE;

    /** A group that has no sockets yet. */
    FanoutGroup(final int size) {
        receivingCount = new AtomicInteger(size);
    }

    /** Adds a socket that is bound to the interface; one thread alone, before the sources are polled. */
    void join(final PacketSocket socket) {
        if (groupId == NONE) {
            groupId = socket.beginGroup();
        } else {
            socket.joinGroup(groupId);
        }
    }

    /** A member refuses further packets; called once by each. */
    void onRefusing() {
        receivingCount.decrementAndGet();
    }

    /** {@return whether all members have stopped receiving} */
    boolean isRefusing() {
        return receivingCount.get() <= 0;
    }
}
