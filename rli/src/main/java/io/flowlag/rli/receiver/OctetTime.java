package io.flowlag.rli.receiver;

/**
 * The time that an octet takes on the link of one queue, from gaps between references, and how much too high it makes delays.
 *
 * <p>A stamp is taken when a packet's transmission begins. A packet adds to the delay of the reference behind it, but not to its
 * own. So at a packet's stamp a line between the delays of two references that were due by time is too high: by half of the
 * packet's transmission in a queue that does not empty. Work comes evenly between two references on average, and a packet's place
 * in that work is the middle of its transmission. The delay is therefore that of the line at the middle of the transmission, less
 * half of the transmission, but no less than the least one. In excess of a reference's own transmission, as both have one.
 *
 * <p>A queue whose left reference was still waiting when the right one was sent did not empty between them. The time between
 * their arrivals is then the transmission of what came between: packets that were seen, and others in proportion to the time
 * between departures. The time per octet is the slope over the octets seen, beside one over the departures' distance, by least
 * squares without an intercept. It is 0 until it is four standard errors above 0. It is at most the quotient of both sums, which
 * is too large by what is not seen. Old evidence fades with 1/4096 a gap. One thread. Allocates at construction.
 */
final class OctetTime {
    private static final double FADE = 1 - 1.0 / 4096;
    private static final int LEAST_EVIDENCE = 16;
    private static final double LEAST_SIGNIFICANCE = 4;
    /** Unexplained share of the octets' squares below which they say nothing beside the time between departures. */
    private static final double LEAST_SPREAD = 0.01;
    private static final int PERIOD_REFERENCES = 4096;

    private final boolean isOn;
    private double count;
    private double octets;
    private double arrivals;
    private double octetSquares;
    private double departureSquares;
    private double arrivalSquares;
    private double octetDepartures;
    private double octetArrivals;
    private double departureArrivals;
    private double nsPerByte;

    private double leastDelayNs = Double.POSITIVE_INFINITY;
    private double leastDelayBeforeNs = Double.POSITIVE_INFINITY;
    private int references;

    /** Nothing known; never anything where stamps are not the beginnings of transmissions, or references are regular traffic. */
    OctetTime(final ReceiverSettings.Estimation estimation) {
        isOn = estimation.estimator() == Estimator.LINEAR && !estimation.isReferenceRegular() &&
            estimation.serialisation() == SerialisationMode.NONE;
    }

    /** Forgets everything: another queue, or a clock was set. */
    void reset() {
        count = 0;
        octets = 0;
        arrivals = 0;
        octetSquares = 0;
        departureSquares = 0;
        arrivalSquares = 0;
        octetDepartures = 0;
        octetArrivals = 0;
        departureArrivals = 0;
        nsPerByte = 0;
        references = 0;
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

    /** {@return the least delay of the last 4096 to 8192 references} */
    double leastDelayNs() {
        return Math.min(leastDelayNs, leastDelayBeforeNs);
    }

    /**
     * A gap between two references of the queue.
     *
     * @param gapOctets of packets that were seen between them, and of the left one.
     */
    void onGap(final double arrivalsNs, final double leftDelayNs, final double rightDelayNs, final long gapOctets) {
        final double departuresNs = arrivalsNs - (rightDelayNs - leftDelayNs);
        if (!isOn || arrivalsNs <= 0 || leftDelayNs - leastDelayNs() < departuresNs) {
            return;
        }
        count = count * FADE + 1;
        octets = octets * FADE + gapOctets;
        arrivals = arrivals * FADE + arrivalsNs;
        octetSquares = octetSquares * FADE + (double)gapOctets * gapOctets;
        departureSquares = departureSquares * FADE + departuresNs * departuresNs;
        arrivalSquares = arrivalSquares * FADE + arrivalsNs * arrivalsNs;
        octetDepartures = octetDepartures * FADE + gapOctets * departuresNs;
        octetArrivals = octetArrivals * FADE + gapOctets * arrivalsNs;
        departureArrivals = departureArrivals * FADE + departuresNs * arrivalsNs;
        fit();
    }

    private void fit() {
        final double spread = octetSquares - octetDepartures * octetDepartures / Math.max(1, departureSquares);
        nsPerByte = 0;
        if (count >= LEAST_EVIDENCE && spread > LEAST_SPREAD * octetSquares) {
            final double slope = (octetArrivals - octetDepartures * departureArrivals / Math.max(1, departureSquares)) / spread;
            final double unseen = (departureArrivals - slope * octetDepartures) / Math.max(1, departureSquares);
            final double rest = Math.max(0, arrivalSquares - slope * octetArrivals - unseen * departureArrivals);
            final double standardError = Math.sqrt(rest / count / spread);
            nsPerByte = slope > LEAST_SIGNIFICANCE * standardError ? Math.min(slope, mostNsPerByte()) : 0;
        }
    }

    /** {@return the time per octet, ns; 0 if it is not known} */
    double nsPerByte() {
        return nsPerByte;
    }

    /** {@return what the time per octet is at most, ns; 0 where the queue emptied in each gap} */
    double mostNsPerByte() {
        return octets > 0 ? arrivals / octets : 0;
    }

    /** {@return how far half the time per octet may be off, ns: what is not seen makes the quotient too large} */
    double doubtNs() {
        return (mostNsPerByte() - nsPerByte) / 2;
    }

    /**
     * How much too high a line between two references is at a packet's stamp.
     *
     * @param extraBytes  of the packet, beyond a reference's.
     * @param delayNs     on the line.
     * @param slope       of the line, ns of delay for each ns between arrivals.
     * @param leftNs      from the packet's stamp to the right reference.
     */
    double excessNs(final int extraBytes, final double delayNs, final double slope, final double leftNs) {
        final double halfNs = nsPerByte * extraBytes / 2;
        return Math.min(Math.max(0, delayNs - leastDelayNs()), halfNs - slope * Math.min(halfNs, leftNs));
    }
}
