package io.flowlag.exporter.metering;

import io.flowlag.exporter.pipeline.DescriptorHandler;
import org.agrona.DirectBuffer;

/**
 * Meters the first packets of a capture on the thread of the capture stage, and hands the metering stage over to its own thread
 * then. At first the JVM's compilers are as busy as the stages: on two processors they are done sooner if one is left to them,
 * and packets that cross no ring cost less.
 * <p>
 * Assumptions: capture's thread alone calls {@link #onDescriptors}, and its source never waits; the metering thread does nothing
 * before {@link #isOver()} or the end of capture. Guarantees: the metering stage is worked by one thread at a time, which sees
 * everything that the one before it did; packets are metered in their order. Allocates at construction.
 */
public final class HandOver implements DescriptorHandler {
    private final DescriptorHandler metering;
    private final DescriptorHandler ring;
    private long packetsLeft;
    private volatile boolean isOver;

    /**
     * A metering stage that capture's thread works for now.
     *
     * @param metering    takes the first packets by direct call.
     * @param ring        leads to it afterwards.
     * @param packetCount after how many packets the stage is handed over, at the end of a batch.
     */
    public HandOver(final DescriptorHandler metering, final DescriptorHandler ring, final long packetCount) {
        this.metering = metering;
        this.ring = ring;
        packetsLeft = packetCount;
    }

    /**
     * Changes after how many packets the stage is handed over; before the first one.
     *
     * @param packetCount 0 for none.
     */
    public void after(final long packetCount) {
        packetsLeft = packetCount;
    }

    @Override
    public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
        if (packetsLeft > 0) {
            metering.onDescriptors(buffer, offset, count);
            packetsLeft -= count;
        } else {
            isOver = true;
            ring.onDescriptors(buffer, offset, count);
        }
    }

    /** {@return whether the metering stage is its own thread's; safe from any thread} */
    public boolean isOver() {
        return isOver;
    }
}
