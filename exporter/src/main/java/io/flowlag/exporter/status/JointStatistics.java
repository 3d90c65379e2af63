package io.flowlag.exporter.status;

/**
 * What came of the last measurement interval in which references and sketches were solved together. Immutable.
 *
 * @param startNs       of the interval, by the sender's timestamps.
 * @param status        where its estimates come from: {@code joint}, {@code cells-alone} (no references), {@code rli} or
 *                      {@code lds} (that parent stands in), {@code none}.
 * @param tier          {@code full} or {@code fast}.
 * @param health        how well the solution fits the cells: near 1 is sound, above 4 it was thrown away.
 * @param flows         with packets in the interval.
 * @param answeredFlows of them, with an estimate.
 * @param vouchedFlows  of those, with a bound: witness flows vouch for it, or cells leave nothing open.
 * @param witnesses     of the flows, whose true delay the sender told.
 * @param meanNs        of all their packets; null without an estimate.
 */
public record JointStatistics(
    long startNs,
    long endNs,
    String status,
    String tier,
    double health,
    int flows,
    int answeredFlows,
    int vouchedFlows,
    int witnesses,
    Long meanNs,
    long tookNs) {
}
