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
}
