package io.flowlag.rli.clock;

/**
 * The lines θ(t) = x − ρ(now − t) between the envelopes of both directions: θ is at most each forward delay, and at least each
 * backward one negated. With E(ρ) as the height of a line below an envelope, x lies between −E_b(−ρ) and E_f(ρ), and the width
 * G(ρ) = E_f(ρ) + E_b(−ρ) is concave in ρ and made of parts that are straight. Newton's method from outside therefore ends
 * after a few steps at the exact place. One thread. Allocates at construction.
 */
final class Corridor {
    private static final int MOST_STEPS = 256;
    private static final double LEAST_NS = 1e-3;

    final Envelope forward;
    final Envelope backward;
    private final double steepest;
    private long nowNs;
    private double upperNs;
    private double lowerNs;
    private double slopeNs;

    Corridor(final ClockSettings settings) {
        forward = new Envelope(settings);
        backward = new Envelope(settings);
        steepest = settings.maximumDriftPpm() * 1e-6;
    }

    /** Forgets old delays. */
    void expire() {
        forward.expire(nowNs);
        backward.expire(nowNs);
    }

    /** Looks from another time, no earlier than the delays. */
    void moveTo(final long timeNs) {
        nowNs = timeNs;
        nowNs = Math.max(nowNs, forward.count() == 0 ? timeNs : forward.newestNs());
        nowNs = Math.max(nowNs, backward.count() == 0 ? timeNs : backward.newestNs());
    }

    int count() {
        return Math.min(forward.count(), backward.count());
    }

    /** {@return the width G at a drift, ns; below 0 if no line has it} */
    double width(final double drift) {
        upperNs = forward.height(nowNs, drift);
        lowerNs = -backward.height(nowNs, -drift);
        slopeNs = forward.supportAgeNs() - backward.supportAgeNs();
        return upperNs - lowerNs;
    }

    /** {@return the largest offset now at the drift that was last asked for, ns} */
    double upperNs() {
        return upperNs;
    }

    /** {@return the smallest one, ns} */
    double lowerNs() {
        return lowerNs;
    }

    /**
     * The last drift of a side at which the corridor is this wide.
     *
     * @param widthNs wanted.
     * @param side    −1 for the least drift, 1 for the largest.
     * @return at most {@link #LEAST_NS} too far out; NaN if the corridor is nowhere so wide.
     */
    double edge(final double widthNs, final int side) {
        double drift = side * steepest;
        for (int i = 0; i < MOST_STEPS; i++) {
            final double missingNs = widthNs - width(drift);
            if (missingNs <= LEAST_NS) {
                return drift;
            }
            if (slopeNs * side >= 0) {
                return Double.NaN;
            }
            drift += missingNs / slopeNs;
            if (Math.abs(drift) > steepest) {
                return Double.NaN;
            }
        }
        return drift;
    }

    /** {@return the width where the corridor is widest, ns: the cut of the outermost known tangents, moved inwards} */
    double greatestWidth() {
        double left = -steepest;
        double leftNs = width(left);
        double leftSlopeNs = slopeNs;
        if (leftSlopeNs <= 0) {
            return leftNs;
        }
        double right = steepest;
        double rightNs = width(right);
        double rightSlopeNs = slopeNs;
        if (rightSlopeNs >= 0) {
            return rightNs;
        }
        double widthNs = Math.max(leftNs, rightNs);
        for (int i = 0; i < MOST_STEPS; i++) {
            final double drift =
                (rightNs - leftNs + leftSlopeNs * left - rightSlopeNs * right) / (leftSlopeNs - rightSlopeNs);
            final double boundNs = leftNs + leftSlopeNs * (drift - left);
            final double hereNs = width(drift);
            widthNs = Math.max(widthNs, hereNs);
            if (slopeNs == 0 || boundNs - hereNs <= LEAST_NS) {
                return widthNs;
            }
            if (slopeNs > 0) {
                left = drift;
                leftNs = hereNs;
                leftSlopeNs = slopeNs;
            } else {
                right = drift;
                rightNs = hereNs;
                rightSlopeNs = slopeNs;
            }
        }
        return widthNs;
    }
}
