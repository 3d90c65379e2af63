package io.flowlag.exporter.capture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A source of packets as they arrive at an interface. As every {@link PacketSource} it is owned by one thread, which calls all
 * of its methods; any thread may call {@link #damage()}.
 * <p>
 * It ends when the interface vanishes ({@link #damage()} reports it) or after {@link #stop()}; in both cases every packet that
 * had arrived is handed over first. An interface that is only down continues to be polled.
 */
public abstract class LivePacketSource implements PacketSource {
    /** How often drops and the MTU are read and the interface is checked. */
    protected static final int HOUSEKEEPING_INTERVAL_MS = 50;
    /** In place of an MTU. */
    protected static final int NO_INTERFACE = -1;

    private static final long HOUSEKEEPING_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(HOUSEKEEPING_INTERVAL_MS);

    /** The packet handed over. */
    protected final CapturedPacket packet;
    protected long capturedCount;
    protected long capturedBytes;
    protected long kernelDropCount;
    protected int mtuBytes;
    /** Read by other threads. */
    protected volatile String damage;
    /** Set by {@link #end}. */
    protected boolean isEnding;

    private final String name;
    private final List<String> notices;
    private long nextHousekeepingNs = System.nanoTime();
    private long endNs;

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

    /** {@return whether the next {@link #keepHouse} reads what changes slowly} */
    protected final boolean isHouseDue(final long nowNs) {
        return nowNs - nextHousekeepingNs >= 0;
    }

    /**
     * The end of each {@link #poll} of an open source: every {@value #HOUSEKEEPING_INTERVAL_MS} ms reads the drops and what else
     * changes slowly. When the interface has vanished, the source begins to end; when it has ended, it is closed.
     *
     * @param takenCount  packets that were taken.
     * @param packetLimit of the poll.
     * @return what it returns.
     */
    protected final int keepHouse(final int takenCount, final int packetLimit) {
        final long nowNs = System.nanoTime();
        if (isHouseDue(nowNs)) {
            nextHousekeepingNs = nowNs + HOUSEKEEPING_INTERVAL_NS;
            updateKernelDropCount();
            final int linkBytes = follow();
            if (linkBytes != NO_INTERFACE) {
                mtuBytes = linkBytes;
            } else if (!isEnding) {
                damage = "interface " + name + " vanished";
                end(nowNs);
            }
        }
        if (takenCount > 0 || !isEnding || packetLimit == 0 || !hasEnded(nowNs - endNs)) {
            return takenCount;
        }
        close();
        return END_OF_SOURCE;
    }

    /** Reads what changes slowly. Returns the MTU, as {@link #mtuBytes()} does, or {@link #NO_INTERFACE}. */
    protected int follow() {
        return mtuBytes;
    }

    /** Begins to end: no packet comes from now on but those that the kernel has. Called once. */
    protected void end(final long nowNs) {
        isEnding = true;
        endNs = nowNs;
    }

    /** Whether no packet is left, when a poll took none, so many nanoseconds after {@link #end}. */
    protected boolean hasEnded(final long sinceNs) {
        return true;
    }

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
