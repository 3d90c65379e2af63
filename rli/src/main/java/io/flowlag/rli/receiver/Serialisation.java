package io.flowlag.rli.receiver;

/**
 * The time per octet that a packet's size adds to its delay, b / lc in the paper's equation (1).
 *
 * <p>Fitted: a reference's delay is its queueing plus its own transmission. Its size is independent of the queueing. So the time
 * per octet is the slope of the delay's change since the last reference over the size's distance from the mean size, by weighted
 * least squares. (An interpolation cannot replace the last reference: packets that follow a large one wait for it, so its
 * successors depend on its size.) The weight is one over the time between their send times, because the queues' effect grows with
 * it. Old evidence fades with 1/4096 a reference. The time is 0 until 256 references differed in size, and while the slope is at
 * most four times its standard error.
 *
 * <p>Large packets often come in bursts and wait for one another, which makes the slope too large. The capacity, if known, and
 * the {@link LeastDelays} of the references bound it. One thread. Allocates at construction.
 */
final class Serialisation {
    private static final double BITS_NS_PER_OCTET_SECOND = 8e9;
    private static final double FADE = 1 - 1.0 / 4096;
    private static final int LEAST_EVIDENCE = 256;
    private static final double LEAST_SIGNIFICANCE = 4;
    /** Tolerance for the error of a fitted slope. */
    private static final double CAPACITY_TOLERANCE = 1.1;

    private final SerialisationMode mode;
    private final LeastDelays leastDelays = new LeastDelays();
    private double nsPerByte;
    private double capacityNsPerByte;
    private double fittedNsPerByte;
    private double meanBytes;
    private double count;
    private double sizeSquares;
    private double changeSquares;
    private double products;
    private long evidenceCount;

    Serialisation(final SerialisationMode mode, final long capacityBps) {
        this.mode = mode;
        capacityBps(capacityBps);
    }

    /** The link has another capacity from now on, bits/s; 0 for unknown. */
    void capacityBps(final long capacityBps) {
        capacityNsPerByte = capacityBps > 0 ? BITS_NS_PER_OCTET_SECOND / capacityBps : 0;
        choose();
    }

    /** Handles a set clock: delays before and after it are not comparable. */
    void onClockStep() {
        leastDelays.reset();
        choose();
    }

    /** A reference: its size and its delay. */
    void onDelay(final int lengthBytes, final long delayNs) {
        if (mode == SerialisationMode.AUTO || mode == SerialisationMode.FITTED) {
            leastDelays.record(lengthBytes, delayNs);
            choose();
        }
    }

    /** The same reference: the change of its delay since the last one, and the time between their send times. */
    void onChange(final int lengthBytes, final long changeNs, final long gapNs) {
        if (mode != SerialisationMode.FITTED && (mode != SerialisationMode.AUTO || capacityNsPerByte > 0) || gapNs <= 0) {
            return;
        }
        if (count == 0) {
            meanBytes = lengthBytes;
        }
        final double extraBytes = lengthBytes - meanBytes;
        final double weight = 1.0 / gapNs;
        count = count * FADE + 1;
        meanBytes += extraBytes / count;
        sizeSquares = sizeSquares * FADE + weight * extraBytes * extraBytes;
        changeSquares = changeSquares * FADE + weight * changeNs * changeNs;
        products = products * FADE + weight * extraBytes * changeNs;
        if (extraBytes != 0 && ++evidenceCount >= LEAST_EVIDENCE) {
            final double slope = products / sizeSquares;
            final double standardError = Math.sqrt(Math.max(0, changeSquares / sizeSquares - slope * slope) / count);
            fittedNsPerByte = slope > LEAST_SIGNIFICANCE * standardError ? slope : 0;
            choose();
        }
    }

    private void choose() {
        final boolean isCapacityKnown = capacityNsPerByte > 0;
        nsPerByte = switch (mode) {
            case NONE -> 0;
            case CAPACITY -> capacityNsPerByte;
            case FITTED -> Math.min(
                fittedNsPerByte,
                Math.min(
                    leastDelays.mostNsPerByte(),
                    isCapacityKnown ? CAPACITY_TOLERANCE * capacityNsPerByte : Double.POSITIVE_INFINITY));
            case AUTO -> Math.min(isCapacityKnown ? capacityNsPerByte : fittedNsPerByte, leastDelays.mostNsPerByte());
        };
    }

    double nsPerByte() {
        return nsPerByte;
    }

    /** {@return how much more time an octet may take, of either sign; NaN if the capacity is not known} */
    double missingNsPerByte() {
        return capacityNsPerByte > 0 ? capacityNsPerByte - nsPerByte : Double.NaN;
    }

    /**
     * How long an octet takes at most on the link of one queue, where sizes add nothing to estimates (mode none) or a whole
     * transmission (mode capacity). A packet's own transmission puts the line between two references off:
     *
     * <ul>
     * <li>Work comes evenly between two references that are due by time, so a packet's place in it is the middle of its
     *     transmission. Where a stamp is taken before the transmission, as behind a shaper that lets a packet go and then waits
     *     (HTB), the line is too high by half of a transmission, but by no more than what the queue adds to the least delay.
     * <li>Where it is taken behind the transmission, as on a link or behind a shaper that waits first (TBF), the line is too low
     *     by half of it; by the whole where the queue is empty, since references are short.
     * </ul>
     *
     * References of one size do not tell which. Packets whose delay is known otherwise do, one in each gap: the line's error over
     * a packet's octets beyond a reference's, by least squares, leaves estimates once it is four standard errors from 0. Bounds
     * then cover half of a transmission, else a whole one, either way. Mode capacity is right in an empty queue and half too much
     * in a busy one: bounds cover half of one, and nothing is learned. The capacity, if known, tells its time. Else gaps tell the
     * most: a queue whose left reference was still waiting when the right one was sent did not empty between them. The time
     * between their arrivals is then the transmission of what came between, of which the octets seen are a part. Old evidence
     * fades with 1/4096 a gap. One thread. Allocates at construction.
     */
    static final class OctetTime {
        private static final int PERIOD_REFERENCES = 4096;
        private static final int LEAST_KNOWN = 64;
        private static final long NONE = Long.MIN_VALUE;

        private final boolean isOn;
        private final boolean isAdded;
        private double capacityNsPerByte;
        private double octets;
        private double arrivalsNs;
        private double leastDelayNs = Double.POSITIVE_INFINITY;
        private double leastDelayBeforeNs = Double.POSITIVE_INFINITY;
        private int references;

        private long knownArrivalNs = NONE;
        private double knownDelayNs;
        private int knownBytes;
        private double knownCount;
        private double byteSquares;
        private double errorSquares;
        private double products;
        private double errorNsPerByte;

        /** Nothing known; never anything where references are regular traffic, or in other modes. Capacity as below. */
        OctetTime(final ReceiverSettings.Estimation estimation, final long capacityBps) {
            isAdded = estimation.serialisation() == SerialisationMode.CAPACITY;
            isOn = estimation.estimator() == Estimator.LINEAR && !estimation.isReferenceRegular() &&
                (isAdded || estimation.serialisation() == SerialisationMode.NONE);
            capacityBps(isAdded ? estimation.capacityBps() : capacityBps);
        }

        /** The link has another capacity from now on, bits/s; 0 for unknown. */
        void capacityBps(final long capacityBps) {
            capacityNsPerByte = isOn && capacityBps > 0 ? BITS_NS_PER_OCTET_SECOND / capacityBps : 0;
        }

        /** Forgets everything: another queue, or a clock was set. */
        void reset() {
            octets = 0;
            arrivalsNs = 0;
            references = 0;
            knownArrivalNs = NONE;
            knownCount = 0;
            byteSquares = 0;
            errorSquares = 0;
            products = 0;
            errorNsPerByte = 0;
            leastDelayNs = Double.POSITIVE_INFINITY;
            leastDelayBeforeNs = Double.POSITIVE_INFINITY;
        }

        /** A reference's delay. */
        void onDelay(final double delayNs) {
            if (++references % PERIOD_REFERENCES == 0) {
                leastDelayBeforeNs = leastDelayNs;
                leastDelayNs = Double.POSITIVE_INFINITY;
            }
            leastDelayNs = Math.min(leastDelayNs, delayNs);
        }

        /**
         * A gap between two references of the queue.
         *
         * @param gapOctets of packets that were seen between them, and of the left one.
         */
        void onGap(final double gapNs, final double leftDelayNs, final double rightDelayNs, final long gapOctets) {
            final double departuresNs = gapNs - (rightDelayNs - leftDelayNs);
            final double aboveLeastNs = leftDelayNs - Math.min(leastDelayNs, leastDelayBeforeNs);
            if (isOn && gapNs > 0 && aboveLeastNs >= departuresNs) {
                octets = octets * FADE + gapOctets;
                arrivalsNs = arrivalsNs * FADE + gapNs;
            }
        }

        /** {@return whether transmissions put lines off in a way that is not known} */
        boolean isOn() {
            return isOn;
        }

        /** {@return whether the delay of a packet is of use} */
        boolean wantsKnown() {
            return isOn && !isAdded && knownArrivalNs == NONE;
        }

        /** Keeps the known delay of a packet until there are references on both sides. */
        void keep(final long arrivalNs, final double delayNs, final int lengthBytes) {
            knownArrivalNs = arrivalNs;
            knownDelayNs = delayNs;
            knownBytes = lengthBytes;
        }

        /** A gap between two references of a stream with one path; learns from the packet that was kept, if that is of it. */
        void onGap(
            final Interpolation line, final SettledReference left, final SettledReference right, final long gapOctets) {
            learn(line, left, right);
            onDelay(right.delayNs);
            onGap(right.arrivalNs - left.arrivalNs, left.delayNs, right.delayNs, gapOctets);
        }

        private void learn(final Interpolation line, final SettledReference left, final SettledReference right) {
            if (knownArrivalNs > right.arrivalNs) {
                return;
            }
            if (knownArrivalNs >= left.arrivalNs) {
                onKnown(knownBytes - left.lengthBytes,
                    knownDelayNs - line.between(left, right, 0).delayNs(knownArrivalNs, left.lengthBytes));
            }
            knownArrivalNs = NONE;
        }

        /** How much longer than on the line the known delay of a packet is. */
        void onKnown(final double extraBytes, final double errorNs) {
            if (!isOn || isAdded) {
                return;
            }
            knownCount = knownCount * FADE + 1;
            byteSquares = byteSquares * FADE + extraBytes * extraBytes;
            errorSquares = errorSquares * FADE + errorNs * errorNs;
            products = products * FADE + extraBytes * errorNs;
            if (knownCount >= LEAST_KNOWN && byteSquares > 0) {
                final double slope = products / byteSquares;
                final double standardError =
                    Math.sqrt(Math.max(0, errorSquares - slope * products) / knownCount / byteSquares);
                errorNsPerByte = Math.abs(slope) > LEAST_SIGNIFICANCE * standardError ? slope : 0;
            }
        }

        /** {@return whether the line's error is known} */
        boolean isLearned() {
            return errorNsPerByte != 0;
        }

        /**
         * How much longer than on the line a packet's delay is, ns; no less than makes it the least delay.
         *
         * @param lineNs without what estimates add for octets.
         */
        double addedNs(final double extraBytes, final double lineNs) {
            return Math.max(errorNsPerByte * extraBytes, Math.min(0, Math.min(leastDelayNs, leastDelayBeforeNs) - lineNs));
        }

        /** The link of every path has another capacity; of no interest where a path may have its own. */
        void pathCapacityBps(final long capacityBps) {
            capacityBps(isAdded ? capacityBps : 0);
        }

        /** {@return whether the capacity is known} */
        boolean isCapacityKnown() {
            return capacityNsPerByte > 0;
        }

        /** {@return what bounds must have for each octet of a packet, ns; 0 if it is not known} */
        double doubtNsPerByte() {
            final double wholeNs = isCapacityKnown() ? capacityNsPerByte : octets > 0 ? arrivalsNs / octets : 0;
            return isLearned() || isAdded ? wholeNs / 2 : wholeNs;
        }
    }
}
