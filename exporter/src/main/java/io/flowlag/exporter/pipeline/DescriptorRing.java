package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.MessageHandler;

/**
 * The ring from capture to metering. A message is a batch of descriptors; what does not fit is counted as dropped. Threads as
 * in {@link StageRing}.
 */
public final class DescriptorRing implements DescriptorHandler {
    private final StageRing ring;
    private final Counters counters;
    private final int batchLimit;

    /**
     * A ring of descriptors.
     *
     * @param ring     carries the batches.
     * @param counters the offering thread is the writer of the ring's drop counter.
     */
    public DescriptorRing(final StageRing ring, final Counters counters) {
        this.ring = ring;
        this.counters = counters;
        batchLimit = ring.maxMessageLengthBytes() / PacketDescriptor.LENGTH_BYTES;
    }

    @Override
    public void onDescriptors(final DirectBuffer buffer, final int offset, final int count) {
        int done = 0;
        while (done < count) {
            final int batch = Math.min(count - done, batchLimit);
            final int batchOffset = offset + done * PacketDescriptor.LENGTH_BYTES;
            if (!ring.offer(buffer, batchOffset, batch * PacketDescriptor.LENGTH_BYTES)) {
                counters.add(CounterId.DROPPED_AT_PACKET_RING, batch);
            }
            done += batch;
        }
    }

    /**
     * A reader of batches for the other end of the ring; allocates, so make it once.
     *
     * @param handler takes the descriptors.
     * @return what to give to {@link StageRing#read}.
     */
    public static MessageHandler reader(final DescriptorHandler handler) {
        return (final int typeId, final MutableDirectBuffer buffer, final int index, final int length) ->
            handler.onDescriptors(buffer, index, length / PacketDescriptor.LENGTH_BYTES);
    }
}
