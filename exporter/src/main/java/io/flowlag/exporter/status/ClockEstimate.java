package io.flowlag.exporter.status;

/**
 * The clock of a receiver point against that of a sender point, as estimated from exchanges between the two hosts. Immutable.
 *
 * @param isKnown     whether it holds now; if not, and there is one, it is the last before the clocks may have stepped.
 * @param isCorrected whether the offset is taken out of delays.
 * @param offsetNs    the receiver's clock less the sender's, ns.
 * @param boundNs     largest error of the offset, ns, the asymmetry of the two ways included.
 * @param drift       by how much the offset grows, ns/ns.
 * @param timeNs      to which the offset belongs, ns since the epoch by the receiver's clock.
 * @param sinceNs     from when on estimates continue each other, by the same clock.
 */
public record ClockEstimate(
    boolean isKnown, boolean isCorrected, long offsetNs, long boundNs, double drift, long timeNs, long sinceNs) {
    /** No estimate yet: nothing is corrected. */
    public static final ClockEstimate NONE = new ClockEstimate(false, false, 0, 0, 0, 0, Long.MAX_VALUE);

    /** {@return by how much the offset grows with the sender's time, ns/ns} */
    public double senderRate() {
        return drift / (1 - drift);
    }

    /** {@return the offset when the sender's clock shows a time, ns} */
    public long offsetAtSentNs(final long sentNs) {
        return offsetNs + Math.round(senderRate() * (sentNs + offsetNs - timeNs));
    }

    /** {@return a time of the sender's clock by the receiver's, if delays are corrected; else the same} */
    public long correctedNs(final long sentNs) {
        return isCorrected ? sentNs + offsetAtSentNs(sentNs) : sentNs;
    }

    /**
     * How far the clocks may be apart in delays that are measured now.
     *
     * @param statedNs the bound that the clocks' own sources state, ns; below 0 for unknown.
     * @return ns; below 0 for unknown.
     */
    public long errorNs(final long statedNs) {
        if (!isKnown) {
            return isCorrected ? -1 : statedNs;
        }
        if (isCorrected) {
            return boundNs;
        }
        final boolean isAgreed = statedNs >= 0 && Math.abs(offsetNs) - boundNs <= statedNs;
        final long apartNs = Math.abs(offsetNs) + boundNs;
        return isAgreed ? Math.min(statedNs, apartNs) : apartNs;
    }
}
