package io.flowlag.exporter.status;

/**
 * What came of the last measurement interval in which references and sketches were solved together. Immutable.
 *
 * @param startNs       of the interval, by the sender's timestamps.
 * @param endNs         of the interval.
 * @param status        where its estimates come from: {@code joint}, {@code cells-alone} (no references), {@code rli} or
 *                      {@code lds} (that parent stands in), {@code none}.
 * @param tier          {@code full} or {@code fast}.
 * @param health        how well the solution fits the cells: near 1 is sound, above 4 it was thrown away.
 * @param isCalibrated  whether witness flows vouch for the bounds.
 * @param flows         with packets in the interval.
 * @param answeredFlows of them, with an estimate.
 * @param witnesses     of them, whose true delay the sender told.
 * @param meanNs        of all their packets; null without an estimate.
 * @param tookNs        to be solved.
 */
public record JointStatistics(
    long startNs,
    long endNs,
    String status,
    String tier,
    double health,
    boolean isCalibrated,
    int flows,
    int answeredFlows,
    int witnesses,
    Long meanNs,
    long tookNs) {
}
