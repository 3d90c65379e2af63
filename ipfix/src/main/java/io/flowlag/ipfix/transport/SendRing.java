package io.flowlag.ipfix.transport;

import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;

import java.nio.ByteBuffer;

/** A bounded ring of octets for a socket, for one thread. Allocates at construction, frees at {@link #close}. */
final class SendRing implements AutoCloseable {
    private ByteBuffer octets;
    private long producedOctets;
    private long consumedOctets;

    SendRing(final int capacityBytes) {
        octets = ByteBuffer.allocateDirect(capacityBytes);
    }

    /** Adds all octets or none. */
    boolean offer(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (octets.capacity() - (producedOctets - consumedOctets) < lengthBytes) {
            return false;
        }
        final int index = (int)(producedOctets % octets.capacity());
        final int firstBytes = Math.min(lengthBytes, octets.capacity() - index);
        octets.clear();
        buffer.getBytes(offset, octets, index, firstBytes);
        buffer.getBytes(offset + firstBytes, octets, 0, lengthBytes - firstBytes);
        producedOctets += lengthBytes;
        return true;
    }

    /** The oldest octets up to the ring's end, valid until the next call. */
    ByteBuffer head() {
        final int index = (int)(consumedOctets % octets.capacity());
        final long available = producedOctets - consumedOctets;
        return octets.clear().limit((int)Math.min(index + available, octets.capacity())).position(index);
    }

    void consume(final int lengthBytes) {
        consumedOctets += lengthBytes;
    }

    boolean isEmpty() {
        return producedOctets == consumedOctets;
    }

    long consumedOctets() {
        return consumedOctets;
    }

    void reset() {
        producedOctets = 0;
        consumedOctets = 0;
    }

    /** Frees its memory at once, which the garbage collector may not do for weeks; pending octets are lost, and nothing fits. */
    @Override
    public void close() {
        producedOctets = consumedOctets;
        BufferUtil.free(octets);
        octets = ByteBuffer.allocateDirect(1);
    }
}
