package io.flowlag.rli.sender;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Settings of an {@link InjectionScheduler}, with the product's defaults. Fluent; the scheduler copies its values and checks
 * ranges and relations. For the thread that fills it; holds only values.
 */
public final class InjectionContext {
    /** Default α of Algorithm 1; it gives the paper's injection rates on a model of its link (docs/laboratory.md). */
    public static final double DEFAULT_SMOOTHING = 0.02;

    private static final double NS_PER_SECOND = 1e9;

    private InjectionPolicy[] policies = {AdaptivePolicy.PAPER};
    private long capacityBps;
    private double utilizationSmoothing = DEFAULT_SMOOTHING;
    private long maximumGapNs = TimeUnit.MILLISECONDS.toNanos(100);
    private long ceilingBps = Long.MAX_VALUE;
    private int referenceLengthBytes = 110;

    /** Defaults: one class, adaptive; the capacity must be set. */
    public InjectionContext() {
    }

    /**
     * Sets the policy of each class.
     *
     * @param policies in the order of the class indexes, at least one.
     */
    public InjectionContext policies(final InjectionPolicy... policies) {
        this.policies = policies.clone();
        return this;
    }

    /** {@return how many classes there are} */
    public int classCount() {
        return policies.length;
    }

    InjectionPolicy policy(final int classIndex) {
        return policies[classIndex];
    }

    /**
     * Sets the rate of the bottleneck queue: the shaper's, not the interface's.
     *
     * @param capacityBps bits/s; 0 for unknown, which an adaptive policy does not allow.
     */
    public InjectionContext capacityBps(final long capacityBps) {
        this.capacityBps = capacityBps;
        return this;
    }

    /** {@return bits/s of the bottleneck queue; 0 for unknown} */
    public long capacityBps() {
        return capacityBps;
    }

    /**
     * Sets α of Algorithm 1, for which the paper has no number.
     *
     * @param utilizationSmoothing weight of the newest value, above 0, up to 1.
     */
    public InjectionContext utilizationSmoothing(final double utilizationSmoothing) {
        this.utilizationSmoothing = utilizationSmoothing;
        return this;
    }

    /** {@return the weight of the newest utilization} */
    public double utilizationSmoothing() {
        return utilizationSmoothing;
    }

    /**
     * Sets the longest time between references of a class, whatever its policy and however idle the link.
     *
     * @param maximumGapNs more than 0.
     */
    public InjectionContext maximumGapNs(final long maximumGapNs) {
        this.maximumGapNs = maximumGapNs;
        return this;
    }

    /** {@return the longest time between references of a class, ns} */
    public long maximumGapNs() {
        return maximumGapNs;
    }

    /**
     * Sets the ceiling on the average rate of all classes' references.
     *
     * @param ceilingBps bits/s; {@link Long#MAX_VALUE} for no ceiling.
     */
    public InjectionContext ceilingBps(final long ceilingBps) {
        this.ceilingBps = ceilingBps;
        return this;
    }

    /** {@return bits/s that references may take} */
    public long ceilingBps() {
        return ceilingBps;
    }

    /**
     * Sets how long a reference is on the link, as regular packets are counted.
     *
     * @param referenceLengthBytes more than 0.
     */
    public InjectionContext referenceLengthBytes(final int referenceLengthBytes) {
        this.referenceLengthBytes = referenceLengthBytes;
        return this;
    }

    /** {@return octets of a reference on the link} */
    public int referenceLengthBytes() {
        return referenceLengthBytes;
    }

    /** Checks ranges and relations. */
    public InjectionContext conclude() {
        check(policies.length > 0, "policies=0");
        check(capacityBps >= 0, "capacityBps=" + capacityBps + " is below 0");
        check(
            capacityBps > 0 || Arrays.stream(policies).noneMatch(InjectionPolicy::isAdaptive),
            "capacityBps=0, and an adaptive policy needs it");
        check(
            utilizationSmoothing > 0 && utilizationSmoothing <= 1,
            "utilizationSmoothing=" + utilizationSmoothing + " is not above 0 and up to 1");
        check(maximumGapNs > 0, "maximumGapNs=" + maximumGapNs + " is below 1");
        check(referenceLengthBytes > 0, "referenceLengthBytes=" + referenceLengthBytes + " is below 1");
        final double leastBps = policies.length * referenceLengthBytes * 8 * (NS_PER_SECOND / maximumGapNs);
        check(
            ceilingBps >= leastBps,
            "ceilingBps=" + ceilingBps + " is below the " + (long)Math.ceil(leastBps) + " that maximumGapNs=" + maximumGapNs +
            " needs for classCount=" + policies.length);
        return this;
    }

    private static void check(final boolean isGood, final String message) {
        if (!isGood) {
            throw new IllegalArgumentException(message);
        }
    }
}
