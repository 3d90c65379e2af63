package io.flowlag.exporter.delay.interval.records;

/** An interval of the receiver point, as comparison and joint estimation see it. The metering thread owns it. */
public interface ReceiverInterval extends SenderAnswer {
    /** {@return start of the interval, ns since the epoch} */
    long startNs();

    /** {@return the records with packets in it} */
    RecordList records();

    /** {@return sums of estimates by cell; none without joint estimation} */
    CellEstimates estimates();

    /** Marks that this point lost packets of its own: missing packets were not necessarily lost on the path. */
    void markDamaged();

    /** {@return whether packets may have arrived later than packets are held for; the loss then needs reconciliation} */
    boolean isLateExpected();

    /** {@return packets that arrived so long before the end that the sender's list has them only if the clocks differ} */
    int earlyCount();

    /** The digest of an early packet. */
    long early(int index);
}
