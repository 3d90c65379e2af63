package io.flowlag.exporter.capture;

import java.util.List;

/**
 * A source of packets that have just arrived at an interface. As every {@link PacketSource} it is owned by one thread, which
 * calls all of its methods; {@link #damage()} may be asked by any.
 * <p>
 * It ends when the interface vanishes ({@link #damage()} says so) or after {@link #stop()}; in both cases every packet that had
 * arrived is handed over first. An interface that is merely down goes on being polled.
 */
public interface LivePacketSource extends PacketSource {
    /** {@return the kernel's index of the interface, as handed over with each packet} */
    int interfaceId();

    /** {@return the {@link LinkType} number of every packet of this source} */
    int linkType();

    /** {@return the longest IP packet that the link carries, octets, as it was a moment ago; 0 if unknown} */
    int mtuBytes();

    /** {@return what the user should know about how the source was opened, one line each; empty if all is as asked} */
    List<String> notices();

    /**
     * Waits until a packet may be there, but no longer than told: for an idle strategy. {@link #poll} itself never waits.
     *
     * @param timeoutMs upper bound of the wait, 0 or more.
     * @return whether polling is worthwhile.
     */
    boolean awaitArrival(int timeoutMs);

    /**
     * Takes no further packet in. Those that had arrived are still to be polled; then {@link #poll} returns
     * {@link #END_OF_SOURCE}, with no {@link #damage()}.
     */
    void stop();

    /**
     * Gives memory and handles back. Afterwards the counts stay readable, the kernel's drops brought up to date;
     * {@link #poll} returns {@link #END_OF_SOURCE}.
     */
    @Override
    void close();
}
