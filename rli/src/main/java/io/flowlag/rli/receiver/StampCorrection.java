package io.flowlag.rli.receiver;

/**
 * By how much effective send times differ from the stamps in the packets: a moving average, and the mean deviation from it, which
 * is the error of a stamp that is moved by the average. One thread. Allocates: never.
 */
final class StampCorrection {
    private static final double WEIGHT = 1.0 / 16;

    private double meanNs;
    private double deviationNs;
    private boolean isKnown;

    void record(final long differenceNs) {
        if (isKnown) {
            deviationNs += WEIGHT * (Math.abs(differenceNs - meanNs) - deviationNs);
            meanNs += WEIGHT * (differenceNs - meanNs);
        }
        else {
            isKnown = true;
            meanNs = differenceNs;
        }
    }

    long correctionNs() {
        return Math.round(meanNs);
    }

    long errorNs() {
        return Math.round(deviationNs);
    }
}
