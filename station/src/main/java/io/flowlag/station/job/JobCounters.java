package io.flowlag.station.job;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectorCounter;
import org.apache.flink.metrics.MetricGroup;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** What the operators of a job count that run in this process, for the view of the same process. Any thread. */
public final class JobCounters {
    /** Rows of exporters; what more of them send is counted in one row. */
    private static final int MOST_EXPORTERS = 4096;
    private static final Map<String, JobCounters> JOBS = new ConcurrentHashMap<>();

    /** Intervals that came when their window was no longer corrected. */
    private final LongAdder tooLate = new LongAdder();
    private final LongAdder intervals = new LongAdder();
    private final List<CounterSet<JobCounter>> operators = new CopyOnWriteArrayList<>();
    private final List<CounterSet<CollectorCounter>> decoders = new CopyOnWriteArrayList<>();
    private final Map<String, Exporter> exporters = new ConcurrentHashMap<>();

    private JobCounters() {
    }

    /** What came of an observation domain of an exporter. Immutable. */
    public record Exporter(String peer, long domain, long messages, long records, long missing, long refused, long lastNs) {
        Exporter plus(final Exporter more) {
            return new Exporter(peer, domain, messages + more.messages, records + more.records, missing + more.missing,
                refused + more.refused, Math.max(lastNs, more.lastNs));
        }
    }

    /** {@return the counters of the job of a network} */
    public static JobCounters of(final String network) {
        return JOBS.computeIfAbsent(network, (name) -> new JobCounters());
    }

    void add(final CounterSet<CollectorCounter> counters) {
        decoders.add(counters);
    }

    void add(final Exporter more) {
        final String key = more.peer + '\n' + more.domain;
        if (exporters.size() < MOST_EXPORTERS || exporters.containsKey(key)) {
            exporters.merge(key, more, Exporter::plus);
        } else {
            exporters.merge("", new Exporter("others", -1, more.messages, more.records, more.missing, more.refused, more.lastNs),
                Exporter::plus);
        }
    }

    void onInterval(final boolean isTooLate) {
        intervals.increment();
        if (isTooLate) {
            tooLate.increment();
        }
    }

    /** Counters of one more operator, which are metrics of Flink as well. */
    CounterSet<JobCounter> open(final MetricGroup metrics, final JobCounter... counted) {
        final CounterSet<JobCounter> counters = new CounterSet<>(JobCounter.class);
        for (final JobCounter each : counted) {
            metrics.gauge(each.name(), () -> counters.get(each));
        }
        operators.add(counters);
        return counters;
    }

    /** {@return what was counted of flow records} */
    public long get(final JobCounter counter) {
        return operators.stream().mapToLong((counters) -> counters.get(counter)).sum();
    }

    /** {@return the sums of all decoders} */
    public Map<CollectorCounter, Long> sums() {
        final Map<CollectorCounter, Long> sums = new EnumMap<>(CollectorCounter.class);
        for (final CollectorCounter each : CollectorCounter.values()) {
            sums.put(each, decoders.stream().mapToLong((counters) -> counters.get(each)).sum());
        }
        return sums;
    }

    /** {@return flow records that came through; one that spans windows counts in each} */
    public long flows() {
        return get(JobCounter.FLOWS_AGGREGATED) + get(JobCounter.FLOWS_UNMAPPED) + flowsTooLate();
    }

    /** {@return those of them that came too late for their window} */
    public long flowsTooLate() {
        return get(JobCounter.FLOWS_TOO_LATE);
    }

    /** {@return interval records that were read} */
    public long intervals() {
        return intervals.sum();
    }

    /** {@return those of them that came too late for their window} */
    public long tooLate() {
        return tooLate.sum();
    }

    /** {@return each exporter's domains} */
    public Collection<Exporter> exporters() {
        return List.copyOf(exporters.values());
    }
}
