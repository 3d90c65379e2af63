package io.flowlag.exporter.pipeline;

import org.agrona.DirectBuffer;

/** Takes decoded packets in batches. Called by one thread; must not throw. */
@FunctionalInterface
public interface DescriptorHandler {
    /**
     * Decoded packets, in the order of capture.
     *
     * @param buffer holds the descriptors, one after the other, each of
     *               {@link io.flowlag.exporter.decode.PacketDescriptor#LENGTH_BYTES}; valid during the call.
     * @param offset of the first.
     * @param count  how many there are.
     */
    void onDescriptors(DirectBuffer buffer, int offset, int count);

    /**
     * Reports how far the capture of live sources has come. A stage that infers loss from the absence of a packet uses this and
     * not the clock, which runs on while the process is stopped.
     *
     * @param throughNs every packet from before this time was handed over, or counted as dropped; since the epoch, by the clock
     *                  of the packets' timestamps.
     */
    default void onCaptured(final long throughNs) {
    }

    /**
     * Reports how far packet time has come in file replay, for a stage that receives only a share of the packets. The packet
     * that advances time may belong to another stage. Packets captured before it were handed over earlier, the rest follow.
     *
     * @param packetTimeNs the time by all packets, UNIX epoch; reported before the first packet, and the only time to use.
     */
    default void onPacketTime(final long packetTimeNs) {
    }

    /** Whether packets are to wait where they are; asked before capture takes any. */
    default boolean isHeld() {
        return false;
    }

    /** A duty cycle of capture has ended: packets held back for a batch must be passed on. */
    default void onCycleEnd() {
    }

    /** Wakes the thread of the next stage if it sleeps: at the end, before a pause for any packet, else for many. */
    default void wake(final boolean isEnd, final boolean isPausing) {
    }
}
