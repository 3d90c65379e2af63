package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;

/**
 * A capture whose packets are delivered at their time, with present timestamps by a clock of its own. Before and after them, from
 * a full second on, it adds packets of a separate flow, equal at both points. During these, two processes reach agreement, and
 * the last intervals are compared. None come in between, where they would overtake the packets in the queue. One thread.
 */
final class ReplayedSource implements PacketSource {
    /** The port that no other flow has. */
    static final int OWN_PORT = 9;
    private static final long GAP_NS = 10_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long HALF_SECOND_NS = SECOND_NS / 2;
    private static final long OWN_DELAY_NS = 50_000;
    private static final int OWN_BYTES = 60;
    private static final int ETHERNET = 1;

    private final PacketSource capture;
    private final long firstNs;
    private final long beginNs;
    private final int slower;
    private final ReplayedClock clock;
    private final long leadNs;
    private final long tailNs;
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[1 << 16]);
    private final UnsafeBuffer own = new UnsafeBuffer(new byte[OWN_BYTES]);
    private final CapturedPacket replayed = new CapturedPacket(octets, ETHERNET, 0);
    private int capturedBytes;
    private int wireBytes;
    private long dueNs;
    private boolean isHeld;
    private boolean isOver;
    private long nextOwnNs;
    private long endNs = Long.MAX_VALUE;
    private int ownCount;
    private long count;

    ReplayedSource(
        final PacketSource capture, final long firstNs, final long beginNs, final int slower, final ReplayedClock clock,
        final int leadSeconds, final int tailSeconds) {
        this.capture = capture;
        this.firstNs = firstNs;
        this.beginNs = beginNs;
        this.slower = slower;
        this.clock = clock;
        leadNs = leadSeconds * SECOND_NS;
        tailNs = tailSeconds * SECOND_NS;
        nextOwnNs = beginNs;
        own.putLong(0, 0x0200_0000_0002_0200L, ByteOrder.BIG_ENDIAN);
        own.putInt(8, 1, ByteOrder.BIG_ENDIAN);
        own.putShort(12, (short)0x0800, ByteOrder.BIG_ENDIAN);
        own.putShort(14, (short)0x4500, ByteOrder.BIG_ENDIAN);
        own.putShort(16, (short)(OWN_BYTES - 14), ByteOrder.BIG_ENDIAN);
        own.putShort(22, (short)(64 << 8 | 17), ByteOrder.BIG_ENDIAN);
        own.putInt(26, 0x0AFF_FFFE, ByteOrder.BIG_ENDIAN);
        own.putInt(30, 0x0AFF_FFFF, ByteOrder.BIG_ENDIAN);
        own.putShort(34, (short)OWN_PORT, ByteOrder.BIG_ENDIAN);
        own.putShort(36, (short)OWN_PORT, ByteOrder.BIG_ENDIAN);
        own.putShort(38, (short)(OWN_BYTES - 34), ByteOrder.BIG_ENDIAN);
    }

    /** {@return the time of the replay, by the clock that is right} */
    long nowNs() {
        return beginNs + (System.currentTimeMillis() * 1_000_000L - beginNs) / slower;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        final long nowNs = nowNs();
        int taken = 0;
        while (taken < packetLimit) {
            hold();
            final boolean isOwn = !isHeld || nextOwnNs < beginNs + leadNs;
            final long nextNs = isOwn ? nextOwnNs : dueNs;
            if (nextNs > endNs) {
                return taken == 0 ? END_OF_SOURCE : taken;
            }
            if (nextNs > nowNs) {
                return taken;
            }
            taken++;
            count++;
            if (isOwn) {
                own.putInt(42, ++ownCount, ByteOrder.BIG_ENDIAN);
                handler.onPacket(replayed.wrap(own, 0, OWN_BYTES, OWN_BYTES, clock.stampNs(nextNs) + OWN_DELAY_NS));
                nextOwnNs += GAP_NS;
            } else {
                isHeld = false;
                handler.onPacket(replayed.wrap(octets, 0, capturedBytes, wireBytes, clock.stampNs(nextNs)));
            }
        }
        return taken;
    }

    private void hold() {
        if (isHeld || isOver) {
            return;
        }
        int polled = 0;
        while (!isHeld && polled != END_OF_SOURCE) {
            polled = capture.poll(this::onCaptured, 1);
        }
        if (!isHeld) {
            isOver = true;
            final long durationNs = dueNs - beginNs + HALF_SECOND_NS;
            nextOwnNs = beginNs + (durationNs / SECOND_NS + 1) * SECOND_NS;
            endNs = nextOwnNs + tailNs;
        }
    }

    private void onCaptured(final CapturedPacket packet) {
        octets.putBytes(0, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
        capturedBytes = packet.capturedLengthBytes();
        wireBytes = packet.wireLengthBytes();
        dueNs = beginNs + leadNs + packet.timestampNs() - firstNs;
        isHeld = true;
    }

    @Override
    public String name() {
        return capture.name();
    }

    @Override
    public long capturedCount() {
        return count;
    }

    @Override
    public void close() {
        capture.close();
    }
}
