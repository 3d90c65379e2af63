package io.flowlag.exporter.sketching;

/**
 * Tells, of packets that were held in the first W of an interval, which were sent in the one before: those whose digests the
 * sender had in flight at its end. Digests that arrived before the end are taken out first, so that of two packets with equal
 * digests each is booked in the order of arrival. The metering thread owns it. Allocates at construction.
 */
final class HeldSettlement {
    private final DigestSet inFlight;
    private boolean isKnown;

    /**
     * Nothing is known.
     *
     * @param inFlightPackets of one interval.
     */
    HeldSettlement(final int inFlightPackets) {
        inFlight = new DigestSet(inFlightPackets);
    }

    /**
     * Takes in what the sender had in flight at the end of an interval.
     *
     * @param answer   of the sender; null if none came.
     * @param own      the receiver's interval; null if it has none.
     * @param ownCount digests of the receiver's last W that had arrived by the end.
     * @return whether it is known.
     */
    boolean read(final SenderAnswer answer, final PointInterval own, final int ownCount) {
        isKnown = answer != null && own != null && answer.isInFlightComplete() && own.isInFlightComplete() &&
            answer.inFlightCount() <= own.inFlightCapacity();
        if (isKnown) {
            inFlight.clear();
            for (int i = 0; i < answer.inFlightCount(); i++) {
                inFlight.add(answer.inFlight(i));
            }
            for (int i = 0; i < ownCount; i++) {
                inFlight.take(own.inFlight(i));
            }
        }
        return isKnown;
    }

    /** {@return whether a held packet was sent before the end, each digest as often as it was in flight} */
    boolean takeEarlier(final long digest) {
        return isKnown && inFlight.take(digest);
    }
}
