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
     * How far the capture of live sources has come. Whoever concludes from the absence of a packet goes by this and not by the
     * clock, which runs on while the process does not.
     *
     * @param throughNs every packet from before this time was handed over, or counted as dropped; since the epoch, by the clock
     *                  of the packets' timestamps.
     */
    default void onCaptured(final long throughNs) {
    }

    /**
     * How far packet time has come in file replay, for a stage that gets a part of the packets alone: the packet that tells may
     * be another stage's. What was captured before that packet was handed over before, the rest comes after.
     *
     * @param packetTimeNs the time by all packets, UNIX epoch; it is told before the first packet, and goes by this alone.
     */
    default void onPacketTime(final long packetTimeNs) {
    }

    /** A duty cycle of capture has ended: packets that were kept back, to be passed on together, are to go on. */
    default void onCycleEnd() {
    }
}
