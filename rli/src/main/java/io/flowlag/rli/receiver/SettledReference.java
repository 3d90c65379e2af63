package io.flowlag.rli.receiver;

/** A reference whose delay is known. One thread. Never allocates. */
final class SettledReference {
    long arrivalNs;
    long delayNs;
    int lengthBytes;

    void set(final long newArrivalNs, final long newDelayNs, final int newLengthBytes) {
        arrivalNs = newArrivalNs;
        delayNs = newDelayNs;
        lengthBytes = newLengthBytes;
    }

    void set(final SettledReference other) {
        set(other.arrivalNs, other.delayNs, other.lengthBytes);
    }
}
