package io.flowlag.exporter.capture;

/**
 * Decides for each packet of one link type whether it is kept. Used by sources whose packets the kernel does not filter. Called
 * by the thread that owns the source; an implementation must not throw, must not allocate, and must not read beyond the
 * captured octets.
 */
@FunctionalInterface
public interface PacketFilter {
    /** {@return whether the packet is to be handed over} */
    boolean matches(CapturedPacket packet);
}
