package io.flowlag.exporter.lab;

import java.util.List;

/**
 * How much traffic is offered to a simulated link, and how it comes and goes. The mean utilization swings as a cosine between
 * two values. It is multiplied by {@code exp(x - s²/2)}, where x is the sum of Gaussian processes whose correlation falls
 * exponentially with time (Ornstein and Uhlenbeck), and s² their variance: bursts of congestion of several lengths. Packets come
 * one by one, at random (Poisson) at the rate of the moment. Immutable; any thread.
 *
 * @param lowestUtilization  of the link, on average; above 0.
 * @param highestUtilization of the link, on average; not below the lowest, and at most 2.
 * @param swingNs            from lowest to lowest, ns, more than 0.
 * @param bursts             the Gaussian processes, fastest first; may be empty.
 */
public record LoadModel(
    double lowestUtilization, double highestUtilization, long swingNs, List<Burstiness> bursts) {
    /**
     * One Gaussian process.
     *
     * @param deviation     standard deviation, 0 to 2.
     * @param correlationNs time in which its correlation falls to 1/e, ns, more than 0.
     */
    public record Burstiness(double deviation, long correlationNs) {
        /** Checks the ranges. */
        public Burstiness {
            SegmentProfile.check(deviation >= 0 && deviation <= 2, "deviation=" + deviation + ": must be 0 to 2");
            SegmentProfile.check(correlationNs > 0, "correlationNs=" + correlationNs + ": must be more than 0");
        }
    }

    /** Checks the ranges and relations. */
    public LoadModel {
        SegmentProfile.check(lowestUtilization > 0, "lowestUtilization=" + lowestUtilization + ": must be above 0");
        SegmentProfile.check(
            highestUtilization >= lowestUtilization && highestUtilization <= 2,
            "highestUtilization=" + highestUtilization + ": must be lowestUtilization=" + lowestUtilization + " to 2");
        SegmentProfile.check(swingNs > 0, "swingNs=" + swingNs + ": must be more than 0");
        bursts = List.copyOf(bursts);
    }

    /** A load that is constant on average, without bursts. */
    public static LoadModel constant(final double utilization) {
        return new LoadModel(utilization, utilization, 1_000_000_000L, List.of());
    }

    /** The same bursts about a mean that swings. */
    public LoadModel swinging(final double lowest, final double highest, final long periodNs) {
        return new LoadModel(lowest, highest, periodNs, bursts);
    }

    /** The same mean with bursts. */
    public LoadModel bursting(final Burstiness... others) {
        return new LoadModel(lowestUtilization, highestUtilization, swingNs, List.of(others));
    }

    /** The mean utilization of the link at a time since the start, without bursts. */
    double meanUtilization(final double elapsedNs) {
        if (lowestUtilization == highestUtilization) {
            return lowestUtilization;
        }
        final double phase = (1 - StrictMath.cos(2 * StrictMath.PI * elapsedNs / swingNs)) / 2;
        return lowestUtilization + phase * (highestUtilization - lowestUtilization);
    }
}
