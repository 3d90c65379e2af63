package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.DelaySummary;

/** Names of traffic classes for people. Stateless. */
final class ClassNames {
    private ClassNames() {
    }

    static String of(final DelaySummary summary, final AggregateDelay sketched) {
        if (summary != null) {
            return of(summary);
        }
        return sketched == null || sketched.dscp() < 0 ? "all" : "dscp " + sketched.dscp();
    }

    static String of(final DelaySummary summary) {
        final String name = summary.dscp() < 0 ? "all" : "dscp " + summary.dscp();
        return summary.senderIndex() == 0 ? name : name + ", sender " + summary.senderIndex();
    }
}
