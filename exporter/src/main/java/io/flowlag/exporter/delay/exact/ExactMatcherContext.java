package io.flowlag.exporter.delay.exact;

import java.util.concurrent.TimeUnit;

/**
 * The parameters of an {@link ExactMatcher}; the defaults are the product's. Fluent until the matcher is created, which checks
 * and copies it. Used by the thread that fills it.
 */
public final class ExactMatcherContext {
    /** The most packets that can be remembered. */
    public static final int MAX_PACKETS = 1 << 24;
    /** Octets that a packet takes at most. */
    public static final int MOST_PACKET_BYTES =
        WaitingPackets.RECORD_LENGTH_BYTES + DigestTable.ENTRY_LENGTH_BYTES + 4 * Long.BYTES;
    /** The longest maximum delay, ns. */
    public static final long MAX_DELAY_NS = TimeUnit.HOURS.toNanos(1);

    private int maxPackets = 1_000_000;
    private int startPackets = MAX_PACKETS;
    private long maximumDelayNs = TimeUnit.MILLISECONDS.toNanos(200);
    private long maximumLeadNs = -1;
    private long graceNs;
    private int joinedAboveBytes = Integer.MAX_VALUE;
    private long growingUpToNs;

    /** Defaults. */
    public ExactMatcherContext() {
    }

    /** {@return how many packets are remembered at most} */
    public int maxPackets() {
        return maxPackets;
    }

    /**
     * Sets how many packets are remembered at most: about those of one maximum delay, of both points where they do not match.
     *
     * @param maxPackets 1 to {@link #MAX_PACKETS}.
     */
    public ExactMatcherContext maxPackets(final int maxPackets) {
        this.maxPackets = maxPackets;
        return this;
    }

    /** {@return the number of packets for which there is room at first} */
    public int startPackets() {
        return Math.min(startPackets, maxPackets);
    }

    /**
     * Sets the room for packets at first; it doubles when full. The default is room for all.
     *
     * @param startPackets 1 or more.
     */
    public ExactMatcherContext startPackets(final int startPackets) {
        this.startPackets = startPackets;
        return this;
    }

    /** {@return after what time without an arrival a sent packet is lost, ns} */
    public long maximumDelayNs() {
        return maximumDelayNs;
    }

    /**
     * Sets after what time without an arrival a sent packet is lost.
     *
     * @param maximumDelayNs 1 to {@link #MAX_DELAY_NS}.
     */
    public ExactMatcherContext maximumDelayNs(final long maximumDelayNs) {
        this.maximumDelayNs = maximumDelayNs;
        return this;
    }

    /** {@return how far the maximum delay may grow when packets come later than that, ns} */
    public long growingUpToNs() {
        return Math.max(growingUpToNs, maximumDelayNs);
    }

    /**
     * Sets how far the maximum delay may grow when packets come later than that and there is memory. By default it does not
     * grow.
     *
     * @param growingUpToNs at most {@link #MAX_DELAY_NS}.
     */
    public ExactMatcherContext growingUpToNs(final long growingUpToNs) {
        this.growingUpToNs = growingUpToNs;
        return this;
    }

    /** {@return how much earlier than it was sent a packet may seem to arrive, ns} */
    public long maximumLeadNs() {
        return maximumLeadNs < 0 ? maximumDelayNs : maximumLeadNs;
    }

    /**
     * Sets how much earlier than it was sent a packet may seem to arrive, because two clocks differ. The default is the maximum
     * delay. With a single clock use 0: then a further copy is never taken for the arrival of a twin sent after it.
     *
     * @param maximumLeadNs 0 to the maximum delay.
     */
    public ExactMatcherContext maximumLeadNs(final long maximumLeadNs) {
        this.maximumLeadNs = maximumLeadNs;
        return this;
    }

    /** {@return how much later than time passes a packet may be handed over, ns} */
    public long graceNs() {
        return graceNs;
    }

    /**
     * Sets how much later than time passes a packet may be handed over. It is 0 where packets come in time order, as from
     * files. It is the longest time in the rings where {@link ExactMatcher#onTime} receives the time of a clock.
     *
     * @param graceNs 0 to {@link #MAX_DELAY_NS}.
     */
    public ExactMatcherContext graceNs(final long graceNs) {
        this.graceNs = graceNs;
        return this;
    }

    /** {@return the length above which an IP packet was joined by an offload} */
    public int joinedAboveBytes() {
        return joinedAboveBytes;
    }

    /**
     * Sets the length above which an IP packet counts as joined by an offload. Unmatched packets of flows with such packets are
     * undecided instead of lost or unexpected.
     *
     * @param lengthBytes octets; {@link Integer#MAX_VALUE} for none.
     */
    public ExactMatcherContext joinedAboveBytes(final int lengthBytes) {
        joinedAboveBytes = lengthBytes;
        return this;
    }

    /**
     * {@return octets off the heap of a matcher of this context, without the flows; for an index that grew, old and new
     * together}
     */
    public long memoryBytes() {
        return (long)maxPackets * (WaitingPackets.RECORD_LENGTH_BYTES + DigestTable.ENTRY_LENGTH_BYTES) +
            SlotIndex.memoryBytes(maxPackets) + (startPackets() < maxPackets ? SlotIndex.memoryBytes(maxPackets / 2) : 0) +
            2 * DistantDigests.memoryBytes();
    }

    void check() {
        if (maxPackets < 1 || maxPackets > MAX_PACKETS) {
            throw new IllegalArgumentException("maxPackets=" + maxPackets + " is not within 1.." + MAX_PACKETS);
        }
        if (maximumDelayNs < 1 || maximumDelayNs > MAX_DELAY_NS) {
            throw new IllegalArgumentException("maximumDelayNs=" + maximumDelayNs + " is not within 1.." + MAX_DELAY_NS);
        }
        if (maximumLeadNs() > maximumDelayNs) {
            throw new IllegalArgumentException("maximumLeadNs=" + maximumLeadNs + " exceeds maximumDelayNs=" + maximumDelayNs);
        }
        if (growingUpToNs() > MAX_DELAY_NS) {
            throw new IllegalArgumentException("growingUpToNs=" + growingUpToNs + " is above " + MAX_DELAY_NS);
        }
        if (graceNs < 0 || graceNs > MAX_DELAY_NS) {
            throw new IllegalArgumentException("graceNs=" + graceNs + " is not within 0.." + MAX_DELAY_NS);
        }
    }
}
