package io.flowlag.exporter.delay;

/**
 * Mean and standard deviation of delays over several intervals. An interval without a deviation does not count as one with
 * equal delays: the deviation covers the packets of the other intervals only. One thread. Allocates at construction.
 */
final class DelayTotal {
    private final Moments all = new Moments();
    private final Moments spread = new Moments();

    /** Packets, their mean, and the sum of squares about it. */
    private static final class Moments {
        private double packets;
        private double meanNs;
        private double squaresNs2;

        private void add(final double newPackets, final double newMeanNs, final double newSquaresNs2) {
            final double before = packets;
            final double distanceNs = newMeanNs - meanNs;
            packets += newPackets;
            meanNs += distanceNs * newPackets / packets;
            squaresNs2 += newSquaresNs2 + distanceNs * distanceNs * before * newPackets / packets;
        }
    }

    /** Adds packets of an interval, at least 1. */
    void add(final double packets, final double meanNs) {
        all.add(packets, meanNs, 0);
    }

    /** Adds the deviation of packets that were added already. */
    void addDeviation(final double packets, final double meanNs, final double deviationNs) {
        spread.add(packets, meanNs, packets * deviationNs * deviationNs);
    }

    /** {@return packets behind the mean} */
    long samples() {
        return Math.round(all.packets);
    }

    /** {@return the mean, rounded; null if there are no packets} */
    Long meanNs() {
        return all.packets > 0 ? Math.round(all.meanNs) : null;
    }

    /** {@return the standard deviation, rounded; null if no interval has one} */
    Long standardDeviationNs() {
        return spread.packets > 0 ? Math.round(Math.sqrt(spread.squaresNs2 / spread.packets)) : null;
    }
}
