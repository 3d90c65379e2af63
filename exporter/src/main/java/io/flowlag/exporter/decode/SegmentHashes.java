package io.flowlag.exporter.decode;

import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Segment flow hashes by the keys of several segments, for packets whose descriptors lack them. One thread. Allocates at
 * construction and when a key changes.
 */
public final class SegmentHashes {
    private final TimedDigest[] digests;

    /** Hashes by the keys of segments, in the order of their indexes. */
    public SegmentHashes(final List<DigestSwitch> keys) {
        digests = keys.stream().map((each) -> new TimedDigest(each, 0, 0)).toArray(TimedDigest[]::new);
    }

    /** Whether a segment has a key for a packet's time. */
    public boolean hasKey(final int segment, final DirectBuffer descriptor, final int offset) {
        return digests[segment].at(PacketDescriptor.timestampNs(descriptor, offset)) != null;
    }

    /** The flow hash of a packet by the key of a segment that has one. Returns 64 bits. */
    public long of(final int segment, final DirectBuffer descriptor, final int offset) {
        return digests[segment].at(PacketDescriptor.timestampNs(descriptor, offset)).segmentFlowHash(descriptor, offset);
    }
}
