package io.flowlag.exporter.reference;

import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * The ring in which a network card puts packets that arrive, read from its driver. Immutable; allocates.
 *
 * @param packets     its length; 0 if the driver does not tell.
 * @param mostPackets the greatest length; 0 if the driver does not tell.
 */
public record CardRing(int packets, int mostPackets) {
    // struct ethtool_ringparam: command 4, greatest lengths 4 each (receive, mini, jumbo, transmit), then the present ones
    private static final int GET_RINGS = 0x10;
    private static final int MOST_OFFSET = 4;
    private static final int PRESENT_OFFSET = 20;
    private static final int LENGTH_BYTES = 36;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    /** Asks the driver. Never throws. */
    public static CardRing of(final String interfaceName) {
        final UnsafeBuffer rings = UdpSocket.direct(LENGTH_BYTES);
        rings.putInt(0, GET_RINGS, ORDER);
        return OffloadState.ask(interfaceName, rings).isEmpty() ?
            new CardRing(rings.getInt(PRESENT_OFFSET, ORDER), rings.getInt(MOST_OFFSET, ORDER)) : new CardRing(0, 0);
    }
}
