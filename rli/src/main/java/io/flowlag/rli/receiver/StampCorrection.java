package io.flowlag.rli.receiver;

/**
 * The difference between effective send times and stamps: a moving average, and the mean deviation from it, which is the error of
 * a corrected stamp. One thread. Never allocates.
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
        } else {
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
