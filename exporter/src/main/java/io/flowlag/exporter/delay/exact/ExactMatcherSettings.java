package io.flowlag.exporter.delay.exact;

/**
 * Settings of an {@link ExactMatcher}. Immutable; any thread.
 *
 * @param maxPackets       packets that are remembered at most, 1 to {@link #MAX_PACKETS}: about those of one maximum delay, of
 *                         both points where they do not match.
 * @param startPackets     room for packets at first, 1 or more; it doubles when full. More than {@code maxPackets} is as many.
 * @param maximumDelayNs   time without an arrival after which a sent packet is lost, 1 to {@link #MAX_DELAY_NS}.
 * @param maximumLeadNs    how much earlier than it was sent a packet may seem to arrive, because two clocks differ: 0 to the
 *                         maximum delay, or {@link #MAXIMUM_DELAY}. With a single clock use 0: then a further copy is never
 *                         taken for the arrival of a twin sent after it.
 * @param graceNs          how much later than time passes a packet may be handed over, 0 to {@link #MAX_DELAY_NS}. It is 0 where
 *                         packets come in time order, as from files. It is the longest time in the rings where {@link
 *                         ExactMatcher#onTime} receives the time of a clock.
 * @param growingUpToNs    how far the maximum delay may grow when packets come later than that and there is memory, at most
 *                         {@link #MAX_DELAY_NS}. Less than the maximum delay is as much: it does not grow.
 * @param joinedAboveBytes length above which an IP packet counts as joined by an offload, octets; {@link Integer#MAX_VALUE} for
 *                         none. Unmatched packets of flows with such packets are undecided instead of lost or unexpected.
 */
public record ExactMatcherSettings(
    int maxPackets, int startPackets, long maximumDelayNs, long maximumLeadNs, long graceNs, long growingUpToNs,
    int joinedAboveBytes) {
    /** The most packets that can be remembered. */
    public static final int MAX_PACKETS = 1 << 24;
    /** Octets that a packet takes at most. */
    public static final int MOST_PACKET_BYTES =
        WaitingPackets.RECORD_LENGTH_BYTES + DigestTable.ENTRY_LENGTH_BYTES + 4 * Long.BYTES;
    /** The longest maximum delay, ns. */
    static final long MAX_DELAY_NS = 3_600_000_000_000L;
    /** A lead of the maximum delay. */
    public static final long MAXIMUM_DELAY = -1;

    /**
     * Checks ranges.
     *
     * @throws IllegalArgumentException with the name and the value at fault.
     */
    public ExactMatcherSettings {
        startPackets = Math.min(startPackets, maxPackets);
        maximumLeadNs = maximumLeadNs < 0 ? maximumDelayNs : maximumLeadNs;
        growingUpToNs = Math.max(growingUpToNs, maximumDelayNs);
        if (maxPackets < 1 || maxPackets > MAX_PACKETS) {
            throw new IllegalArgumentException("maxPackets=" + maxPackets + " is not within 1.." + MAX_PACKETS);
        }
        if (maximumDelayNs < 1 || maximumDelayNs > MAX_DELAY_NS) {
            throw new IllegalArgumentException("maximumDelayNs=" + maximumDelayNs + " is not within 1.." + MAX_DELAY_NS);
        }
        if (maximumLeadNs > maximumDelayNs) {
            throw new IllegalArgumentException("maximumLeadNs=" + maximumLeadNs + " exceeds maximumDelayNs=" + maximumDelayNs);
        }
        if (growingUpToNs > MAX_DELAY_NS) {
            throw new IllegalArgumentException("growingUpToNs=" + growingUpToNs + " is above " + MAX_DELAY_NS);
        }
        if (graceNs < 0 || graceNs > MAX_DELAY_NS) {
            throw new IllegalArgumentException("graceNs=" + graceNs + " is not within 0.." + MAX_DELAY_NS);
        }
    }

    /**
     * {@return octets off the heap of a matcher of these settings, without the flows; for an index that grew, old and new
     * together}
     */
    public long memoryBytes() {
        return (long)maxPackets * (WaitingPackets.RECORD_LENGTH_BYTES + DigestTable.ENTRY_LENGTH_BYTES) +
            SlotIndex.memoryBytes(maxPackets) + (startPackets < maxPackets ? SlotIndex.memoryBytes(maxPackets / 2) : 0) +
            2 * DistantDigests.memoryBytes();
    }
}
