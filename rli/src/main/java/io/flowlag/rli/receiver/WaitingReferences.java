package io.flowlag.rli.receiver;

/**
 * References without an effective send time yet, in order of arrival; send times that came before their reference; and stamps of
 * references that could not wait. One thread. Allocates at construction.
 */
final class WaitingReferences {
    /** Most later references while one waits. */
    static final int CAPACITY = 128;
    /** Later references for which one waits regardless of time. */
    static final int PATIENT_COUNT = 8;
    /** A sender keeps a send time for 100 ms; observing, carrying and delivering it takes additional time. */
    private static final long PATIENCE_NS = 250_000_000L;

    private static final int MASK = CAPACITY - 1;
    private static final int KEPT = 256;
    private static final int KEPT_MASK = KEPT - 1;
    private static final byte NOTHING = 0;
    private static final byte SEND_TIME = 1;
    private static final byte STAMP = 2;
    /** Octets of all fields. */
    static final int MEMORY_BYTES =
        CAPACITY * (3 * Long.BYTES + 2 * Integer.BYTES + 2) + KEPT * (Long.BYTES + Integer.BYTES + 1);

    private final int[] sequenceNumbers = new int[CAPACITY];
    private final long[] stampsNs = new long[CAPACITY];
    private final long[] sentNs = new long[CAPACITY];
    private final long[] arrivalsNs = new long[CAPACITY];
    private final int[] lengthsBytes = new int[CAPACITY];
    private final byte[] lanes = new byte[CAPACITY];
    private final boolean[] isKnown = new boolean[CAPACITY];
    private long head;
    private long tail;

    private final int[] keptNumbers = new int[KEPT];
    private final long[] keptNs = new long[KEPT];
    private final byte[] keptKinds = new byte[KEPT];

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether the oldest one stops waiting for its send time when a later one arrives; with room while packets may wait on. */
    boolean isOver(final long laterNs, final boolean hasRoom) {
        return isFull() || size() >= PATIENT_COUNT && (laterNs - arrivalNs(oldest()) > PATIENCE_NS || !hasRoom);
    }

    private boolean isFull() {
        return tail - head == CAPACITY;
    }

    int size() {
        return (int)(tail - head);
    }

    void add(
        final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes, final int lane) {
        final int index = (int)tail++ & MASK;
        sequenceNumbers[index] = sequenceNumber;
        stampsNs[index] = stampNs;
        arrivalsNs[index] = arrivalNs;
        lengthsBytes[index] = lengthBytes;
        lanes[index] = (byte)lane;
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

    /** Whether the send time of a later number is known: send times come in order, so this one will not come. */
    boolean isPassedOver() {
        final int oldest = sequenceNumbers[(int)head & MASK];
        for (long position = head + 1; position < tail; position++) {
            if (isKnown[(int)position & MASK] && sequenceNumbers[(int)position & MASK] - oldest > 0) {
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

    int sequenceNumber(final long position) {
        return sequenceNumbers[(int)position & MASK];
    }

    int lane(final long position) {
        return lanes[(int)position & MASK];
    }

    int lengthBytes(final long position) {
        return lengthsBytes[(int)position & MASK];
    }

    /** Keeps a send time whose reference has not come. */
    void keepSendTime(final int sequenceNumber, final long effectiveNs) {
        keep(sequenceNumber, effectiveNs, SEND_TIME);
    }

    boolean hasSendTime(final int sequenceNumber) {
        return isKept(sequenceNumber, SEND_TIME);
    }

    /** Keeps the stamp of a reference whose send time has not come. */
    void keepStamp(final int sequenceNumber, final long stampNs) {
        keep(sequenceNumber, stampNs, STAMP);
    }

    boolean hasStamp(final int sequenceNumber) {
        return isKept(sequenceNumber, STAMP);
    }

    /** Returns and removes the kept send time or stamp. */
    long takeKeptNs(final int sequenceNumber) {
        keptKinds[sequenceNumber & KEPT_MASK] = NOTHING;
        return keptNs[sequenceNumber & KEPT_MASK];
    }

    private void keep(final int sequenceNumber, final long timeNs, final byte kind) {
        final int index = sequenceNumber & KEPT_MASK;
        keptNumbers[index] = sequenceNumber;
        keptNs[index] = timeNs;
        keptKinds[index] = kind;
    }

    private boolean isKept(final int sequenceNumber, final byte kind) {
        final int index = sequenceNumber & KEPT_MASK;
        return keptKinds[index] == kind && keptNumbers[index] == sequenceNumber;
    }
}
