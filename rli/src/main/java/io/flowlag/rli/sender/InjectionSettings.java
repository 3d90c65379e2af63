package io.flowlag.rli.sender;

import java.util.List;

/**
 * Settings of an {@link InjectionScheduler}. Immutable; any thread.
 *
 * @param policies             of each class, in the order of the class indexes; at least one.
 * @param capacityBps          rate of the bottleneck queue (the shaper's, not the interface's), bits/s; 0 for unknown, which an
 *                             adaptive policy does not allow.
 * @param utilizationSmoothing α of Algorithm 1, for which the paper has no number: weight of the newest value, above 0, up to 1.
 * @param maximumGapNs         longest time between references of a class, whatever its policy and however idle the link; above 0.
 * @param ceilingBps           ceiling on the average rate of all classes' references, bits/s; {@link Long#MAX_VALUE} for none.
 * @param referenceLengthBytes octets of a reference on the link, as regular packets are counted; above 0.
 */
public record InjectionSettings(
    List<InjectionPolicy> policies, long capacityBps, double utilizationSmoothing, long maximumGapNs, long ceilingBps,
    int referenceLengthBytes) {
    /** Default α of Algorithm 1; it gives the paper's injection rates on a model of its link (docs/laboratory.md). */
    public static final double DEFAULT_SMOOTHING = 0.02;

    private static final double NS_PER_SECOND = 1e9;
    private static final long DEFAULT_MAXIMUM_GAP_NS = 100_000_000;
    private static final int DEFAULT_REFERENCE_LENGTH_BYTES = 110;

    /**
     * Checks ranges and relations.
     *
     * @throws IllegalArgumentException with the name and the value at fault.
     */
    public InjectionSettings {
        policies = List.copyOf(policies);
        check(!policies.isEmpty(), "policies=0");
        check(capacityBps >= 0, "capacityBps=" + capacityBps + " is below 0");
        check(
            capacityBps > 0 || policies.stream().noneMatch(InjectionPolicy::isAdaptive),
            "capacityBps=0, and an adaptive policy needs it");
        check(
            utilizationSmoothing > 0 && utilizationSmoothing <= 1,
            "utilizationSmoothing=" + utilizationSmoothing + " is not above 0 and up to 1");
        check(maximumGapNs > 0, "maximumGapNs=" + maximumGapNs + " is below 1");
        check(referenceLengthBytes > 0, "referenceLengthBytes=" + referenceLengthBytes + " is below 1");
        final double leastBps = policies.size() * referenceLengthBytes * 8 * (NS_PER_SECOND / maximumGapNs);
        check(
            ceilingBps >= leastBps,
            "ceilingBps=" + ceilingBps + " is below the " + (long)Math.ceil(leastBps) + " that maximumGapNs=" + maximumGapNs +
            " needs for classCount=" + policies.size());
    }

    /** The defaults for a capacity and a policy of each class: no ceiling, a reference at least every 100 ms. */
    public static InjectionSettings of(final long capacityBps, final InjectionPolicy... policies) {
        return new InjectionSettings(List.of(policies), capacityBps, DEFAULT_SMOOTHING, DEFAULT_MAXIMUM_GAP_NS, Long.MAX_VALUE,
            DEFAULT_REFERENCE_LENGTH_BYTES);
    }

    public int classCount() {
        return policies.size();
    }

    private static void check(final boolean isGood, final String message) {
        if (!isGood) {
            throw new IllegalArgumentException(message);
        }
    }
}
