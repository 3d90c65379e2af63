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
 * The ring from capture to metering. A message is a batch of descriptors, or eight octets of time, as its type says.
 * Descriptors that do not fit are counted as dropped. Threads as in {@link StageRing}.
 */
public final class DescriptorRing implements DescriptorHandler {
    private static final int TYPE_DESCRIPTORS = 1;
    private static final int TYPE_CAPTURED = 2;
    private static final int TYPE_PACKET_TIME = 3;

    private final StageRing ring;
    private final Counters counters;
    private final int batchLimit;
    private final UnsafeBuffer time = new UnsafeBuffer(BufferUtil.allocateDirectAligned(Long.BYTES, Long.BYTES));

    /** A ring of descriptors; the offering thread is the writer of its drop counter. */
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
            if (!ring.offer(TYPE_DESCRIPTORS, buffer, batchOffset, batch * PacketDescriptor.LENGTH_BYTES)) {
                counters.add(CounterId.DROPPED_AT_PACKET_RING, batch);
            }
            done += batch;
        }
    }

    /** A full ring has no room for the time either: the next message carries it. */
    @Override
    public void onCaptured(final long throughNs) {
        offerTime(TYPE_CAPTURED, throughNs);
    }

    @Override
    public void onPacketTime(final long packetTimeNs) {
        offerTime(TYPE_PACKET_TIME, packetTimeNs);
    }

    @Override
    public void wake(final boolean isEnd, final boolean isPausing) {
        ring.wakeReader(isEnd, isPausing);
    }

    private void offerTime(final int typeId, final long timeNs) {
        time.putLong(0, timeNs);
        ring.offer(typeId, time, 0, Long.BYTES);
    }

    /**
     * A reader of batches for the other end of the ring; allocates, so create it once. Returns the handler for {@link
     * StageRing#read}.
     */
    public static MessageHandler reader(final DescriptorHandler handler) {
        return (final int typeId, final MutableDirectBuffer buffer, final int index, final int length) -> {
            switch (typeId) {
                case TYPE_DESCRIPTORS -> handler.onDescriptors(buffer, index, length / PacketDescriptor.LENGTH_BYTES);
                case TYPE_CAPTURED -> handler.onCaptured(buffer.getLong(index));
                case TYPE_PACKET_TIME -> handler.onPacketTime(buffer.getLong(index));
                default -> throw new IllegalStateException("typeId=" + typeId);
            }
        };
    }
}
