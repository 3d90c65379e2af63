package io.flowlag.rli.clock;

/**
 * Offset and drift of a receiver's clock against a sender's, from delays measured in both directions between them: reference
 * packets, regular packets known at both points, or exchanges with a STAMP reflector (RFC 8762).
 *
 * <p><b>Model.</b> θ(t) is the receiver's clock less the sender's. A packet to the receiver that takes δ shows δ + θ, one to the
 * sender δ − θ, and δ is at least a floor, 0 if none is known. So each delay bounds θ from one side, whatever the queues do. θ
 * is a line but for the wander of oscillators: with |d²θ/dt²| ≤ κ it leaves its tangent by at most κa²/2 after a time a, and
 * each bound is loosened by so much, and by the error of timestamps. What is feasible for offset and drift is a polygon; its
 * extremes at the present are {@link #lowNs} and {@link #highNs}. Old delays lose their weight by themselves: no window is
 * needed for honesty.
 *
 * <p><b>Estimate.</b> The drift at which the corridor between both envelopes is widest, and the middle of the corridor there.
 * This is exact if both directions have the same least delay: then both envelopes are parallel, and nothing but the right drift
 * keeps them apart everywhere. If they differ, the middle is wrong by half the difference, which no measurement between two
 * clocks can see. Half the corridor's width, half the least round trip, is thus the bound of asymmetry; {@link #boundNs} adds
 * what the drift leaves open.
 *
 * <p><b>Changes.</b> A step of a clock by x moves one least delay by x and the other by −x; another path moves one, or both in
 * the same direction, and leaves the bounds true. Each interval's least delays are compared with their levels. A change must
 * exceed {@link ClockSettings#changeNs} and three times the usual excess over the level, and must last. While a step is
 * possible there is no estimate; after a step, or where a step is possible, only later delays count. After a new path the
 * estimate keeps to the shortest path known, so that a detour of one direction does not move it.
 *
 * <p><b>Limits.</b> Opposite changes of both paths by the same time look like a step. A step smaller than what a change must
 * exceed, or one that a loaded direction hides, is no event; the bound covers it only if it is smaller than the least delay of
 * the direction that it lengthens.
 *
 * <p>One thread. Memory: four times {@link ClockSettings#points} of 16 octets. Allocates at construction, and an event for each
 * change.
 */
public final class ClockEstimator {
    /** Intervals with delays of both directions before there is an estimate. */
    public static final int LEAST_INTERVALS = 4;

    private final ClockSettings settings;
    private final Corridor bounding;
    private final Corridor levelled;
    private final Side forward;
    private final Side backward;
    private boolean hasBase;
    private long baseNs;
    private int waiting;
    private long onsetNs;
    private long latestNs = Long.MIN_VALUE;
    private boolean isKnown;
    private boolean isDoubtful;
    private ClockEvent event = ClockEvent.NONE;
    private double lowNs;
    private double highNs;
    private double offsetNs;
    private double leastDrift;
    private double mostDrift;
    private double drift;
    private double driftError;

    /** Without delays. */
    public ClockEstimator(final ClockSettings settings) {
        this.settings = settings;
        bounding = new Corridor(settings);
        levelled = new Corridor(settings);
        forward = new Side(settings, bounding.forward, levelled.forward);
        backward = new Side(settings, bounding.backward, levelled.backward);
    }

    /**
     * Takes a delay from sender to receiver: of each reference, or the least of some milliseconds. With a drift the least of a
     * long time is less tight, by up to the drift times that time.
     *
     * @param timeNs  arrival by the receiver's clock, ns. The times of both directions are of one clock, so that an offset
     *                between the clocks does not shift one against the other.
     * @param delayNs arrival by the receiver's clock less departure by the sender's.
     */
    public void onForward(final long timeNs, final long delayNs) {
        setBase(delayNs);
        forward.offer(timeNs, delayNs - baseNs, drift);
    }

    /**
     * Takes a delay from receiver to sender.
     *
     * @param timeNs  departure by the receiver's clock, ns.
     * @param delayNs arrival by the sender's clock less departure by the receiver's.
     */
    public void onBackward(final long timeNs, final long delayNs) {
        setBase(-delayNs);
        backward.offer(timeNs, delayNs + baseNs, -drift);
    }

    /**
     * Takes an exchange with a reflector whose clock is the receiver's (RFC 8762, 4): its four timestamps, ns.
     *
     * @param sentNs      session-sender's packet, by the sender's clock.
     * @param receivedNs  the same at the reflector.
     * @param reflectedNs reflected packet, by the reflector's clock.
     * @param returnedNs  the same, by the sender's clock.
     */
    public void onExchange(final long sentNs, final long receivedNs, final long reflectedNs, final long returnedNs) {
        onForward(receivedNs, receivedNs - sentNs);
        onBackward(reflectedNs, returnedNs - reflectedNs);
    }

    private void setBase(final long delayNs) {
        if (!hasBase) {
            hasBase = true;
            baseNs = delayNs;
        }
    }

    /**
     * Ends an interval, of about a second: looks for a change and estimates anew.
     *
     * @param nowNs of the receiver's clock, to which the estimate belongs, no earlier than the delays.
     * @return the change that became clear, which may have begun up to twice {@link ClockSettings#confirmIntervals} intervals
     *         before; {@link ClockEvent#NONE} if there is none.
     */
    public ClockEvent onInterval(final long nowNs) {
        event = ClockEvent.NONE;
        if (!forward.isOpenEmpty() || !backward.isOpenEmpty()) {
            forward.close(waiting, drift, driftError, isKnown);
            backward.close(waiting, -drift, driftError, isKnown);
            waiting++;
            if (isKnown) {
                judge(nowNs);
            } else {
                settle(waiting);
                waiting = 0;
            }
        }
        if (waiting == 0) {
            if (nowNs < latestNs) {
                onsetNs = nowNs;
                onRestart(ClockEvent.Kind.UNCLEAR, 0, 0);
            }
            latestNs = nowNs;
        }
        isDoubtful = isAnyFall();
        solve(nowNs);
        return event;
    }

    private void judge(final long nowNs) {
        final int last = waiting - 1;
        if (last > 0 && (isNewFall(forward, last) || isNewFall(backward, last))) {
            settle(last);
            forward.keepLast(last);
            backward.keepLast(last);
            waiting = 1;
        }
        if (waiting == 1) {
            onsetNs = nowNs;
        }
        final int from = Math.min(1, waiting - 1);
        final double forwardNs = forward.change(from, waiting);
        final double backwardNs = backward.change(from, waiting);
        final boolean isForward = forward.isFall(forwardNs) || forward.isRise(forwardNs);
        final boolean isBackward = backward.isFall(backwardNs) || backward.isRise(backwardNs);
        if (!isForward && !isBackward) {
            settle(waiting);
            waiting = 0;
        } else if (waiting > 1 && forward.isFall(forwardNs) && Math.abs(backwardNs) <= nearNs(backward, forwardNs)) {
            onPath(ClockEvent.Kind.FORWARD_PATH, forwardNs, 0);
        } else if (waiting > 1 && backward.isFall(backwardNs) && Math.abs(forwardNs) <= nearNs(forward, backwardNs)) {
            onPath(ClockEvent.Kind.BACKWARD_PATH, 0, backwardNs);
        } else if (waiting > (isAnyFall() ? 1 : 2) * settings.confirmIntervals()) {
            decide(forwardNs, backwardNs);
        }
    }

    private boolean isAnyFall() {
        return forward.isFall(forward.change(0, waiting)) || backward.isFall(backward.change(0, waiting));
    }

    private static boolean isNewFall(final Side side, final int last) {
        return side.isFall(side.change(last, last + 1)) && !side.isFall(side.change(0, last));
    }

    /** How near to its level a side is that did not change while the other did: nearer than to the opposite change. */
    private static double nearNs(final Side side, final double otherNs) {
        return Math.min(side.toleranceNs(), Math.abs(otherNs) / 2);
    }

    /** The explanation that fits best, if it fits; what may be a step restarts the estimate. */
    private void decide(final double forwardNs, final double backwardNs) {
        final double toleranceNs = forward.toleranceNs() + backward.toleranceNs() - settings.changeNs();
        final double stepNs = Math.abs(forwardNs + backwardNs);
        final double pathNs = Math.min(Math.abs(forwardNs), Math.abs(backwardNs));
        if (Double.isNaN(stepNs)) {
            // Math.round makes 0 of NaN.
            onRestart(ClockEvent.Kind.UNCLEAR, forwardNs, backwardNs);
        } else if (forward.isRise(forwardNs) && backward.isRise(backwardNs) ||
            forward.isFall(forwardNs) && backward.isFall(backwardNs)) {
            onPath(ClockEvent.Kind.BOTH_PATHS, forwardNs, backwardNs);
        } else if (Math.min(stepNs, pathNs) > toleranceNs) {
            onRestart(ClockEvent.Kind.UNCLEAR, forwardNs, backwardNs);
        } else if (stepNs < pathNs) {
            onRestart(ClockEvent.Kind.STEP, forwardNs, backwardNs);
        } else if (Math.abs(forwardNs) > Math.abs(backwardNs)) {
            onPath(ClockEvent.Kind.FORWARD_PATH, forwardNs, 0);
        } else {
            onPath(ClockEvent.Kind.BACKWARD_PATH, 0, backwardNs);
        }
    }

    private void onPath(final ClockEvent.Kind kind, final double forwardNs, final double backwardNs) {
        event = new ClockEvent(kind, onsetNs, Math.round(forwardNs), Math.round(backwardNs));
        forward.settleChanged(waiting, forwardNs);
        backward.settleChanged(waiting, backwardNs);
        waiting = 0;
    }

    private void onRestart(final ClockEvent.Kind kind, final double forwardNs, final double backwardNs) {
        if (!event.isRestart()) {
            event = new ClockEvent(kind, onsetNs, Math.round(forwardNs), Math.round(backwardNs));
        }
        // The new offset may be far away: a clock that began in 1970. Near its base a double holds it exactly.
        final long byNs = Math.round(forward.waitingNs(waiting));
        baseNs += byNs;
        final int from = Math.max(forward.steadySince(waiting), backward.steadySince(waiting));
        forward.restart(from, waiting, byNs);
        backward.restart(from, waiting, -byNs);
        waiting = 0;
        latestNs = Long.MIN_VALUE;
    }

    private void settle(final int to) {
        forward.settle(to);
        backward.settle(to);
    }

    private void solve(final long nowNs) {
        bounding.moveTo(nowNs);
        levelled.moveTo(nowNs);
        if (waiting == 0) {
            // A step by more than the age must not erase what it is to be compared with.
            bounding.expire();
            levelled.expire();
        }
        isKnown = forward.hasIntervals(LEAST_INTERVALS) && backward.hasIntervals(LEAST_INTERVALS);
        if (bounding.count() == 0) {
            return;
        }
        final double slackNs = 2.0 * settings.stampErrorNs() - settings.forwardFloorNs() - settings.backwardFloorNs();
        leastDrift = bounding.edge(-slackNs, -1);
        if (Double.isNaN(leastDrift)) {
            onsetNs = nowNs;
            onRestart(ClockEvent.Kind.CONTRADICTION, 0, 0);
            isKnown = false;
            return;
        }
        bounding.width(leastDrift);
        lowNs = bounding.lowerNs() + settings.backwardFloorNs() - settings.stampErrorNs();
        mostDrift = bounding.edge(-slackNs, 1);
        bounding.width(mostDrift);
        highNs = bounding.upperNs() - settings.forwardFloorNs() + settings.stampErrorNs();
        if (isKnown) {
            estimate();
        }
    }

    private void estimate() {
        final double widthNs = levelled.greatestWidth();
        driftError = (levelled.edge(widthNs - settings.changeNs(), 1) - levelled.edge(widthNs - settings.changeNs(), -1)) / 2;
        final double flatNs = 1 + 2 * settings.stampErrorNs();
        drift = (levelled.edge(widthNs - flatNs, 1) + levelled.edge(widthNs - flatNs, -1)) / 2;
        levelled.width(drift);
        final double middleNs =
            (levelled.upperNs() - settings.forwardFloorNs() + levelled.lowerNs() + settings.backwardFloorNs()) / 2;
        offsetNs = Math.max(lowNs, Math.min(highNs, middleNs));
    }

    /** Forgets everything: another sender, another path, a restart. */
    public void reset() {
        forward.clear();
        backward.clear();
        hasBase = false;
        latestNs = Long.MIN_VALUE;
        isKnown = false;
        isDoubtful = false;
        waiting = 0;
        drift = 0;
        driftError = 0;
        event = ClockEvent.NONE;
    }

    /** {@return whether both directions have enough delays since the last step, and no step is suspected} */
    public boolean hasEstimate() {
        return isKnown && !isDoubtful;
    }

    /** {@return the receiver's clock less the sender's at the end of the last interval, ns; only with an estimate} */
    public long offsetNs() {
        return baseNs + Math.round(offsetNs);
    }

    /** {@return largest error of the offset while the model holds, ns: half the least round trip and what drift leaves open} */
    public long boundNs() {
        return (long)Math.ceil(Math.max(highNs - offsetNs, offsetNs - lowNs)) + 1;
    }

    /** {@return the least offset that agrees with all delays, ns; only with an estimate} */
    public long lowNs() {
        return baseNs + (long)Math.floor(lowNs);
    }

    /** {@return the largest offset that agrees with all delays, ns; only with an estimate} */
    public long highNs() {
        return baseNs + (long)Math.ceil(highNs);
    }

    /** {@return how fast the receiver's clock gains on the sender's, parts per billion, that is, ns/s; only with an estimate} */
    public double driftPpb() {
        return drift * 1e9;
    }

    /** {@return the least drift that agrees with all delays, ppb; only with an estimate} */
    public double lowDriftPpb() {
        return leastDrift * 1e9;
    }

    /** {@return the largest drift that agrees with all delays, ppb; only with an estimate} */
    public double highDriftPpb() {
        return mostDrift * 1e9;
    }
}
