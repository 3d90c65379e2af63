package io.flowlag.exporter.status;

import java.util.List;

/**
 * What reconciliation (RDA) of both points' packets says of a measurement interval, and of all so far. Immutable.
 *
 * @param startNs  of the last interval, by the sender's timestamps.
 * @param status   what came of it: complete, incomplete, unanswered or refused.
 * @param octets   of its requests and answers; in one process, what an exchange would take.
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
