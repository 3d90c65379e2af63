package io.flowlag.rli.sender;

import io.flowlag.common.counter.CounterSet;

import java.util.Arrays;

/**
 * Determines when a reference packet is due (RLI paper, section III-B1): for each class by its policy, at the latest after the
 * maximum gap, and below one bandwidth ceiling. After each reference it runs Algorithm 1. It averages the utilization since the
 * class's last reference into the estimate, and the policy gives the next distance.
 *
 * <p>The caller passes every packet except references, polls {@link #dueClass} as time passes (from {@link #nextDueNs} on), sends
 * due references, and reports each by {@link #onInjected} or {@link #onInjectionFailed}. There are two times. References are due
 * by the caller's time; utilization is measured by the link's ({@link #onLinkTime}, {@link #onLinkQuiet}). Live capture delivers
 * packets in batches, so the caller's time does not reflect their distances.
 *
 * <p>A reference that is due by a packet should go ahead of that packet where possible, as in simulated time. Directly behind it,
 * it always waits for that packet's transmission. All references then have one mean transmission time too much delay, which the
 * receiver cannot detect. Distances in time have no such bias.
 *
 * <p>One thread; counters may be read by any. Allocates at construction.
 */
public final class InjectionScheduler {
    /** No class. */
    public static final int NONE = -1;

    private static final double BITS_NS_PER_OCTET_SECOND = 8e9;
    /** Packets that arrive this many times faster than the link's rate are a burst at an earlier link's speed. */
    private static final double BURST_UTILIZATION = 4;
    /** Packets of several interfaces or threads may be so much out of order. */
    private static final long MOST_DISORDER_NS = 100_000_000L;

    private final int classCount;
    private final CounterSet<SenderCounter> counters;
    private final BandwidthCeiling ceiling = new BandwidthCeiling();

    private final InjectionPolicy[] policies;
    private final long[] packetCounts;
    private final long[] packetGaps;
    private final long[] timeGapsNs;
    private final long[] lastNs;
    private final long[] linkNsAtLast;
    private final long[] linkBytesAtLast;
    private final double[] utilizations;
    private final boolean[] isStarted;
    private final boolean[] isHeld;

    private long linkNs = Long.MIN_VALUE;
    private long linkBytes;
    private long capacityBps;
    private double utilizationSmoothing;
    private long maximumGapNs;
    private int referenceLengthBytes;
    private boolean isCeilingStarted;

    /** A scheduler in which the first reference of each class is due at once. */
    public InjectionScheduler(final InjectionSettings settings) {
        classCount = settings.classCount();
        counters = new CounterSet<>(SenderCounter.class, classCount);
        policies = new InjectionPolicy[classCount];
        packetCounts = new long[classCount];
        packetGaps = new long[classCount];
        timeGapsNs = new long[classCount];
        lastNs = new long[classCount];
        linkNsAtLast = new long[classCount];
        linkBytesAtLast = new long[classCount];
        utilizations = new double[classCount];
        isStarted = new boolean[classCount];
        isHeld = new boolean[classCount];
        Arrays.fill(utilizations, Double.NaN);
        reconfigure(settings);
    }

    /**
     * Applies new settings from the next packet on. Counts stay, and so does the link's measured load, which is another
     * utilization if the capacity changed.
     *
     * @param settings with as many classes as before.
     */
    public void reconfigure(final InjectionSettings settings) {
        if (settings.classCount() != classCount) {
            throw new IllegalArgumentException("classCount=" + settings.classCount() + " was " + classCount);
        }
        final double priorShare =
            capacityBps > 0 && settings.capacityBps() > 0 ? capacityBps / (double)settings.capacityBps() : 1;
        capacityBps = settings.capacityBps();
        utilizationSmoothing = settings.utilizationSmoothing();
        maximumGapNs = settings.maximumGapNs();
        referenceLengthBytes = settings.referenceLengthBytes();
        ceiling.configure(settings);
        for (int i = 0; i < classCount; i++) {
            policies[i] = settings.policies().get(i);
            utilizations[i] *= priorShare;
            plan(i);
        }
    }

    /**
     * Sets the link's time for the next packet.
     *
     * @param stampNs when it was on the link; far below the previous one if the clock was set back.
     */
    public void onLinkTime(final long stampNs) {
        linkNs = stampNs < linkNs && linkNs - stampNs <= MOST_DISORDER_NS ? linkNs : stampNs;
    }

    /** States that all packets on the link before a time have been passed; ignored if a later packet was passed. */
    public void onLinkQuiet(final long untilNs) {
        linkNs = Math.max(linkNs, untilNs);
    }

    /**
     * A regular packet of the segment.
     *
     * @param lengthBytes of the packet, counted as the capacity is.
     * @return true if a reference of this class is due now.
     */
    public boolean onPacket(final int classIndex, final long nowNs, final int lengthBytes) {
        return onPackets(classIndex, nowNs, 1, lengthBytes);
    }

    /** The same for several packets at once, at most {@link #packetsUntilDue}, with their octets. */
    public boolean onPackets(final int classIndex, final long nowNs, final long packets, final long octets) {
        linkBytes += octets;
        packetCounts[classIndex] += packets;
        counters.add(classIndex, SenderCounter.REGULAR_PACKETS, packets);
        counters.add(classIndex, SenderCounter.REGULAR_BYTES, octets);
        return isDue(classIndex, nowNs);
    }

    /** {@return packets of a class until one completes the policy's distance, at least 1} */
    public long packetsUntilDue(final int classIndex) {
        return Math.max(1, packetGaps[classIndex] - packetCounts[classIndex]);
    }

    /** Regular packets since the last reference. */
    public long packetCount(final int classIndex) {
        return packetCounts[classIndex];
    }

    /**
     * Whether the last packet completed the policy's distance in packets, or was the first of all. Otherwise a due reference is
     * due by time.
     *
     * @param classIndex of a class whose reference is due.
     * @return true for the packet that completed the count.
     */
    public boolean isDueByCount(final int classIndex) {
        return !isStarted[classIndex] || packetCounts[classIndex] == packetGaps[classIndex];
    }

    /** Packets on the same link outside the segment: their octets count for the utilization only. */
    public void onOtherPacket(final long octets) {
        linkBytes += octets;
    }

    /** Looks for a class whose reference is due. Returns the class, or {@link #NONE}. */
    public int dueClass(final long nowNs) {
        for (int i = 0; i < classCount; i++) {
            if (isDue(i, nowNs)) {
                return i;
            }
        }
        return NONE;
    }

    /**
     * When to poll {@link #dueClass} if no packet comes before. Returns a time; not after {@code nowNs} if a reference is due.
     */
    public long nextDueNs(final long nowNs) {
        long nextNs = Long.MAX_VALUE;
        for (int i = 0; i < classCount; i++) {
            nextNs = Math.min(nextNs, nextDueNs(i, nowNs));
        }
        return nextNs;
    }

    private long nextDueNs(final int classIndex, final long nowNs) {
        if (!isStarted[classIndex]) {
            return nowNs;
        }
        final long maximumGapEndsNs = lastNs[classIndex] + maximumGapNs;
        if (isHeld[classIndex]) {
            final long readyNs = ceiling.readyNs(nowNs, referenceLengthBytes);
            return nowNs < maximumGapEndsNs ? Math.min(readyNs, maximumGapEndsNs) : readyNs;
        }
        return Math.min(timeGapsNs[classIndex], maximumGapNs) + lastNs[classIndex];
    }

    /** A reference was sent, of a length on the link. */
    public void onInjected(final int classIndex, final long nowNs, final int lengthBytes) {
        counters.increment(classIndex, SenderCounter.REFERENCES);
        counters.add(classIndex, SenderCounter.REFERENCE_BYTES, lengthBytes);
        if (isStarted[classIndex] && packetCounts[classIndex] < packetGaps[classIndex] &&
            nowNs - lastNs[classIndex] < timeGapsNs[classIndex]) {
            counters.increment(classIndex, SenderCounter.BY_MAXIMUM_GAP);
        }
        ceiling.take(nowNs, lengthBytes);
        estimateUtilization(classIndex);
        restart(classIndex, nowNs);
    }

    /** A reference that was due could not be sent: the next is due after the usual distance. */
    public void onInjectionFailed(final int classIndex, final long nowNs) {
        counters.increment(classIndex, SenderCounter.FAILED);
        restart(classIndex, nowNs);
    }

    private boolean isDue(final int classIndex, final long nowNs) {
        if (!isStarted[classIndex]) {
            return true;
        }
        final long elapsedNs = nowNs - lastNs[classIndex];
        if (elapsedNs < 0) {
            lastNs[classIndex] = nowNs;
            return false;
        }
        final boolean isMaximumGap = elapsedNs >= maximumGapNs;
        if (!isMaximumGap && packetCounts[classIndex] < packetGaps[classIndex] && elapsedNs < timeGapsNs[classIndex]) {
            return false;
        }
        final boolean isAdmitted = ceiling.admits(nowNs, referenceLengthBytes, isMaximumGap);
        if (!isAdmitted && !isHeld[classIndex]) {
            isHeld[classIndex] = true;
            counters.increment(classIndex, SenderCounter.HELD_BY_CEILING);
        }
        return isAdmitted;
    }

    /**
     * Lines 10 and 11 of Algorithm 1. The link has not yet carried a burst's octets, so they are deferred to the next reference,
     * at most by the maximum gap. Octets are also deferred while the link's time stands still.
     */
    private void estimateUtilization(final int classIndex) {
        final long elapsedNs = linkNs - linkNsAtLast[classIndex];
        if (isStarted[classIndex] && elapsedNs == 0) {
            return;
        }
        if (isStarted[classIndex] && elapsedNs > 0 && capacityBps > 0) {
            final double bytes = linkBytes - linkBytesAtLast[classIndex];
            final double instant = bytes * BITS_NS_PER_OCTET_SECOND / elapsedNs / capacityBps;
            if (instant > BURST_UTILIZATION && elapsedNs < maximumGapNs) {
                return;
            }
            final double before = utilizations[classIndex];
            utilizations[classIndex] = Double.isNaN(before) ?
                instant : instant * utilizationSmoothing + before * (1 - utilizationSmoothing);
        }
        linkNsAtLast[classIndex] = linkNs;
        linkBytesAtLast[classIndex] = linkBytes;
    }

    private void restart(final int classIndex, final long nowNs) {
        if (!isCeilingStarted) {
            isCeilingStarted = true;
            ceiling.start(nowNs);
        }
        isStarted[classIndex] = true;
        isHeld[classIndex] = false;
        packetCounts[classIndex] = 0;
        lastNs[classIndex] = nowNs;
        plan(classIndex);
    }

    private void plan(final int classIndex) {
        packetGaps[classIndex] = policies[classIndex].packetGap(utilizations[classIndex]);
        timeGapsNs[classIndex] = policies[classIndex].timeGapNs();
    }

    /** Reads a counter; safe from any thread. */
    public long counter(final int classIndex, final SenderCounter counter) {
        return counters.get(classIndex, counter);
    }

    /** Adds a counter up over all classes; safe from any thread. */
    public long counter(final SenderCounter counter) {
        return counters.sum(counter);
    }

    /**
     * The utilization of the link as the class sees it. Returns 0 for idle, 1 for full, above 1 while packets come faster than
     * that; NaN while unknown.
     */
    public double utilization(final int classIndex) {
        return utilizations[classIndex];
    }

    /**
     * The present distance between references. Returns regular packets; {@link InjectionPolicy#UNLIMITED} when the policy goes by
     * time.
     */
    public long packetGap(final int classIndex) {
        return packetGaps[classIndex];
    }

    /** {@return the references' share of all octets that took the link, 0 to 1} */
    public double referenceShare() {
        final double referenceBytes = counter(SenderCounter.REFERENCE_BYTES);
        return referenceBytes == 0 ? 0 : referenceBytes / (referenceBytes + linkBytes);
    }
}
