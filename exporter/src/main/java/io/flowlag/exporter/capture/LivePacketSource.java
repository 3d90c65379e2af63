package io.flowlag.exporter.capture;

import java.util.ArrayList;
import java.util.List;

/**
 * A source of packets as they arrive at an interface. As every {@link PacketSource} it is owned by one thread, which calls all
 * of its methods; any thread may call {@link #damage()}.
 * <p>
 * It ends when the interface vanishes ({@link #damage()} reports it) or after {@link #stop()}; in both cases every packet that
 * had arrived is handed over first. An interface that is only down continues to be polled.
 */
public abstract class LivePacketSource implements PacketSource {
    /** The packet handed over. */
    protected final CapturedPacket packet;
    protected long capturedCount;
    protected long capturedBytes;
    protected long kernelDropCount;
    protected int mtuBytes;
    /** Read by other threads. */
    protected volatile String damage;

    private final String name;
    private final List<String> notices;

    /** A source of the link type and the interface of its packet. */
    protected LivePacketSource(final String name, final CapturedPacket packet, final List<String> notices) {
        this.name = name;
        this.packet = packet;
        this.notices = new ArrayList<>(notices);
    }

    /** {@return the kernel's index of the interface, passed with each packet} */
    public final int interfaceId() {
        return packet.interfaceId();
    }

    /** {@return the {@link LinkType} number of every packet of this source} */
    public final int linkType() {
        return packet.linkType();
    }

    /** {@return the longest IP packet that the link carries, octets, as last read; 0 if unknown} */
    public final int mtuBytes() {
        return mtuBytes;
    }

    /** {@return messages for the user about how the source was opened, one line each; empty if everything is as requested} */
    public final List<String> notices() {
        return List.copyOf(notices);
    }

    /** Adds a message when the source is opened. */
    protected final void notice(final String message) {
        notices.add(message);
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public long capturedCount() {
        return capturedCount;
    }

    @Override
    public final long kernelDropCount() {
        return kernelDropCount;
    }

    @Override
    public final long consumedBytes() {
        return capturedBytes;
    }

    @Override
    public final String damage() {
        return damage;
    }

    /**
     * {@return the file descriptor that poll(2) finds readable when packets are there; -1 if there is none. {@link #awaitArrival}
     * clears an error that poll(2) finds}
     */
    public int descriptor() {
        return -1;
    }

    /**
     * Waits until a packet may be there, but at most for the timeout: for an idle strategy. {@link #poll} itself never waits.
     * Without a {@link #descriptor} it waits for a time of the source's own, or for the timeout if that is shorter.
     *
     * @param timeoutMs upper bound of the wait, 0 or more.
     * @return whether polling is worthwhile.
     */
    public abstract boolean awaitArrival(int timeoutMs);

    /**
     * Stops receiving. Packets that had arrived must still be polled; then {@link #poll} returns {@link #END_OF_SOURCE},
     * without {@link #damage()}.
     */
    public abstract void stop();

    /**
     * Releases memory and handles. Afterwards the counts stay readable, with up-to-date kernel drops; {@link #poll} returns
     * {@link #END_OF_SOURCE}.
     */
    @Override
    public abstract void close();
}
