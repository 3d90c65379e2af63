package io.flowlag.exporter.delay.interval.records;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Where the fields of a record of {@link SketchRecords} lie, in octets; stateless.
 * <pre>
 *   0  flowHash            8
 *   8  references          4   open intervals with packets of the record, and its held packets
 *  12  place               4   slot in the cache while the flow lives, then among the waiting records, or NONE
 *  16  weight              4   in even generations of settings; 0 if no packet was seen
 *  20  otherWeight         4   in odd generations
 *  24  flags               4
 *  28  gatheredPackets     4   not in their cells yet, and not counted in packets
 *  32  newestInterval      8   in which the record has a packet
 *  40  gatheredTimeNs      8   sum of their times since the interval's start
 *  48  gatheredDigest      8   sum of their digests
 *  56  gatheredBytes       8
 *  64  packets             4 for each of 8 intervals, by the interval's number modulo 8
 *  96  firstInterval       8   in which the record has a packet
 * 104  classIndex          4
 * 108  unexpectedPackets   4
 * 112  drawnSumNs          4   packets times how far means drawn little are from the mean; as the next three floating point
 * 116  openPackets         4   that those means leave to the flow's lasting mean
 * 120  lastingSum          4   sum of weights times how far the flow's means are from all flows'
 * 124  lastingWeight       4
 * 128  answerFlags         4
 * 132  usableCells         4
 * 136  answeredPackets     8   behind the mean
 * 144  meanNs              8   floating point, as deviationsNs2, samples and lostPackets
 * 152  deviationsNs2       8   sum of squared deviations from the mean
 * 160  boundSumNs          4   sum of packets times bound, floating point of 4 octets
 * 164  boundSquareSumNs2   4   sum of its squares, likewise
 * 168  samples             8
 * 176  lostPackets         8
 * 184  lastInterval        8   that an ended flow's record waits for; the minimum before
 * 192  jointPackets        8   with an estimate by references and sketches together, or a parent that stands in
 * 200  jointMeanNs         8   floating point
 * 208  jointBoundSums      8   as boundSumNs and boundSquareSumNs2
 * 216  jointParentPackets  8   of the jointPackets, where references or sketches alone stand in
 * 224  truthPackets        8   of intervals in which the flow is a witness
 * 232  truthSumNs          8   of their delays
 * 240  jointBoundPackets   8   of the jointPackets, with a bound
 * 248  jointCellsSumNs     8   packets times how far the mean by cells alone is from the mean, floating point
 * </pre>
 * Four cache lines: a gathered packet needs only the first, the count of an interval's packets the second, and a result of cells
 * or sums the third.
 */
final class SketchRecordLayout {
    static final int FLOW_HASH_OFFSET = 0;
    static final int REFERENCES_OFFSET = FLOW_HASH_OFFSET + 8;
    static final int PLACE_OFFSET = REFERENCES_OFFSET + 4;
    static final int WEIGHT_OFFSET = PLACE_OFFSET + 4;
    static final int OTHER_WEIGHT_OFFSET = WEIGHT_OFFSET + 4;
    static final int FLAGS_OFFSET = OTHER_WEIGHT_OFFSET + 4;
    static final int GATHERED_PACKETS_OFFSET = FLAGS_OFFSET + 4;
    static final int NEWEST_INTERVAL_OFFSET = GATHERED_PACKETS_OFFSET + 4;
    static final int GATHERED_TIME_OFFSET = NEWEST_INTERVAL_OFFSET + 8;
    static final int GATHERED_DIGEST_OFFSET = GATHERED_TIME_OFFSET + 8;
    static final int GATHERED_BYTES_OFFSET = GATHERED_DIGEST_OFFSET + 8;
    static final int PACKETS_OFFSET = GATHERED_BYTES_OFFSET + 8;
    static final int FIRST_INTERVAL_OFFSET = PACKETS_OFFSET + SketchRecords.INTERVALS * Integer.BYTES;
    static final int CLASS_INDEX_OFFSET = FIRST_INTERVAL_OFFSET + 8;
    static final int UNEXPECTED_PACKETS_OFFSET = CLASS_INDEX_OFFSET + 4;
    static final int DRAWN_SUM_OFFSET = UNEXPECTED_PACKETS_OFFSET + 4;
    static final int OPEN_PACKETS_OFFSET = DRAWN_SUM_OFFSET + 4;
    static final int LASTING_SUM_OFFSET = OPEN_PACKETS_OFFSET + 4;
    static final int LASTING_WEIGHT_OFFSET = LASTING_SUM_OFFSET + 4;
    static final int ANSWER_FLAGS_OFFSET = 2 * CACHE_LINE_LENGTH;
    static final int USABLE_CELLS_OFFSET = ANSWER_FLAGS_OFFSET + 4;
    static final int ANSWERED_PACKETS_OFFSET = USABLE_CELLS_OFFSET + 4;
    static final int MEAN_OFFSET = ANSWERED_PACKETS_OFFSET + 8;
    static final int DEVIATIONS_OFFSET = MEAN_OFFSET + 8;
    static final int BOUND_SUM_OFFSET = DEVIATIONS_OFFSET + 8;
    static final int SAMPLES_OFFSET = BOUND_SUM_OFFSET + 2 * Float.BYTES;
    static final int LOST_PACKETS_OFFSET = SAMPLES_OFFSET + 8;
    static final int LAST_INTERVAL_OFFSET = LOST_PACKETS_OFFSET + 8;
    static final int JOINT_PACKETS_OFFSET = LAST_INTERVAL_OFFSET + 8;
    static final int JOINT_MEAN_OFFSET = JOINT_PACKETS_OFFSET + 8;
    static final int JOINT_BOUND_SUM_OFFSET = JOINT_MEAN_OFFSET + 8;
    static final int JOINT_PARENT_PACKETS_OFFSET = JOINT_BOUND_SUM_OFFSET + 8;
    static final int TRUTH_PACKETS_OFFSET = JOINT_PARENT_PACKETS_OFFSET + 8;
    static final int TRUTH_SUM_OFFSET = TRUTH_PACKETS_OFFSET + 8;
    static final int JOINT_BOUND_PACKETS_OFFSET = TRUTH_SUM_OFFSET + 8;
    static final int JOINT_CELLS_SUM_OFFSET = JOINT_BOUND_PACKETS_OFFSET + 8;
    static final int LENGTH_BYTES = 4 * CACHE_LINE_LENGTH;

    private SketchRecordLayout() {
    }
}
