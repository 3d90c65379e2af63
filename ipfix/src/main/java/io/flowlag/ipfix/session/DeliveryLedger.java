package io.flowlag.ipfix.session;

/**
 * Messages accepted by a transport until the fate of their records is known: a bounded queue of each message's end in the
 * connection's octets and its record counts. Delivered messages stay for a while, because a broken connection makes the last of
 * them uncertain. Used by one thread; allocates at construction.
 */
final class DeliveryLedger {
    private final long[] endOctets;
    private final int[] flowRecords;
    private final int[] optionsRecords;
    private final long[] packets;
    private final long[] octets;
    private long tail;
    private long settled;
    private long head;

    /** A ledger for so many messages, a power of two. */
    DeliveryLedger(final int capacity) {
        endOctets = new long[capacity];
        flowRecords = new int[capacity];
        optionsRecords = new int[capacity];
        packets = new long[capacity];
        octets = new long[capacity];
    }

    /** Whether every place is taken by a message that has not been delivered. */
    boolean isFull() {
        return tail - settled == endOctets.length;
    }

    boolean isSettled() {
        return tail == settled;
    }

    void add(
        final long messageEndOctets, final int messageFlowRecords, final int messageOptionsRecords, final long messagePackets,
        final long messageOctets) {
        if (tail - head == endOctets.length) {
            head++;
        }
        final int index = index(tail++);
        endOctets[index] = messageEndOctets;
        flowRecords[index] = messageFlowRecords;
        optionsRecords[index] = messageOptionsRecords;
        packets[index] = messagePackets;
        octets[index] = messageOctets;
    }

    /** Whether the oldest message that is not settled ends within the delivered octets. */
    boolean isNextDelivered(final long deliveredOctets) {
        return settled < tail && endOctets[index(settled)] <= deliveredOctets;
    }

    int nextFlowRecords() {
        return flowRecords[index(settled)];
    }

    int nextOptionsRecords() {
        return optionsRecords[index(settled)];
    }

    long nextPackets() {
        return packets[index(settled)];
    }

    long nextOctets() {
        return octets[index(settled)];
    }

    void settleNext() {
        settled++;
    }

    /** Flow records of delivered messages that end behind a position. */
    long settledFlowRecordsBehind(final long octetsPosition) {
        long sum = 0;
        for (long i = settled - 1; i >= head && endOctets[index(i)] > octetsPosition; i--) {
            sum += flowRecords[index(i)];
        }
        return sum;
    }

    /** Options records of delivered messages that end behind a position. */
    long settledOptionsRecordsBehind(final long octetsPosition) {
        long sum = 0;
        for (long i = settled - 1; i >= head && endOctets[index(i)] > octetsPosition; i--) {
            sum += optionsRecords[index(i)];
        }
        return sum;
    }

    void clear() {
        tail = 0;
        settled = 0;
        head = 0;
    }

    private int index(final long sequence) {
        return (int)sequence & endOctets.length - 1;
    }
}
