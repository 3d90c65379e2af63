package io.flowlag.exporter.status;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * What the delay stage tells of itself, for {@link StatisticsWriter} and the options records. Immutable.
 *
 * @param role           of the process, as the configuration writes it.
 * @param segmentId      of the pair of points.
 * @param policy         of the references, as the configuration writes it.
 * @param clockErrorNs   bound of the clocks' difference; below 0 for unknown.
 * @param counters       by label, in order.
 * @param gauges         by label, in order: what goes up and down.
 * @param interval       the last measurement interval that ended, by class; empty before the first.
 * @param total          since the start, by class, as of the last interval or the end.
 * @param sketches       what the sketches say, by sender; empty without.
 * @param unexplained    what each sum of the stage leaves over, by name; 0 when it holds.
 */
public record DelayStatistics(
    String role,
    long segmentId,
    String policy,
    long clockErrorNs,
    Map<String, Long> counters,
    Map<String, Double> gauges,
    List<DelaySummary> interval,
    List<DelaySummary> total,
    List<SketchStatistics> sketches,
    Map<String, Long> unexplained) {
    /**
     * What the aggregators say of the interval that was compared last, by sender, then class, as {@link #interval} is. Returns an
     * entry for each; null before the first interval of the sender.
     */
    public List<AggregateDelay> sketchedInterval() {
        final List<AggregateDelay> all = new ArrayList<>();
        for (final SketchStatistics each : sketches) {
            all.addAll(each.interval().isEmpty() ? Collections.nCopies(each.total().size(), null) : each.interval());
        }
        return all;
    }

    /** {@return whether every sum holds} */
    public boolean isAccountedFor() {
        return unexplained.values().stream().allMatch((each) -> each == 0);
    }
}
