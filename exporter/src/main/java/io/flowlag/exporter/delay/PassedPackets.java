package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The packets that passed the sender point in one more shard: counted here for the first shard's {@link ReferenceSender}, which
 * alone sends references. The shard's metering thread writes, the first's reads. Allocates at construction, off the heap.
 * <pre>
 *   0  linkNs       8   timestamp of the newest packet
 *   8  otherOctets  8   of packets on the link that are not of the segment
 *  16  packets      8   of a class; octets follow, then the next class
 * </pre>
 */
final class PassedPackets extends ReferenceSchedule {
    private static final int OTHER_OFFSET = Long.BYTES;
    private static final int CLASSES_OFFSET = 2 * Long.BYTES;
    private static final int CLASS_BYTES = 2 * Long.BYTES;

    private final CurrentSegment segment;
    private final OffHeapBuffer counts;
    /** What the first shard has read. */
    private final long[] readPackets;
    private final long[] readOctets;
    private long readOther;

    /** Takes what is new of a class. */
    @FunctionalInterface
    interface PassedHandler {
        /** So many packets, at least one, and their octets. */
        void onPassed(int classIndex, long packets, long octets);
    }

    /** Nothing passed yet. */
    PassedPackets(final ExporterConfig.Policy policy, final CurrentSegment segment, final int classCount) {
        super(policy);
        this.segment = segment;
        counts = OffHeapBuffer.allocateZeroed(
            BitUtil.align(CLASSES_OFFSET + classCount * CLASS_BYTES, CACHE_LINE_LENGTH) + CACHE_LINE_LENGTH);
        counts.putLongOrdered(0, Long.MIN_VALUE);
        readPackets = new long[classCount];
        readOctets = new long[classCount];
    }

    @Override
    void onLinkTime(final long timestampNs) {
        counts.putLongOrdered(0, timestampNs);
    }

    @Override
    void onOtherPacket(final int lengthBytes) {
        add(OTHER_OFFSET, lengthBytes);
    }

    @Override
    void onSent(final DirectBuffer descriptor, final int offset, final long nowNs) {
        final int at = CLASSES_OFFSET + segment.classes().of(descriptor, offset) * CLASS_BYTES;
        add(at + Long.BYTES, PacketDescriptor.wireLengthBytes(descriptor, offset));
        add(at, 1);
    }

    private void add(final int offset, final long count) {
        counts.putLongOrdered(offset, counts.getLong(offset) + count);
    }

    /** {@return when the newest packet was on the link; {@link Long#MIN_VALUE} before the first} */
    long linkNs() {
        return counts.getLongVolatile(0);
    }

    /** {@return octets outside the segment since the last call} */
    long takeOther() {
        final long other = counts.getLongVolatile(OTHER_OFFSET);
        final long newer = other - readOther;
        readOther = other;
        return newer;
    }

    /** Hands on what has passed since the last call; octets of a packet that passes meanwhile may come before it. */
    void take(final PassedHandler handler) {
        for (int i = 0; i < readPackets.length; i++) {
            final int at = CLASSES_OFFSET + i * CLASS_BYTES;
            final long packets = counts.getLongVolatile(at) - readPackets[i];
            if (packets > 0) {
                final long octets = counts.getLongVolatile(at + Long.BYTES) - readOctets[i];
                readPackets[i] += packets;
                readOctets[i] += octets;
                handler.onPassed(i, packets, octets);
            }
        }
    }
}
