package io.flowlag.exporter.status;

import java.util.List;

/**
 * Results of reconciliation (RDA) for a measurement interval, and in total. Immutable.
 *
 * @param startNs  of the last interval, by the sender's timestamps.
 * @param status   its result: complete, incomplete, unanswered or refused.
 * @param octets   of its requests and answers; in one process, as over an exchange.
 * @param interval by class, of that interval.
 * @param total    by class, of all intervals from the first in which it was tried.
 */
public record ReconcileStatistics(
    long startNs, long endNs, String status, long octets, List<AggregateDelay> interval, List<AggregateDelay> total) {
    /** The same with other totals. */
    ReconcileStatistics withTotal(final List<AggregateDelay> newTotal) {
        return new ReconcileStatistics(startNs, endNs, status, octets, interval, newTotal);
    }
}
