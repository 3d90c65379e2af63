package io.flowlag.rli.sender;

/**
 * References by the utilization of the link: {@code adaptive}, lines 12 to 14 of the paper's Algorithm 1. With the utilization u
 * cut to [uMin, uMax] the effective injection rate is
 * <pre>
 *   r = sqrt(1 - ((u - uMin) / (uMax - uMin))²) · (rMax - rMin) + rMin
 * </pre>
 * references per regular packet: rMax on an idle link, falling slowly at first, rMin on a full one.
 *
 * @param minimumUtilization uMin, 0 or more.
 * @param minimumRate        rMin, above 0.
 * @param maximumRate        rMax, from rMin to 1.
 */
public record AdaptivePolicy(
    double minimumUtilization, double maximumUtilization, double minimumRate, double maximumRate)
    implements InjectionPolicy {
    /** The paper's settings: 0.6, 0.85, 1-in-300, 1-in-10. */
    public static final AdaptivePolicy PAPER = new AdaptivePolicy(0.6, 0.85, 1.0 / 300, 1.0 / 10);

    /** Checks the ranges. */
    public AdaptivePolicy {
        if (!(minimumUtilization >= 0 && minimumUtilization < maximumUtilization)) {
            throw new IllegalArgumentException(
                "minimumUtilization=" + minimumUtilization + " is not in 0 to maximumUtilization=" + maximumUtilization);
        }
        if (!(minimumRate > 0 && minimumRate <= maximumRate && maximumRate <= 1)) {
            throw new IllegalArgumentException(
                "minimumRate=" + minimumRate + " and maximumRate=" + maximumRate + " are not in order within 0 to 1");
        }
    }

    /**
     * The effective injection rate.
     *
     * @param utilization of the link; NaN counts as idle.
     * @return references per regular packet.
     */
    public double rate(final double utilization) {
        final double effective =
            utilization > minimumUtilization ? Math.min(utilization, maximumUtilization) : minimumUtilization;
        final double x = (effective - minimumUtilization) / (maximumUtilization - minimumUtilization);
        return Math.sqrt(1 - x * x) * (maximumRate - minimumRate) + minimumRate;
    }

    @Override
    public long packetGap(final double utilization) {
        return Math.max(1, Math.round(1 / rate(utilization)));
    }

    @Override
    public long timeGapNs() {
        return UNLIMITED;
    }

    @Override
    public boolean isAdaptive() {
        return true;
    }
}
