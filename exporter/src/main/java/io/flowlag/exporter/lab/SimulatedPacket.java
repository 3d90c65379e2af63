package io.flowlag.exporter.lab;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;

/**
 * The packets of a simulated segment that are under way, and a view of one of them. Allocates at construction: about 250 octets
 * for each packet that fits, most of them for the payload of references.
 */
public final class SimulatedPacket {
    /** The flow of references. */
    public static final int NO_FLOW = -1;

    private static final int PAYLOAD_BYTES_AT_MOST = 192;

    private final long[] sentNs;
    private final int[] flow;
    private final int[] number;
    private final int[] sequence;
    private final int[] wantedLengthBytes;
    private final int[] lengthBytes;
    private final byte[] classIndex;
    private final int[] free;
    private final UnsafeBuffer payloads;
    private int freeCount;
    private int index;

    SimulatedPacket(final int capacity) {
        sentNs = new long[capacity];
        flow = new int[capacity];
        number = new int[capacity];
        sequence = new int[capacity];
        wantedLengthBytes = new int[capacity];
        lengthBytes = new int[capacity];
        classIndex = new byte[capacity];
        free = new int[capacity];
        payloads = new UnsafeBuffer(ByteBuffer.allocateDirect(capacity * PAYLOAD_BYTES_AT_MOST));
        for (int i = 0; i < capacity; i++) {
            free[freeCount++] = capacity - 1 - i;
        }
    }

    /** Looks at another packet. */
    SimulatedPacket wrap(final int packet) {
        index = packet;
        return this;
    }

    /** Takes a packet from the pool and looks at it. */
    int take(final int newFlow, final int newNumber, final int newClass, final long newSentNs) {
        index = free[--freeCount];
        flow[index] = newFlow;
        number[index] = newNumber;
        classIndex[index] = (byte) newClass;
        sentNs[index] = newSentNs;
        return index;
    }

    void give(final int packet) {
        free[freeCount++] = packet;
    }

    void lengths(final int newWantedBytes, final int newLengthBytes, final int newSequence) {
        wantedLengthBytes[index] = newWantedBytes;
        lengthBytes[index] = newLengthBytes;
        sequence[index] = newSequence;
    }

    UnsafeBuffer payloads() {
        return payloads;
    }

    int payloadOffset() {
        return index * PAYLOAD_BYTES_AT_MOST;
    }

    int wantedLengthBytes() {
        return wantedLengthBytes[index];
    }

    int sequence() {
        return sequence[index];
    }

    /** {@return true for a reference, false for a regular packet} */
    public boolean isReference() {
        return flow[index] == NO_FLOW;
    }

    /** {@return index of the packet's flow; {@link #NO_FLOW} for a reference} */
    public int flow() {
        return flow[index];
    }

    /** {@return number of the packet in its flow, or of the reference in its stream, from 0} */
    public int number() {
        return number[index];
    }

    /** {@return the class, 0 or 1} */
    public int classIndex() {
        return classIndex[index];
    }

    /** {@return the frame's length, octets} */
    public int lengthBytes() {
        return lengthBytes[index];
    }

    /** {@return when it passed the sender's point, UNIX time, ns} */
    public long sentNs() {
        return sentNs[index];
    }
}
