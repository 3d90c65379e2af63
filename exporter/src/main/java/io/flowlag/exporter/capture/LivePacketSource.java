package io.flowlag.exporter.capture;

import java.util.List;

/**
 * A source of packets as they arrive at an interface. As every {@link PacketSource} it is owned by one thread, which calls all
 * of its methods; any thread may call {@link #damage()}.
 * <p>
 * It ends when the interface vanishes ({@link #damage()} reports it) or after {@link #stop()}; in both cases every packet that
 * had arrived is handed over first. An interface that is only down continues to be polled.
 */
public interface LivePacketSource extends PacketSource {
    /** {@return the kernel's index of the interface, passed with each packet} */
    int interfaceId();

    /** {@return the {@link LinkType} number of every packet of this source} */
    int linkType();

    /** {@return the longest IP packet that the link carries, octets, as last read; 0 if unknown} */
    int mtuBytes();

    /** {@return messages for the user about how the source was opened, one line each; empty if everything is as requested} */
    List<String> notices();

    /**
     * Waits until a packet may be there, but at most for the timeout: for an idle strategy. {@link #poll} itself never waits.
     *
     * @param timeoutMs upper bound of the wait, 0 or more.
     * @return whether polling is worthwhile.
     */
    boolean awaitArrival(int timeoutMs);

    /**
     * Stops receiving. Packets that had arrived must still be polled; then {@link #poll} returns {@link #END_OF_SOURCE},
     * without {@link #damage()}.
     */
    void stop();

    /**
     * Releases memory and handles. Afterwards the counts stay readable, with up-to-date kernel drops; {@link #poll} returns
     * {@link #END_OF_SOURCE}.
     */
    @Override
    void close();
}
