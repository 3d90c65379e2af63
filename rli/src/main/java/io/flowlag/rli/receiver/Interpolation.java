package io.flowlag.rli.receiver;

/**
 * Equation (1) of the RLI paper between two references, with each reference's own transmission time removed from its delay. Terms
 * independent of the packet are computed once a pair of references.
 *
 * <p>Integers and doubles are converted by their bits. The processor's own instructions for conversion and rounding down keep
 * half of the register that they write, so each packet would depend on the one before. The results are equal. One thread. Never
 * allocates.
 */
final class Interpolation {
    /** From this value to its double, neighbouring doubles are consecutive integers, and so are their bits. */
    private static final double INTEGERS = 0x1p52;
    private static final int MANTISSA_BITS = 52;
    private static final long INTEGERS_BITS = Double.doubleToRawLongBits(INTEGERS);
    /** Middle of that range, for numbers of either sign. */
    private static final double MIDDLE = INTEGERS + INTEGERS / 2;
    private static final long MIDDLE_BITS = Double.doubleToRawLongBits(MIDDLE);
    private static final double MIDDLE_REACH = INTEGERS / 2;

    private long fromNs;
    private long fromDelayNs;
    private int fromBytes;
    private boolean isGap;
    private double spanNs;
    private double changeNs;
    private double changeBytes;
    private double nsPerByte;
    private Serialisation.OctetTime octetTime;

    /** Takes two references, and the time that an octet adds to a delay. */
    Interpolation between(final SettledReference left, final SettledReference right, final double serialisationNsPerByte) {
        fromNs = left.arrivalNs;
        fromDelayNs = left.delayNs;
        fromBytes = left.lengthBytes;
        isGap = right.arrivalNs > left.arrivalNs;
        spanNs = right.arrivalNs - left.arrivalNs;
        changeNs = right.delayNs - left.delayNs;
        changeBytes = right.lengthBytes - left.lengthBytes;
        nsPerByte = serialisationNsPerByte;
        octetTime = null;
        return this;
    }

    /** Adds what packets' own transmissions add to the line, once that is known. */
    Interpolation correct(final Serialisation.OctetTime time) {
        octetTime = time.isLearned() ? time : null;
        return this;
    }

    /** Position of a time between the references, from 0 to 1; 0 up to the first, or if both came at once. */
    double weight(final long arrivalNs) {
        return isGap && arrivalNs > fromNs ? toDouble(arrivalNs - fromNs) / spanNs : 0;
    }

    /** The delay of a packet between the references. */
    long delayNs(final long arrivalNs, final int lengthBytes) {
        final double weight = weight(arrivalNs);
        final double extraNs = nsPerByte == 0 ? 0 : nsPerByte * (lengthBytes - (fromBytes + weight * changeBytes));
        final double lineNs = weight * changeNs;
        return fromDelayNs + round(octetTime == null ? lineNs + extraNs :
            lineNs + extraNs + octetTime.addedNs(lengthBytes - fromBytes, fromDelayNs + lineNs));
    }

    /** As {@code (double)value}, for every value. */
    static double toDouble(final long value) {
        return value >>> MANTISSA_BITS == 0 ? Double.longBitsToDouble(INTEGERS_BITS | value) - INTEGERS : value;
    }

    /** As {@link Math#round(double)}, for every value. */
    static long round(final double value) {
        if (Math.abs(value) < MIDDLE_REACH) {
            // This rounds halves to even; the larger integer is wanted.
            final double rounded = value + MIDDLE;
            final long nearest = Double.doubleToRawLongBits(rounded) - MIDDLE_BITS;
            return value - (rounded - MIDDLE) == 0.5 ? nearest + 1 : nearest;
        }
        return Math.round(value);
    }
}
