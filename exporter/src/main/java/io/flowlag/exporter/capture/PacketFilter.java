package io.flowlag.exporter.capture;

import org.agrona.DirectBuffer;

/**
 * Decides for each packet of one link type whether it is kept. Used by sources whose packets the kernel does not filter. Called
 * by the thread that owns the source; an implementation must not throw, must not allocate, and must not read beyond the
 * captured octets.
 */
@FunctionalInterface
public interface PacketFilter {
    /**
     * Whether a packet is kept.
     *
     * @param buffer              holds the captured octets, starting with the link-layer header.
     * @param offset              of the first octet.
     * @param capturedLengthBytes how many octets were captured.
     * @param wireLengthBytes     how many the packet had on the wire.
     * @return whether the packet is to be handed over.
     */
    boolean matches(DirectBuffer buffer, int offset, int capturedLengthBytes, int wireLengthBytes);
}
