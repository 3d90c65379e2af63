package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.exporter.delay.interval.records.CellEstimates;
import io.flowlag.exporter.delay.interval.records.IntervalKeys;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.joint.JointStatus;
import io.flowlag.sketch.joint.JointTier;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * A copy of the data of an interval for the solver, and its results. It belongs to one thread at a time. Allocates at
 * construction.
 */
final class JointTask {
    /** Octets of a record: input and results. */
    private static final int RECORD_BYTES = 6 * Long.BYTES + 4 * Integer.BYTES + 3 * Long.BYTES + 2 * Byte.BYTES;
    /** Octets of a witness flow. */
    private static final int WITNESS_BYTES = 3 * Long.BYTES;

    final SketchImage sender = new SketchImage();
    final SketchImage receiver = new SketchImage();
    final long[] cellEstimatesNs;
    final int[] records;
    final long[] flowHashes;
    final int[] packets;
    final int[] weights;
    final int[] classIndexes;
    final long[] estimates;
    final long[] estimateSumsNs;
    final double[] estimateSquareSumsNs2;
    /** Scale of the error of the estimates' mean; NaN if unknown. */
    final double[] errorScalesNs;
    final long[] witnessHashes;
    final long[] witnessPackets;
    final long[] witnessSumsNs;
    /** Hashes of other flows with known sums, used to check bounds. */
    final long[] otherHashes;
    final long[] otherPackets;
    final long[] otherSumsNs;
    long number;
    long startNs;
    long endNs;
    long leastEstimateNs;
    int recordCount;
    int witnessCount;
    int otherCount;

    final double[] meansNs;
    /** As cells alone have the means. */
    final double[] cellsMeansNs;
    final double[] boundsNs;
    final byte[] kinds;
    final boolean[] areTold;
    final JointAnswer answer = new JointAnswer();
    RuntimeException failure;

    private final UnsafeBuffer senderImage;
    private final UnsafeBuffer receiverImage;

    JointTask(final SketchGeometry geometry, final JointSettings settings) {
        final int maxFlows = settings.maxFlows();
        final int maxWitnesses = settings.maxWitnesses();
        senderImage = new UnsafeBuffer(ByteBuffer.allocateDirect((int)SketchGeometry.memoryBytes(geometry)));
        receiverImage = new UnsafeBuffer(ByteBuffer.allocateDirect((int)SketchGeometry.memoryBytes(geometry)));
        cellEstimatesNs = new long[geometry.rows() * geometry.columns()];
        records = new int[maxFlows];
        flowHashes = new long[maxFlows];
        packets = new int[maxFlows];
        weights = new int[maxFlows];
        classIndexes = new int[maxFlows];
        estimates = new long[maxFlows];
        estimateSumsNs = new long[maxFlows];
        estimateSquareSumsNs2 = new double[maxFlows];
        errorScalesNs = new double[maxFlows];
        meansNs = new double[maxFlows];
        cellsMeansNs = new double[maxFlows];
        boundsNs = new double[maxFlows];
        kinds = new byte[maxFlows];
        areTold = new boolean[maxFlows];
        witnessHashes = new long[maxWitnesses];
        witnessPackets = new long[maxWitnesses];
        witnessSumsNs = new long[maxWitnesses];
        otherHashes = new long[settings.isChecked() ? maxFlows : 0];
        otherPackets = new long[otherHashes.length];
        otherSumsNs = new long[otherHashes.length];
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final SketchGeometry geometry, final JointSettings settings) {
        return 2 * SketchGeometry.memoryBytes(geometry) + CellEstimates.memoryBytes(geometry) +
            (long)settings.maxFlows() * (RECORD_BYTES + (settings.isChecked() ? WITNESS_BYTES : 0)) +
            (long)settings.maxWitnesses() * WITNESS_BYTES;
    }

    /** {@return how many records fit} */
    int capacity() {
        return records.length;
    }

    void begin(final long intervalNumber, final long intervalNs) {
        number = intervalNumber;
        startNs = intervalNumber * intervalNs;
        endNs = startNs + intervalNs;
        recordCount = 0;
        witnessCount = 0;
        otherCount = 0;
        leastEstimateNs = Long.MAX_VALUE;
        failure = null;
    }

    /** Copies the cells of both points. */
    void images(final SketchImage senderSketch, final SketchImage receiverSketch) {
        copy(senderSketch, senderImage, sender);
        copy(receiverSketch, receiverImage, receiver);
    }

    private static void copy(final SketchImage from, final UnsafeBuffer octets, final SketchImage to) {
        octets.putBytes(0, from.buffer(), 0, from.length());
        to.wrap(octets, 0, from.length());
    }

    /** Copies what a record has of the interval. */
    void addRecord(
        final int record, final SketchRecords table, final IntervalKeys run, final RecordEstimates ofRecords) {
        records[recordCount] = record;
        flowHashes[recordCount] = table.flowHash(record);
        packets[recordCount] = table.packets(record, run.key(number));
        weights[recordCount] = table.weight(record, run.number());
        classIndexes[recordCount] = table.classIndex(record);
        estimates[recordCount] = ofRecords.count(record, number);
        estimateSumsNs[recordCount] = ofRecords.sumNs(record, number);
        estimateSquareSumsNs2[recordCount] = ofRecords.squareSumNs2(record, number);
        errorScalesNs[recordCount++] = ofRecords.errorScaleNs(record, number);
    }

    /** Adds a witness: the true sum of the delays of a flow's packets. Returns false if there is no room. */
    boolean addWitness(final long flowHash, final long packetCount, final long delaySumNs) {
        if (witnessCount == witnessHashes.length) {
            return false;
        }
        witnessHashes[witnessCount] = flowHash;
        witnessPackets[witnessCount] = packetCount;
        witnessSumsNs[witnessCount++] = delaySumNs;
        return true;
    }

    /** Adds the true delay sum of a flow that is no witness. */
    void addOther(final long flowHash, final long packetCount, final long delaySumNs) {
        if (otherCount < otherHashes.length) {
            otherHashes[otherCount] = flowHash;
            otherPackets[otherCount] = packetCount;
            otherSumsNs[otherCount++] = delaySumNs;
        }
    }

    /** Clears the results. */
    void clearResults() {
        Arrays.fill(kinds, 0, recordCount, JointKind.NONE);
        answer.clear(startNs, endNs);
        answer.status = JointStatus.NONE;
        answer.tier = JointTier.FULL;
    }
}
