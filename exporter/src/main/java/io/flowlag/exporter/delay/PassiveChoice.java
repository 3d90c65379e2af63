package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import org.agrona.DirectBuffer;

/**
 * Chooses the packets whose send times a sender point ships under the policy passive: those that both points choose, or fewer to
 * keep to a ceiling. The receiver does not know which are left out; there they wait until they expire. One thread; allocates at
 * construction.
 * <p>
 * The share of a window is the one that would have kept the last window within the ceiling, and the average of earlier ones. The
 * following windows compensate for an excess or a shortfall. No window ships more than twice what the ceiling allows it.
 */
public final class PassiveChoice {
    static final long WINDOW_NS = 50_000_000;

    private static final double WINDOWS_PER_S = 1e9 / WINDOW_NS;
    /** Size of a send time on the wire, including its share of a message's header and trailer. */
    static final double BITS = 8 * 8.2;
    /** Windows over which the packet rate is smoothed and an excess is compensated. */
    private static final double SMOOTHING_WINDOWS = 8;
    private static final double MOST_SPARE_WINDOWS = 2;
    private static final double LEAST_SHARE = 0.1;

    private final SharedSampling sampling;
    private final SampledFlows flows;
    private final double allowed;
    private long windowEndNs = Long.MIN_VALUE;
    private long below;
    private int candidates;
    private int shipped;
    private double expected;
    private double spare;

    /**
     * Ships all that both points choose, up to the ceiling.
     *
     * @param sampling   that both points share.
     * @param ceilingBps most bits per second; 0 for any.
     * @param flows      whose packets' send times are shipped besides.
     */
    public PassiveChoice(final SharedSampling sampling, final long ceilingBps, final SampledFlows flows) {
        this.sampling = sampling;
        this.flows = flows;
        allowed = ceilingBps == 0 ? Double.POSITIVE_INFINITY : ceilingBps / BITS / WINDOWS_PER_S;
        below = sampling.passiveBelow();
    }

    /** Decides whether the send time of a packet is shipped, as of a reference or as of a sampled flow. */
    boolean isShipped(final DirectBuffer descriptor, final int offset) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        return isShipped(PacketDescriptor.digest(descriptor, offset), timestampNs) ||
            flows.isShipped(descriptor, offset, timestampNs);
    }

    /**
     * Decides whether the send time of a packet is shipped. Returns true for as many of the packets that both points choose as
     * the ceiling allows.
     */
    boolean isShipped(final long digest, final long timestampNs) {
        final long rank = sampling.passiveRank(digest);
        if (rank >= sampling.passiveBelow()) {
            return false;
        }
        if (timestampNs >= windowEndNs || timestampNs < windowEndNs - 2 * WINDOW_NS) {
            endWindow(timestampNs);
        }
        candidates++;
        if (rank >= below || shipped >= 2 * allowed) {
            return false;
        }
        shipped++;
        return true;
    }

    private void endWindow(final long timestampNs) {
        final double windows = timestampNs < windowEndNs || windowEndNs == Long.MIN_VALUE ? 1 :
            1 + (timestampNs - windowEndNs) / WINDOW_NS;
        expected += (candidates - expected) / SMOOTHING_WINDOWS;
        spare = Math.min(MOST_SPARE_WINDOWS * allowed, spare + windows * allowed - shipped);
        final double wanted = Math.max(LEAST_SHARE * allowed, allowed + spare / SMOOTHING_WINDOWS);
        below = (long)(sampling.passiveBelow() * Math.min(1, wanted / Math.max(1, Math.max(candidates, expected))));
        candidates = 0;
        shipped = 0;
        windowEndNs = timestampNs + WINDOW_NS;
    }
}
