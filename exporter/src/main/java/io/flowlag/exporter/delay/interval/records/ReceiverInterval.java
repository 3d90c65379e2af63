package io.flowlag.exporter.delay.interval.records;

/** An interval of the receiver point, as comparison and joint estimation see it. The metering thread owns it. */
public interface ReceiverInterval extends SenderAnswer {
    /** {@return when the interval begins, ns since the epoch} */
    long startNs();

    /** {@return the records that have packets in it} */
    RecordList records();

    /** {@return sums of estimates by cell; null without joint estimation} */
    CellEstimates estimates();

    /** Marks that this point lost packets of its own: what is missing here may not have been lost on the path. */
    void markDamaged();

    /** {@return whether packets may have come later than they were held for,
        so that only a reconciled interval tells its loss} */
    boolean isLateExpected();

    /** {@return how many packets came so long before the end that the sender's list has them only if the clocks are apart} */
    int earlyCount();

    /** The digest of one of those packets. */
    long early(int index);
}
