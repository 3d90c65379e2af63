package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.LossKind;

import static io.flowlag.exporter.delay.interval.records.SketchRecordLayout.*;
import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The sketch results of each flow record, while its flow lives and while it waits: packets in each open interval, and the results
 * of closed ones. A record is an index; it is freed when nothing refers to it.
 * {@link SketchRecordLayout} says where its fields lie. One thread, or one for each shard's records. Allocates at construction,
 * off the heap.
 */
public final class SketchRecords {
    public static final int NONE = -1;
    /** Most records, because they lie in one buffer. */
    public static final int MAX_RECORDS = Integer.MAX_VALUE / (4 * CACHE_LINE_LENGTH);
    /** Number of consecutive intervals whose packets a record counts separately. */
    public static final int INTERVALS = 8;
    private static final int FLAG_IN_USE = 1;
    private static final int FLAG_LIVE = 1 << 1;
    private static final int FLAG_WHOLE_PACKETS = 1 << 2;
    private static final int ANSWER_LOSS_KNOWN = 1;
    private static final int ANSWER_LOSS_UNKNOWN = 1 << 1;
    private static final int ANSWER_LOSS_BOUND = 1 << 2;
    private static final int ANSWER_NO_DEVIATION = 1 << 3;
    private static final int ANSWER_NO_BOUND = 1 << 5;
    private static final int ANSWER_JOINT_TOLD = 1 << 7;
    private static final int ANSWER_UNEXPECTED_UNKNOWN = 1 << 8;

    private final OffHeapBuffer rows;
    private final RecordList.Free indexes;

    public SketchRecords(final int capacity) {
        this(OffHeapBuffer.allocateUntouched(Math.multiplyExact(capacity, LENGTH_BYTES)), new RecordList.Free(capacity));
    }

    private SketchRecords(final OffHeapBuffer rows, final RecordList.Free indexes) {
        this.rows = rows;
        this.indexes = indexes;
    }

    /** {@return the records of one more shard, in the same rows; before any is opened} */
    SketchRecords shard() {
        return new SketchRecords(rows, indexes.shard());
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)capacity * (LENGTH_BYTES + Integer.BYTES);
    }

    /** {@return a new record of a living flow, or {@link #NONE} if there is no room} */
    public int open(final long flowHash, final int classIndex, final int slot, final long firstInterval) {
        final int record = indexes.take();
        if (record == NONE) {
            return NONE;
        }
        final int row = row(record);
        rows.setMemory(row, LENGTH_BYTES, (byte)0);
        rows.putLong(row + FLOW_HASH_OFFSET, flowHash);
        rows.putInt(row + PLACE_OFFSET, slot);
        rows.putInt(row + CLASS_INDEX_OFFSET, classIndex);
        rows.putInt(row + FLAGS_OFFSET, FLAG_IN_USE | FLAG_LIVE);
        rows.putLong(row + FIRST_INTERVAL_OFFSET, firstInterval);
        rows.putLong(row + NEWEST_INTERVAL_OFFSET, Long.MIN_VALUE);
        rows.putLong(row + LAST_INTERVAL_OFFSET, Long.MIN_VALUE);
        return record;
    }

    /** Prefetches the data of a record that a packet needs. */
    int touch(final int record) {
        return rows.getInt(row(record) + WEIGHT_OFFSET);
    }

    /** Prefetches as {@link #touch}; for {@link #NONE} another record. The caller must keep the result, or nothing is read. */
    public long touchLikely(final int record) {
        return touch(Math.max(0, record));
    }

    /** Prefetches the packet counts of a record, as {@link #touch}. */
    int touchPackets(final int record) {
        return rows.getInt(row(record) + PACKETS_OFFSET);
    }

    /** Prefetches the results of a record, as {@link #touch}. */
    public long touchAnswers(final int record) {
        return rows.getLong(row(record) + MEAN_OFFSET);
    }

    /** Frees a record without references. */
    void free(final int record) {
        rows.putInt(row(record) + FLAGS_OFFSET, 0);
        lastInterval(record, Long.MIN_VALUE);
        indexes.free(record);
    }

    public void retain(final int record) {
        addInt(row(record) + REFERENCES_OFFSET, 1);
    }

    /** Removes a reference. Returns whether it was the last. */
    boolean release(final int record) {
        final int at = row(record) + REFERENCES_OFFSET;
        final int references = rows.getInt(at) - 1;
        rows.putInt(at, references);
        return references == 0;
    }

    boolean isReferred(final int record) {
        return rows.getInt(row(record) + REFERENCES_OFFSET) > 0;
    }

    boolean isInUse(final int record) {
        return has(record, FLAG_IN_USE);
    }

    boolean isLive(final int record) {
        return has(record, FLAG_LIVE);
    }

    /** Ends the flow; its record is kept at another place, or nowhere. */
    void end(final int record, final int place) {
        rows.putInt(row(record) + FLAGS_OFFSET, rows.getInt(row(record) + FLAGS_OFFSET) & ~FLAG_LIVE);
        rows.putInt(row(record) + PLACE_OFFSET, place);
    }

    int place(final int record) {
        return rows.getInt(row(record) + PLACE_OFFSET);
    }

    /** Whether the record's hash is that of its flow's whole packets. Returns false if a fragment may have opened the record. */
    public boolean isOfWholePackets(final int record) {
        return has(record, FLAG_WHOLE_PACKETS);
    }

    /** Sets whether the packet that opened a record was a whole one. */
    public void ofWholePackets(final int record, final boolean isWhole) {
        final int at = row(record) + FLAGS_OFFSET;
        rows.putInt(at, rows.getInt(at) | (isWhole ? FLAG_WHOLE_PACKETS : 0));
    }

    /** {@return the segment flow hash of the packet that opened the record} */
    public long flowHash(final int record) {
        return rows.getLong(row(record) + FLOW_HASH_OFFSET);
    }

    /** The weight of the record's flow in a generation of settings; 0 if none of its packets was seen in it. */
    public int weight(final int record, final int settingsRun) {
        return rows.getInt(row(record) + weightOffset(settingsRun));
    }

    public void weight(final int record, final int settingsRun, final int weight) {
        rows.putInt(row(record) + weightOffset(settingsRun), weight);
    }

    /** Clears the weights of an ended generation, whose place the next but one uses. */
    public void forgetWeights(final int settingsRun) {
        for (int record = 0; record < limit(); record++) {
            rows.putInt(row(record) + weightOffset(settingsRun), 0);
        }
    }

    private static int weightOffset(final int settingsRun) {
        return (settingsRun & 1) == 0 ? WEIGHT_OFFSET : OTHER_WEIGHT_OFFSET;
    }

    public int classIndex(final int record) {
        return rows.getInt(row(record) + CLASS_INDEX_OFFSET);
    }

    public long firstInterval(final int record) {
        return rows.getLong(row(record) + FIRST_INTERVAL_OFFSET);
    }

    public void firstInterval(final int record, final long number) {
        rows.putLong(row(record) + FIRST_INTERVAL_OFFSET, Math.min(firstInterval(record), number));
    }

    /** {@return whether the record's flow lived at an interval's end, and has no packet in it} */
    public boolean isSilent(final int record, final long intervalNumber) {
        return (isLive(record) || intervalNumber <= lastInterval(record)) && packets(record, intervalNumber) == 0 &&
            firstInterval(record) <= intervalNumber;
    }

    /** The last interval that an ended flow's record waits for without a packet in it. */
    long lastInterval(final int record) {
        return rows.getLong(row(record) + LAST_INTERVAL_OFFSET);
    }

    void lastInterval(final int record, final long number) {
        rows.putLong(row(record) + LAST_INTERVAL_OFFSET, number);
    }

    /** {@return upper limit of all record indices ever used, exclusive} */
    public int limit() {
        return indexes.limit();
    }

    /** Whether a packet is the first in an interval: {@link #begin} follows. Gathered packets belong to the newest interval. */
    public boolean isFirst(final int record, final long intervalNumber) {
        final long newest = rows.getLong(row(record) + NEWEST_INTERVAL_OFFSET);
        return newest < intervalNumber || newest > intervalNumber && packets(record, intervalNumber) == 0;
    }

    /** Whether a whole packet of the flow may be gathered: the interval is the record's newest, and has that weight. */
    public boolean isGathering(final int record, final long intervalNumber, final int settingsRun, final int weight) {
        final int row = row(record);
        return rows.getLong(row + NEWEST_INTERVAL_OFFSET) == intervalNumber &&
            rows.getInt(row + weightOffset(settingsRun)) == weight &&
            (rows.getInt(row + FLAGS_OFFSET) & FLAG_WHOLE_PACKETS) != 0;
    }

    /** {@return whether the record has packets in a later interval} */
    public boolean hasPacketsAfter(final int record, final long intervalNumber) {
        return rows.getLong(row(record) + NEWEST_INTERVAL_OFFSET) > intervalNumber;
    }

    /** Begins an interval of the record, at its first packet there. */
    public void begin(final int record, final long intervalNumber) {
        final int at = row(record) + NEWEST_INTERVAL_OFFSET;
        rows.putLong(at, Math.max(rows.getLong(at), intervalNumber));
    }

    public void countPacket(final int record, final long intervalNumber) {
        addInt(row(record) + packetsOffset(intervalNumber), 1);
    }

    /** Gathers a packet of the record, outside its cells. */
    public void gather(final int record, final long timeNs, final long digest, final int lengthBytes) {
        final int row = row(record);
        addInt(row + GATHERED_PACKETS_OFFSET, 1);
        addLong(row + GATHERED_TIME_OFFSET, timeNs);
        addLong(row + GATHERED_DIGEST_OFFSET, digest);
        addLong(row + GATHERED_BYTES_OFFSET, lengthBytes);
    }

    public int gatheredPackets(final int record) {
        return rows.getInt(row(record) + GATHERED_PACKETS_OFFSET);
    }

    public long gatheredTimeNs(final int record) {
        return rows.getLong(row(record) + GATHERED_TIME_OFFSET);
    }

    public long gatheredDigest(final int record) {
        return rows.getLong(row(record) + GATHERED_DIGEST_OFFSET);
    }

    public long gatheredBytes(final int record) {
        return rows.getLong(row(record) + GATHERED_BYTES_OFFSET);
    }

    /** Counts the gathered packets in the interval, once they are in the cells. */
    public void settle(final int record, final long intervalNumber) {
        final int row = row(record);
        addInt(row + packetsOffset(intervalNumber), rows.getInt(row + GATHERED_PACKETS_OFFSET));
        rows.putInt(row + GATHERED_PACKETS_OFFSET, 0);
        rows.putLong(row + GATHERED_TIME_OFFSET, 0);
        rows.putLong(row + GATHERED_DIGEST_OFFSET, 0);
        rows.putLong(row + GATHERED_BYTES_OFFSET, 0);
    }

    public int packets(final int record, final long intervalNumber) {
        return rows.getInt(row(record) + packetsOffset(intervalNumber));
    }

    public void clearPackets(final int record, final long intervalNumber) {
        rows.putInt(row(record) + packetsOffset(intervalNumber), 0);
    }

    /** Adds an interval's estimate of the flow, of whose packets the record has a share, whose delays may deviate. */
    public void addDelay(final int record, final int packets, final double share, final FlowEstimate estimate) {
        final int row = row(record);
        double deviationsNs2 = addMean(row, packets, estimate.meanNs());
        if (estimate.isDrawn()) {
            addLasting(row, packets, estimate);
        }
        if (share == 1 && estimate.hasStandardDeviation()) {
            deviationsNs2 += packets * estimate.standardDeviationNs() * estimate.standardDeviationNs();
        } else {
            say(record, ANSWER_NO_DEVIATION);
        }
        addDouble(row + DEVIATIONS_OFFSET, deviationsNs2);
        if (share == 1) {
            addBound(row + BOUND_SUM_OFFSET, packets * estimate.boundNs());
        } else if (estimate.hasStandardDeviation()) {
            addBound(row + BOUND_SUM_OFFSET, packets * (estimate.boundNs() + partNs(share, estimate)));
        } else {
            say(record, ANSWER_NO_BOUND);
        }
        addDouble(row + SAMPLES_OFFSET, share * estimate.samples());
        addInt(row + USABLE_CELLS_OFFSET, estimate.usableCells());
    }

    /**
     * Adds what the flow's lasting mean follows from. Within an interval a mean is b + v off it: it changes, and cells err. Known
     * that mean, the interval's is drawn to it by v / (b + v).
     */
    private void addLasting(final int row, final int packets, final FlowEstimate estimate) {
        final double offsetNs = estimate.cellsMeanNs() - estimate.levelNs();
        final double weight = 1 / (estimate.changeVarianceNs2() + estimate.cellsVarianceNs2());
        final double open = estimate.cellsVarianceNs2() * weight;
        addFloat(row + DRAWN_SUM_OFFSET, packets * (estimate.cellsMeanNs() - open * offsetNs - estimate.meanNs()));
        addFloat(row + OPEN_PACKETS_OFFSET, packets * open);
        addFloat(row + LASTING_SUM_OFFSET, weight * offsetNs);
        final boolean isFirst = rows.getFloat(row + LASTING_WEIGHT_OFFSET) == 0;
        addFloat(row + LASTING_WEIGHT_OFFSET, isFirst ? weight + 1 / estimate.lastingVarianceNs2() : weight);
    }

    /** How far the mean of a share s of packets is from that of all, at most: σ·√((1 - s)/s), with σ at its bound. */
    private static double partNs(final double share, final FlowEstimate estimate) {
        return (estimate.standardDeviationNs() + estimate.standardDeviationBoundNs()) * Math.sqrt((1 - share) / share);
    }

    /** Adds the exact mean of a flow in an interval; the record has all of the flow's packets, or a part. */
    public void addExactDelay(final int record, final int packets, final boolean isWhole, final double meanNs) {
        addMean(row(record), packets, meanNs);
        addDouble(row(record) + SAMPLES_OFFSET, packets);
        say(record, isWhole ? ANSWER_NO_DEVIATION : ANSWER_NO_DEVIATION | ANSWER_NO_BOUND);
    }

    /** Adds packets to the mean. Returns the squared deviations from the mean that this adds, between the parts. */
    private double addMean(final int row, final int packets, final double meanNs) {
        final double before = rows.getLong(row + ANSWERED_PACKETS_OFFSET);
        final double after = before + packets;
        final double distanceNs = meanNs - rows.getDouble(row + MEAN_OFFSET);
        rows.putLong(row + ANSWERED_PACKETS_OFFSET, (long)after);
        addDouble(row + MEAN_OFFSET, distanceNs * packets / after);
        return distanceNs * distanceNs * before * packets / after;
    }

    /** Adds the estimate of the record's packets in an interval by references and sketches together, or by one as a stand-in. */
    public void addJoint(
        final int record, final int packets, final double meanNs, final double cellsMeanNs, final double boundNs,
        final boolean isStandIn) {
        final int row = row(record);
        addDouble(row + JOINT_CELLS_SUM_OFFSET, packets * (cellsMeanNs - meanNs));
        final long after = rows.getLong(row + JOINT_PACKETS_OFFSET) + packets;
        rows.putLong(row + JOINT_PACKETS_OFFSET, after);
        addDouble(row + JOINT_MEAN_OFFSET, (meanNs - rows.getDouble(row + JOINT_MEAN_OFFSET)) * packets / after);
        addLong(row + JOINT_BOUND_PACKETS_OFFSET, Double.isNaN(boundNs) ? 0 : packets);
        addBound(row + JOINT_BOUND_SUM_OFFSET, Double.isNaN(boundNs) ? 0 : packets * boundNs);
        addLong(row + JOINT_PARENT_PACKETS_OFFSET, isStandIn ? packets : 0);
    }

    /** Adds the true delay sum of the record's packets in an interval, for a witness flow. */
    public void addTruth(final int record, final long packets, final long sumNs) {
        addLong(row(record) + TRUTH_PACKETS_OFFSET, packets);
        addLong(row(record) + TRUTH_SUM_OFFSET, sumNs);
    }

    /** Packets of the record with a known true mean, because its flow is a witness. */
    public long truthPackets(final int record) {
        return rows.getLong(row(record) + TRUTH_PACKETS_OFFSET);
    }

    /** {@return the true mean of those packets, ns, signed} */
    public double truthNs(final int record) {
        return rows.getLong(row(record) + TRUTH_SUM_OFFSET) / (double)truthPackets(record);
    }

    /** Marks that the truth of an interval is in the joint mean. */
    public void addJointTold(final int record) {
        say(record, ANSWER_JOINT_TOLD);
    }

    /** Adds the flow's loss in an interval: exact only for a record with all packets; else each record may have lost them all. */
    public void addLoss(final int record, final double lostPackets, final LossKind kind) {
        if (kind == LossKind.EXACT || kind == LossKind.UPPER_BOUND) {
            addDouble(row(record) + LOST_PACKETS_OFFSET, lostPackets);
            say(record, kind == LossKind.EXACT ? ANSWER_LOSS_KNOWN : ANSWER_LOSS_KNOWN | ANSWER_LOSS_BOUND);
            say(record, kind == LossKind.EXACT && lostPackets == 0 ? 0 : ANSWER_UNEXPECTED_UNKNOWN);
        } else {
            addUnknownLoss(record);
        }
    }

    /** Adds the flow's loss in an interval, as {@link #addLoss}, from packets listed one by one. */
    public void addListedLoss(final int record, final double lostPackets, final long unexpectedPackets, final LossKind kind) {
        addDouble(row(record) + LOST_PACKETS_OFFSET, lostPackets);
        final int at = row(record) + UNEXPECTED_PACKETS_OFFSET;
        rows.putInt(at, (int)Math.min(Integer.MAX_VALUE, rows.getInt(at) + unexpectedPackets));
        say(record, kind == LossKind.EXACT ? ANSWER_LOSS_KNOWN : ANSWER_LOSS_KNOWN | ANSWER_LOSS_BOUND);
    }

    public void addUnknownLoss(final int record) {
        say(record, ANSWER_LOSS_UNKNOWN);
    }

    public boolean hasMean(final int record) {
        return answeredPackets(record) > 0;
    }

    /** The mean over all answered intervals, weighted by the record's packets. Returns ns, signed. */
    public long meanNs(final int record) {
        return Math.round(rows.getDouble(row(record) + MEAN_OFFSET));
    }

    /** {@return the mean if intervals are drawn to the flow's lasting mean, and that once to all flows'; ns, signed} */
    public long lastingMeanNs(final int record) {
        final int row = row(record);
        final double weight = rows.getFloat(row + LASTING_WEIGHT_OFFSET);
        final double lastingNs = weight > 0 ? rows.getFloat(row + LASTING_SUM_OFFSET) / weight : 0;
        final double sumNs = rows.getFloat(row + DRAWN_SUM_OFFSET) + rows.getFloat(row + OPEN_PACKETS_OFFSET) * lastingNs;
        return Math.round(rows.getDouble(row + MEAN_OFFSET) + sumNs / answeredPackets(record));
    }

    /** Packets of the record that the mean covers; 0 without a mean. */
    public long answeredPackets(final int record) {
        return rows.getLong(row(record) + ANSWERED_PACKETS_OFFSET);
    }

    /** Packets in the cells behind the mean. Returns at least 1. */
    public long samples(final int record) {
        return Math.max(1, Math.round(rows.getDouble(row(record) + SAMPLES_OFFSET)));
    }

    public int usableCells(final int record) {
        return rows.getInt(row(record) + USABLE_CELLS_OFFSET);
    }

    /** Whether every interval with a mean has a standard deviation of the record's packets too. */
    public boolean hasStandardDeviation(final int record) {
        return hasMean(record) && !says(record, ANSWER_NO_DEVIATION);
    }

    /** The standard deviation within and between the intervals. Returns ns. */
    public double standardDeviationNs(final int record) {
        return Math.sqrt(rows.getDouble(row(record) + DEVIATIONS_OFFSET) / answeredPackets(record));
    }

    /** Whether the mean has a bound. Where the record has only a part of the flow, this requires the standard deviation. */
    public boolean hasBound(final int record) {
        return hasMean(record) && !says(record, ANSWER_NO_BOUND);
    }

    /** Whether some part of the mean comes from cells. */
    public boolean hasCells(final int record) {
        return usableCells(record) > 0;
    }

    /** The average of the intervals' half widths of 95 %: the record's, if all errors are alike. Returns ns, rounded up. */
    public long boundNs(final int record) {
        return (long)Math.ceil(rows.getFloat(row(record) + BOUND_SUM_OFFSET) / answeredPackets(record));
    }

    /** {@return the number of equal intervals whose independent errors would average out as the record's: 1 or more} */
    public double boundIntervals(final int record) {
        return intervals(row(record) + BOUND_SUM_OFFSET);
    }

    /** As {@link #boundIntervals}, of the joint mean. */
    public double jointBoundIntervals(final int record) {
        return intervals(row(record) + JOINT_BOUND_SUM_OFFSET);
    }

    private double intervals(final int at) {
        final double sumNs = rows.getFloat(at);
        return sumNs > 0 ? Math.max(1, sumNs * sumNs / rows.getFloat(at + Float.BYTES)) : 1;
    }

    /** Whether references and sketches were solved together for some of the record's packets. */
    public boolean hasJointMean(final int record) {
        return jointPackets(record) > rows.getLong(row(record) + JOINT_PARENT_PACKETS_OFFSET);
    }

    /** Packets of the record with an estimate by references and sketches together, or by a parent as stand-in. */
    public long jointPackets(final int record) {
        return rows.getLong(row(record) + JOINT_PACKETS_OFFSET);
    }

    /** {@return the joint mean over all answered intervals, weighted by the record's packets, ns, signed} */
    public long jointMeanNs(final int record) {
        return Math.round(rows.getDouble(row(record) + JOINT_MEAN_OFFSET));
    }

    /** {@return the joint mean as cells alone have it, without what is learned of all flows; ns, signed} */
    public long jointCellsMeanNs(final int record) {
        return Math.round(rows.getDouble(row(record) + JOINT_MEAN_OFFSET) +
            rows.getDouble(row(record) + JOINT_CELLS_SUM_OFFSET) / jointPackets(record));
    }

    /** Whether every packet behind the joint mean has a bound. */
    public boolean hasJointBound(final int record) {
        return hasJointMean(record) && jointBoundPackets(record) == jointPackets(record);
    }

    public long jointBoundPackets(final int record) {
        return rows.getLong(row(record) + JOINT_BOUND_PACKETS_OFFSET);
    }

    /** {@return the bound of the joint mean, as {@link #boundNs}, over packets with one; at least 1, as means are whole ns} */
    public long jointBoundNs(final int record) {
        final double sumNs = rows.getFloat(row(record) + JOINT_BOUND_SUM_OFFSET);
        return (long)Math.max(1, Math.ceil(sumNs / jointBoundPackets(record)));
    }

    /** Whether part of the joint mean was reported and not estimated. */
    public boolean isJointTold(final int record) {
        return says(record, ANSWER_JOINT_TOLD);
    }

    /** Whether the loss is known in each interval in which the flow lived. */
    public boolean hasLoss(final int record) {
        return says(record, ANSWER_LOSS_KNOWN) && !says(record, ANSWER_LOSS_UNKNOWN);
    }

    /** Whether the loss is exact: 0, or the difference of two counts; otherwise it is an upper bound. */
    public boolean isLossExact(final int record) {
        return !says(record, ANSWER_LOSS_BOUND);
    }

    /** The lost packets, or an upper bound on them. Returns packets, rounded up. */
    public long lostPackets(final int record) {
        return (long)Math.ceil(rows.getDouble(row(record) + LOST_PACKETS_OFFSET) - 1e-6);
    }

    /** Whether the packets received but never sent are known for each interval in which the flow lived; the loss is exact. */
    public boolean hasUnexpected(final int record) {
        return !says(record, ANSWER_UNEXPECTED_UNKNOWN);
    }

    /** {@return the packets received but never sent, where they are known} */
    public long unexpectedPackets(final int record) {
        return rows.getInt(row(record) + UNEXPECTED_PACKETS_OFFSET);
    }

    private boolean has(final int record, final int flag) {
        return (rows.getInt(row(record) + FLAGS_OFFSET) & flag) != 0;
    }

    private boolean says(final int record, final int answer) {
        return (rows.getInt(row(record) + ANSWER_FLAGS_OFFSET) & answer) != 0;
    }

    private void say(final int record, final int answers) {
        final int at = row(record) + ANSWER_FLAGS_OFFSET;
        rows.putInt(at, rows.getInt(at) | answers);
    }

    private void addInt(final int at, final int amount) {
        rows.putInt(at, rows.getInt(at) + amount);
    }

    private void addLong(final int at, final long amount) {
        rows.putLong(at, rows.getLong(at) + amount);
    }

    private void addBound(final int at, final double sumNs) {
        addFloat(at, sumNs);
        addFloat(at + Float.BYTES, sumNs * sumNs);
    }

    private void addFloat(final int at, final double amount) {
        rows.putFloat(at, (float)(rows.getFloat(at) + amount));
    }

    private void addDouble(final int at, final double amount) {
        rows.putDouble(at, rows.getDouble(at) + amount);
    }

    private static int packetsOffset(final long intervalNumber) {
        return PACKETS_OFFSET + (int)(intervalNumber & INTERVALS - 1) * Integer.BYTES;
    }

    private static int row(final int record) {
        return record * LENGTH_BYTES;
    }
}
