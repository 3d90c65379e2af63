package io.flowlag.exporter.capture;

/**
 * Takes the packets of a {@link PacketSource}, one call a packet. The packet and its octets belong to the source and are valid
 * only during the call. An implementation must not throw and must not allocate. Called by the thread that owns the source.
 */
@FunctionalInterface
public interface PacketHandler {
    void onPacket(CapturedPacket packet);
}
