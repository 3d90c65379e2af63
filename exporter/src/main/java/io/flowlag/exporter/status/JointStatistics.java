package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonIgnore;

/**
 * Result of the last measurement interval with joint estimation. Immutable.
 *
 * @param startNs       of the interval, by the sender's timestamps.
 * @param status        source of its estimates: {@code joint}, {@code cells-alone} (no references), {@code rli} or
 *                      {@code lds} (that parent stands in), {@code none}.
 * @param tier          {@code full} or {@code fast}.
 * @param health        residual of the solution over the cells: near 1 is sound, above 4 it is discarded.
 * @param flows         with packets in the interval.
 * @param answeredFlows of them, with an estimate.
 * @param vouchedFlows  of those, with a bound, by witness flows or by fully determined cells.
 * @param witnesses     of the flows, whose true delay the sender sent.
 * @param meanNs        of all their packets; null without an estimate.
 * @param boundNs       half width of the 95 % interval around it; null where flows without a bound have a part in it.
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
    long tookNs,
    @JsonIgnore Long boundNs) {
}
