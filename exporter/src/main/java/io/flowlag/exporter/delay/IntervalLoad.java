package io.flowlag.exporter.delay;

import io.flowlag.exporter.delay.interval.compare.IntervalAnswer;
import io.flowlag.exporter.delay.interval.repair.ReconcileStatus;

/**
 * The traffic of a compared interval, by which its sketches are sized. Immutable.
 *
 * @param startNs        of the interval, ns since the epoch, by the sender's timestamps.
 * @param endNs          the first ns after it.
 * @param flows          of which the receiver point saw packets.
 * @param largestPackets packets of the largest flow; 0 if none is known.
 * @param lossShare      share of packets that known flows lost, and that were not taken out of the cells; 0 if it is unknown.
 * @param classLost      packets that the class with most losses lost, and that were not listed; 0 if it is unknown.
 * @param solvingNs      that the last joint solution took; 0 before the first.
 * @param isSketched     whether the sender sent sketches, not sums of flows.
 */
public record IntervalLoad(
    long startNs, long endNs, int flows, long largestPackets, double lossShare, long classLost, long solvingNs,
    boolean isSketched) {
    static IntervalLoad of(final IntervalAnswer answer, final int classCount, final long solvingNs) {
        final long[] largest = new long[1];
        answer.forEachHeavyHitter((record, packets) -> largest[0] = Math.max(largest[0], (long)packets));
        final boolean isSpoiled = answer.hasSketches() && answer.hasLoss() &&
            !(answer.reconcileStatus() == ReconcileStatus.COMPLETE && answer.isReconciledWhole());
        final long lost = !isSpoiled || !answer.hasUnexplainedLoss() ? 0 :
            Math.max(0, answer.lostPackets() - answer.unexplainedLostPackets());
        long received = 0;
        for (int i = 0; lost > 0 && i < classCount; i++) {
            received += answer.receivedPackets(i);
        }
        long classLost = 0;
        for (int i = 0; isSpoiled && i < classCount; i++) {
            classLost = Math.max(classLost, answer.aggregator(i).lostPackets());
        }
        return new IntervalLoad(
            answer.startNs(), answer.endNs(), answer.flows(), largest[0],
            lost == 0 ? 0 : lost / (double)(lost + received), classLost, solvingNs, answer.hasSketches());
    }
}
