package io.flowlag.exporter.capture.afpacket;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The sockets that share the packets of one interface, or one that has them all. When a socket closes, the kernel moves its flows
 * to the others in the middle; so each waits until the others refuse further packets too. Safe from any thread.
 */
final class FanoutGroup {
    private static final int NONE = -1;

    private final AtomicInteger receivingCount;
    private final boolean isShared;
    private int groupId = NONE;

    /** A group that has no sockets yet. One that does not share packets has one socket, and the kernel knows no group. */
    FanoutGroup(final int size, final boolean isShared) {
        receivingCount = new AtomicInteger(size);
        this.isShared = isShared;
    }

    /** Adds a socket that is bound to the interface; one thread alone, before the sources are polled. */
    void join(final PacketSocket socket) {
        if (isShared && groupId == NONE) {
            groupId = socket.beginGroup();
        } else if (isShared) {
            socket.joinGroup(groupId);
        }
    }

    /** Makes the kernel give a member nothing more. */
    void stop(final PacketSocket socket, final int interfaceId) {
        if (isShared) {
            socket.refuse();
        } else {
            socket.unbind(interfaceId);
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
