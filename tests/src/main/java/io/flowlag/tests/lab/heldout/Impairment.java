package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.lab.LabRandom;

/**
 * What is wrong with a path and with the receiver's clock.
 *
 * @param offsetNs      receiver's clock less the sender's at the start, signed.
 * @param driftPpm      by how much the receiver's clock is faster, signed.
 * @param clockJitterNs each timestamp of the receiver is off by at most.
 * @param pathJitterNs  mean of an exponential delay besides, of each packet on its own, so that packets overtake one another.
 * @param paths         equal ones, each with a queue at the same load; a flow takes one of them.
 * @param lostShare     of the packets that are lost by chance, besides those that a queue drops.
 */
record Impairment(
    long offsetNs, double driftPpm, long clockJitterNs, long pathJitterNs, int paths, double lostShare) {
    /** One path and one clock. */
    static final Impairment NONE = new Impairment(0, 0, 0, 0, 1, 0);

    private static final double UNIT = 0x1.0p-53;

    /** The same with loss by chance. */
    Impairment withLoss(final double share) {
        return new Impairment(offsetNs, driftPpm, clockJitterNs, pathJitterNs, paths, share);
    }

    /** By how much the receiver's timestamp of a packet is ahead, ns. */
    long aheadNs(final long elapsedNs, final int packet) {
        final double draw = clockJitterNs == 0 ? 0 : 2 * (LabRandom.mix(packet + 1) >>> 11) * UNIT - 1;
        return offsetNs + Math.round(elapsedNs * driftPpm * 1e-6 + clockJitterNs * draw);
    }
}
