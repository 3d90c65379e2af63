package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The ring from capture to metering. A message is a batch of descriptors, or eight octets of time up to which all packets have
 * come; descriptors that do not fit are counted as dropped. Threads as in {@link StageRing}.
 */
public final class DescriptorRing implements DescriptorHandler {
    private final StageRing ring;
    private final Counters counters;
    private final int batchLimit;
    private final UnsafeBuffer captured = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Long.BYTES, Long.BYTES));

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

    /** In a full ring there is no room for the time either: it comes with the next one. */
    @Override
    public void onCaptured(final long throughNs) {
        captured.putLong(0, throughNs);
        ring.offer(captured, 0, Long.BYTES);
    }

    /**
     * A reader of batches for the other end of the ring; allocates, so make it once.
     *
     * @param handler takes the descriptors.
     * @return what to give to {@link StageRing#read}.
     */
    public static MessageHandler reader(final DescriptorHandler handler) {
        return (final int typeId, final MutableDirectBuffer buffer, final int index, final int length) -> {
            if (length == Long.BYTES) {
                handler.onCaptured(buffer.getLong(index));
            } else {
                handler.onDescriptors(buffer, index, length / PacketDescriptor.LENGTH_BYTES);
            }
        };
    }
}
