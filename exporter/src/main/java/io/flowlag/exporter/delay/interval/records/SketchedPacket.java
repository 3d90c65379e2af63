package io.flowlag.exporter.delay.interval.records;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

/** A packet of the segment on its way into an interval. Each stage reuses one. One thread. */
public final class SketchedPacket {
    private long timestampNs;
    private long flowHash;
    private long digest;
    private int lengthBytes;
    private int classIndex;
    private int weight;
    private int record = SketchRecords.NONE;
    private DirectBuffer descriptor;
    private int offset;

    /** Sets a packet with its addresses, the index of its traffic class and the weight of its flow, at least 1. */
    public SketchedPacket wrap(final DirectBuffer descriptor, final int offset, final int classIndex, final int weight) {
        wrap(descriptor, offset, PacketDescriptor.segmentFlowHash(descriptor, offset), classIndex, weight);
        this.descriptor = descriptor;
        this.offset = offset;
        return this;
    }

    /** Sets a packet without its addresses, with the hash of its segment flow. */
    public SketchedPacket wrap(
        final DirectBuffer descriptor, final int offset, final long flowHash, final int classIndex, final int weight) {
        return set(
            PacketDescriptor.timestampNs(descriptor, offset), flowHash, PacketDescriptor.digest(descriptor, offset),
            PacketDescriptor.ipLengthBytes(descriptor, offset), classIndex, weight);
    }

    /** Sets a packet without its addresses and its record. */
    public SketchedPacket set(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight) {
        this.timestampNs = timestampNs;
        this.flowHash = flowHash;
        this.digest = digest;
        this.lengthBytes = lengthBytes;
        this.classIndex = classIndex;
        this.weight = weight;
        record = SketchRecords.NONE;
        descriptor = null;
        return this;
    }

    /** {@return since the epoch} */
    public long timestampNs() {
        return timestampNs;
    }

    public long flowHash() {
        return flowHash;
    }

    public long digest() {
        return digest;
    }

    public int lengthBytes() {
        return lengthBytes;
    }

    public int classIndex() {
        return classIndex;
    }

    public int weight() {
        return weight;
    }

    /** {@return the record that counts the packet; {@link SketchRecords#NONE} if none does} */
    public int record() {
        return record;
    }

    public SketchedPacket record(final int value) {
        record = value;
        return this;
    }

    /** {@return the descriptor with the flow's addresses; null if they are not needed} */
    public DirectBuffer descriptor() {
        return descriptor;
    }

    /** {@return of the packet in its descriptor's buffer} */
    public int offset() {
        return offset;
    }
}
