package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;

/** Shows what has arrived by the clock, which may be set back by hours, and ends when nothing more comes. */
final class ClockedSource implements PacketSource {
    private static final long SET_BACK_NS = 1_800_000_000_000L;

    private final List<? extends Arrival> frames;
    private final long endNs;
    private final CaptureClock clock;
    private int position;

    /**
     * A source.
     *
     * @param frames in the order in which they arrive.
     * @param endNs  when it ends, if it has shown all.
     */
    ClockedSource(final List<? extends Arrival> frames, final long endNs, final CaptureClock clock) {
        this.frames = frames;
        this.endNs = endNs;
        this.clock = clock;
    }

    /** A frame that arrives. */
    interface Arrival {
        long arrivalNs();

        byte[] octets();
    }

    /** Whether a time has come; not that of a time before the clock is set back. */
    static boolean isDue(final long timeNs, final long nowNs) {
        return timeNs <= nowNs && timeNs > nowNs - SET_BACK_NS;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        final long nowNs = clock.nanoTime();
        int count = 0;
        while (count < packetLimit && position < frames.size() && isDue(frames.get(position).arrivalNs(), nowNs)) {
            final Arrival frame = frames.get(position++);
            handler.onPacket(new CapturedPacket(new UnsafeBuffer(frame.octets()), 1, 1)
                .set(0, frame.octets().length, frame.octets().length, frame.arrivalNs()));
            count++;
        }
        return count == 0 && position == frames.size() && nowNs >= endNs ? END_OF_SOURCE : count;
    }

    @Override
    public String name() {
        return "clocked";
    }

    @Override
    public long capturedCount() {
        return position;
    }
}
