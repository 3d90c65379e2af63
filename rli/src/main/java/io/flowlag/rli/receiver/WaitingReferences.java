package io.flowlag.rli.receiver;

/**
 * References whose effective send time is not known yet, in the order in which they came; and send times that came before their
 * reference. One thread. Allocates at construction.
 */
final class WaitingReferences {
    /** How many later references one waits for at most. */
    static final int CAPACITY = 8;

    private static final int MASK = CAPACITY - 1;
    private static final int EARLY = 256;
    private static final int EARLY_MASK = EARLY - 1;

    /** Octets of all fields. */
    static final int MEMORY_BYTES =
        CAPACITY * (3 * Long.BYTES + 2 * Integer.BYTES + 1) + EARLY * (Long.BYTES + Integer.BYTES + 1);

    private final int[] sequenceNumbers = new int[CAPACITY];
    private final long[] stampsNs = new long[CAPACITY];
    private final long[] sentNs = new long[CAPACITY];
    private final long[] arrivalsNs = new long[CAPACITY];
    private final int[] lengthsBytes = new int[CAPACITY];
    private final boolean[] isKnown = new boolean[CAPACITY];
    private long head;
    private long tail;

    private final int[] earlyNumbers = new int[EARLY];
    private final long[] earlySentNs = new long[EARLY];
    private final boolean[] isEarly = new boolean[EARLY];

    boolean isEmpty() {
        return head == tail;
    }

    boolean isFull() {
        return tail - head == CAPACITY;
    }

    int size() {
        return (int)(tail - head);
    }

    void add(final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes) {
        final int index = (int)tail++ & MASK;
        sequenceNumbers[index] = sequenceNumber;
        stampsNs[index] = stampNs;
        arrivalsNs[index] = arrivalNs;
        lengthsBytes[index] = lengthBytes;
        isKnown[index] = false;
    }

    void poll() {
        head++;
    }

    /** The position of the newest reference with a number, or -1. */
    long find(final int sequenceNumber) {
        for (long position = tail - 1; position >= head; position--) {
            if (sequenceNumbers[(int)position & MASK] == sequenceNumber) {
                return position;
            }
        }
        return -1;
    }

    void know(final long position, final long effectiveNs) {
        sentNs[(int)position & MASK] = effectiveNs;
        isKnown[(int)position & MASK] = true;
    }

    boolean isKnown(final long position) {
        return isKnown[(int)position & MASK];
    }

    /** A later one is known: this one's time will not come, for they come in order. */
    boolean isPassedOver() {
        for (long position = head + 1; position < tail; position++) {
            if (isKnown[(int)position & MASK]) {
                return true;
            }
        }
        return false;
    }

    long oldest() {
        return head;
    }

    long newest() {
        return tail - 1;
    }

    long stampNs(final long position) {
        return stampsNs[(int)position & MASK];
    }

    long sentNs(final long position) {
        return sentNs[(int)position & MASK];
    }

    long arrivalNs(final long position) {
        return arrivalsNs[(int)position & MASK];
    }

    int lengthBytes(final long position) {
        return lengthsBytes[(int)position & MASK];
    }

    /** Keeps a send time whose reference has not come. */
    void keepEarly(final int sequenceNumber, final long effectiveNs) {
        final int index = sequenceNumber & EARLY_MASK;
        earlyNumbers[index] = sequenceNumber;
        earlySentNs[index] = effectiveNs;
        isEarly[index] = true;
    }

    boolean hasEarly(final int sequenceNumber) {
        final int index = sequenceNumber & EARLY_MASK;
        return isEarly[index] && earlyNumbers[index] == sequenceNumber;
    }

    long takeEarlyNs(final int sequenceNumber) {
        isEarly[sequenceNumber & EARLY_MASK] = false;
        return earlySentNs[sequenceNumber & EARLY_MASK];
    }
}
