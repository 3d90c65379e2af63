package io.flowlag.exporter.delay;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Chooses flows whose every packet is sampled at both points, by a keyed hash of addresses, protocol and ports, so that small
 * flows have quantiles too. The receiver samples one flow in {@link #ONE_IN}. A sender ships the send times of as many of them as
 * a ceiling allows: it halves their number when a second exceeds the ceiling, and doubles it after some seconds of little use,
 * twice as many each time that this was too early. No second takes more than twice the ceiling. The receiver sees which send
 * times are missing. One thread; allocates at construction.
 */
public final class SampledFlows {
    static final int ONE_IN = 16;
    static final long WINDOW_NS = 1_000_000_000;

    private static final long BELOW = (1L << Integer.SIZE) / ONE_IN;
    private static final int LITTLE_USE = 4;
    private static final int LEAST_PATIENCE = 8;
    private static final int MOST_PATIENCE = 4096;

    private final long seed;
    private final int allowed;
    private int halvings;
    private int patience = LEAST_PATIENCE;
    private int quietWindows;
    private boolean isDoubled;
    private int shipped;
    private long windowEndNs = Long.MIN_VALUE;

    /**
     * All flows that both points choose.
     *
     * @param hash       whose key both points share.
     * @param ceilingBps most bits per second of send times; 0 for no flow, at a sender.
     */
    public SampledFlows(final SipHash hash, final long ceilingBps) {
        seed = hash.hash(new UnsafeBuffer(new byte[Long.BYTES]), 0, Long.BYTES);
        allowed = (int)Math.min(Integer.MAX_VALUE / 2, ceilingBps / PassiveChoice.BITS * WINDOW_NS / 1e9);
        halvings = allowed == 0 ? Integer.SIZE : 0;
    }

    /** {@return whether the receiver samples the packet, with all others of its flow} */
    public boolean isSampled(final DirectBuffer descriptor, final int offset) {
        return rank(descriptor, offset) < BELOW;
    }

    /** {@return whether a sender ships the packet's send time} */
    boolean isShipped(final DirectBuffer descriptor, final int offset, final long timestampNs) {
        if (rank(descriptor, offset) >= BELOW >> halvings) {
            return false;
        }
        if (timestampNs >= windowEndNs || timestampNs < windowEndNs - 2 * WINDOW_NS) {
            endWindow(timestampNs);
        }
        shipped++;
        if (shipped == allowed) {
            halvings++;
            patience = isDoubled ? Math.min(MOST_PATIENCE, 2 * patience) : patience;
            isDoubled = false;
            quietWindows = 0;
        }
        return shipped <= 2 * allowed;
    }

    private void endWindow(final long timestampNs) {
        final long windows = timestampNs < windowEndNs || windowEndNs == Long.MIN_VALUE ? 1 :
            1 + (timestampNs - windowEndNs) / WINDOW_NS;
        quietWindows = shipped >= allowed / LITTLE_USE ? 0 : (int)Math.min(MOST_PATIENCE, quietWindows + windows);
        if (halvings > 0 && quietWindows >= patience) {
            halvings--;
            isDoubled = true;
            quietWindows = 0;
        }
        shipped = 0;
        windowEndNs = timestampNs + WINDOW_NS;
    }

    /** Returns 0 to 2^32 - 1, alike for all packets of a flow. */
    private long rank(final DirectBuffer descriptor, final int offset) {
        final long ports = (long)PacketDescriptor.sourcePort(descriptor, offset) << Short.SIZE |
            PacketDescriptor.destinationPort(descriptor, offset);
        long hash = KeyedMix.mix(ports << Byte.SIZE | PacketDescriptor.protocol(descriptor, offset), seed);
        hash = KeyedMix.mix(PacketDescriptor.sourceLow(descriptor, offset), hash);
        hash = KeyedMix.mix(PacketDescriptor.destinationLow(descriptor, offset), hash);
        if (PacketDescriptor.ipVersion(descriptor, offset) == 6) {
            hash = KeyedMix.mix(PacketDescriptor.sourceHigh(descriptor, offset), hash);
            hash = KeyedMix.mix(PacketDescriptor.destinationHigh(descriptor, offset), hash);
        }
        return hash >>> Integer.SIZE;
    }
}
