package io.flowlag.exporter.pipeline;

import org.agrona.DirectBuffer;

/** Takes decoded packets in batches. Called by one thread; must not throw. */
@FunctionalInterface
public interface DescriptorHandler {
    /**
     * Decoded packets, in the order of capture.
     *
     * @param buffer holds the descriptors, one after the other, each of
     *               {@link io.flowlag.exporter.decode.PacketDescriptor#LENGTH_BYTES}; valid during the call.
     * @param offset of the first.
     * @param count  how many there are.
     */
    void onDescriptors(DirectBuffer buffer, int offset, int count);
}
