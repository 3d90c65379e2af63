package io.flowlag.rli.receiver;

/**
 * How long an octet takes at most on the link of one queue. A packet's own transmission puts the line between two references off:
 *
 * <ul>
 * <li>Work comes evenly between two references that are due by time, so a packet's place in it is the middle of its transmission.
 *     Where a stamp is taken before the transmission, as behind a shaper that lets a packet go and then waits (HTB), the line is
 *     too high by half of a transmission, but by no more than what the queue adds to the least delay.
 * <li>Where it is taken behind the transmission, as on a link or behind a shaper that waits first (TBF), the line is too low by
 *     half of it; by the whole where the queue is empty, since references are short.
 * </ul>
 *
 * References of one size do not tell which. Packets whose delay is known otherwise do, one in each gap: the line's error over a
 * packet's octets beyond a reference's, by least squares, leaves estimates once it is four standard errors from 0. Bounds then
 * cover half of a transmission, else a whole one, either way. The capacity, if known, tells its time. Else gaps tell the most: a
 * queue whose left reference was still waiting when the right one was sent did not empty between them. The time between their
 * arrivals is then the transmission of what came between, of which the octets seen are a part. Old evidence fades with 1/4096 a
 * gap. One thread. Allocates at construction.
 */
final class OctetTime {
    private static final double FADE = 1 - 1.0 / 4096;
    private static final int PERIOD_REFERENCES = 4096;
    private static final double BITS_NS_PER_OCTET_SECOND = 8e9;
    private static final int LEAST_KNOWN = 64;
    private static final double LEAST_SIGNIFICANCE = 4;
    private static final long NONE = Long.MIN_VALUE;

    private final boolean isOn;
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

    /** Nothing known; never anything where references are regular traffic, or serialisation is estimated. Capacity as below. */
    OctetTime(final ReceiverSettings.Estimation estimation, final long capacityBps) {
        isOn = estimation.estimator() == Estimator.LINEAR && !estimation.isReferenceRegular() &&
            estimation.serialisation() == SerialisationMode.NONE;
        capacityBps(capacityBps);
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

    /** {@return whether the delay of a packet is of use} */
    boolean wantsKnown() {
        return isOn && knownArrivalNs == NONE;
    }

    /** Keeps the known delay of a packet until there are references on both sides. */
    void keep(final long arrivalNs, final double delayNs, final int lengthBytes) {
        knownArrivalNs = arrivalNs;
        knownDelayNs = delayNs;
        knownBytes = lengthBytes;
    }

    /** Compares the line of a gap with the packet that was kept, if it arrived in the gap; one of before is forgotten. */
    void learn(final Interpolation line, final SettledReference left, final SettledReference right) {
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
        if (!isOn) {
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

    /** {@return how much longer than on the line a packet's delay is, ns; no less than makes it the least delay} */
    double addedNs(final double extraBytes, final double lineNs) {
        return Math.max(errorNsPerByte * extraBytes, Math.min(0, Math.min(leastDelayNs, leastDelayBeforeNs) - lineNs));
    }

    /** {@return whether the capacity is known} */
    boolean isCapacityKnown() {
        return capacityNsPerByte > 0;
    }

    /** {@return what bounds must have for each octet of a packet, ns; 0 if it is not known} */
    double doubtNsPerByte() {
        final double wholeNs = isCapacityKnown() ? capacityNsPerByte : octets > 0 ? arrivalsNs / octets : 0;
        return isLearned() ? wholeNs / 2 : wholeNs;
    }
}
