package io.flowlag.rli.sender;

import io.flowlag.common.counter.CounterSet;

import java.util.Arrays;

/**
 * Says when a reference packet is due (RLI paper, section III-B1): for each class by its policy, at the latest after the maximum
 * gap, and below one bandwidth ceiling. After each reference it runs Algorithm 1: the utilization of the link since the last
 * reference of the class is averaged into the estimate, and the policy gives the next distance.
 *
 * <p>The caller shows it every packet, asks {@link #dueClass} as time passes (from {@link #nextDueNs} on), sends what is due, and
 * says so by {@link #onInjected} or {@link #onInjectionFailed}. References themselves are not shown as packets. There are two
 * times: the one at which the caller acts, by which references are due, and that of the link, by which its utilization is
 * measured ({@link #onLinkTime}, {@link #onLinkQuiet}). Live capture hands packets over in batches, so the former tells nothing
 * of their distances.
 *
 * <p>A reference that is due by a packet should go ahead of that packet where the caller can do so, as in simulated time. Right
 * behind it, it waits for that packet's transmission, every time: all references then have one mean transmission time too much
 * delay, which nothing at the receiver shows. Distances in time have no such bias.
 *
 * <p>One thread; counters may be read by any. Allocates at construction.
 */
public final class InjectionScheduler {
    /** No class. */
    public static final int NONE = -1;

    private static final double BITS_NS_PER_OCTET_SECOND = 8e9;
    /** Packets that come so many times as fast as the link carries them are a burst at the speed of a link before it. */
    private static final double BURST_UTILIZATION = 4;

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

    /**
     * A scheduler whose classes all want their first reference at once.
     *
     * @param context concluded here.
     */
    public InjectionScheduler(final InjectionContext context) {
        classCount = context.conclude().classCount();
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
        reconfigure(context);
    }

    /**
     * Takes new settings, from the next packet on; counts stay, and the load of the link, which is another utilization where its
     * capacity is another.
     *
     * @param context concluded here; with as many classes as before.
     */
    public void reconfigure(final InjectionContext context) {
        if (context.conclude().classCount() != classCount) {
            throw new IllegalArgumentException("classCount=" + context.classCount() + " was " + classCount);
        }
        final double priorShare =
            capacityBps > 0 && context.capacityBps() > 0 ? capacityBps / (double)context.capacityBps() : 1;
        capacityBps = context.capacityBps();
        utilizationSmoothing = context.utilizationSmoothing();
        maximumGapNs = context.maximumGapNs();
        referenceLengthBytes = context.referenceLengthBytes();
        ceiling.configure(context);
        for (int i = 0; i < classCount; i++) {
            policies[i] = context.policy(i);
            utilizations[i] *= priorShare;
            plan(i);
        }
    }

    /**
     * A packet of the link is shown next.
     *
     * @param stampNs when it was on the link. Far less than that of the packet before if the clock was set back.
     */
    public void onLinkTime(final long stampNs) {
        linkNs = stampNs;
    }

    /**
     * All packets that were on the link before a time have been shown.
     *
     * @param untilNs that time; without effect if a later packet was shown.
     */
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
        linkBytes += lengthBytes;
        packetCounts[classIndex]++;
        counters.increment(classIndex, SenderCounter.REGULAR_PACKETS);
        counters.add(classIndex, SenderCounter.REGULAR_BYTES, lengthBytes);
        return isDue(classIndex, nowNs);
    }

    /** Regular packets since the last reference. */
    public long packetCount(final int classIndex) {
        return packetCounts[classIndex];
    }

    /**
     * Whether the last packet was the one that the policy's distance in packets names, or the first of all. Otherwise what is
     * due is due by time, whichever packet comes then.
     *
     * @param classIndex of a class whose reference is due.
     * @return true for the packet that was counted for.
     */
    public boolean isDueByCount(final int classIndex) {
        return !isStarted[classIndex] || packetCounts[classIndex] == packetGaps[classIndex];
    }

    /** A packet that takes the same link but is not of the segment: it counts for the utilization only. */
    public void onOtherPacket(final int lengthBytes) {
        linkBytes += lengthBytes;
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
     * When {@link #dueClass} should be asked if no packet comes before. Returns a time; not after {@code nowNs} when something is
     * due.
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

    /**
     * A reference was sent.
     *
     * @param lengthBytes of the reference on the link.
     */
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
     * Lines 10 and 11 of Algorithm 1. The octets of a burst wait for the next reference, for no longer than the maximum gap: the
     * link has not carried them yet. So do octets while the link's time stands still.
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
     * that; not a number while nothing is known.
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
