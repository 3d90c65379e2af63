package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.filter.BpfProgram;

/**
 * Memory into which the kernel puts the packets of a socket, read where they are. Owns the mapping. One thread may call it;
 * allocates at construction and in {@link #attach} only.
 */
abstract class SocketRing implements AutoCloseable {
    private static final int PACKET_HOST = 0;
    private static final int PACKET_OUTGOING = 4;

    protected final PacketSocket socket;
    protected final CheckedBuffer memory = new CheckedBuffer(0, 0);

    SocketRing(final PacketSocket socket) {
        this.socket = socket;
    }

    final CheckedBuffer buffer() {
        return memory;
    }

    /** Makes the kernel run a program on each packet from now on: it tells whether the packet is wanted, and how much of it. */
    abstract void attach(BpfProgram program);

    /** Goes to the next packet, and gives back the memory of those before it. Returns whether there is one. */
    abstract boolean advance();

    /** Shows the packet that {@link #advance} went to: octets, lengths, time and tag. */
    abstract void show(CapturedPacket packet);

    /** {@return the packet type of {@code if_packet.h}} */
    abstract int packetType();

    /** {@return whether the network card stamped the packet} */
    abstract boolean isStampedByCard();

    /** Whether no packet is left, neither here nor in the kernel. Call it after {@link #advance} returned false. */
    abstract boolean isDrained();

    /** {@return what poll(2) finds readable when packets are there; -1 if nothing is} */
    int descriptor() {
        return socket.descriptor();
    }

    /** Waits until there may be a packet, but at most for the timeout. */
    abstract boolean await(int timeoutMs);

    /** Follows what changes slowly; called several times a second. */
    void keepHouse() {
    }

    /** {@return packets lost since the last call} */
    abstract long takeDropCount();

    /** Which way a packet goes: for this host, to several or to another one, or from this host. */
    final CapturedPacket.Way way() {
        final int type = packetType();
        return type == PACKET_OUTGOING ? CapturedPacket.Way.LEAVING :
            type == PACKET_HOST ? CapturedPacket.Way.ARRIVING : CapturedPacket.Way.PASSING;
    }

    @Override
    public abstract void close();
}
