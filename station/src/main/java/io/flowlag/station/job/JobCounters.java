package io.flowlag.station.job;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.station.schema.Status;
import org.apache.flink.metrics.MetricGroup;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;

/** What the operators of a job count that run in this process, or say through Kafka, for the view of this process. Any thread. */
public final class JobCounters {
    /** Rows of exporters; what more of them send is counted in one row. */
    private static final int MOST_EXPORTERS = 4096;
    private static final Map<String, JobCounters> JOBS = new ConcurrentHashMap<>();

    /** Intervals that came when their window was no longer corrected. */
    private final LongAdder tooLate = new LongAdder();
    private final LongAdder intervals = new LongAdder();
    private final List<CounterSet<JobCounter>> operators = new CopyOnWriteArrayList<>();
    private final List<CounterSet<CollectorCounter>> decoders = new CopyOnWriteArrayList<>();
    private final Map<String, Status.Exporter> exporters = new ConcurrentHashMap<>();

    private JobCounters() {
    }

    /** {@return the counters of the job of a network} */
    public static JobCounters of(final String network) {
        return JOBS.computeIfAbsent(network, (name) -> new JobCounters());
    }

    void add(final CounterSet<CollectorCounter> counters) {
        decoders.add(counters);
    }

    /** Adds what came of an exporter. */
    public void add(final Status.Exporter more) {
        final String key = more.getAddress() + '\n' + more.getDomain();
        if (exporters.size() < MOST_EXPORTERS || exporters.containsKey(key)) {
            exporters.merge(key, more, ExporterOperator::plus);
        } else {
            exporters.merge("", more.toBuilder().setAddress("others").setDomain(-1).build(), ExporterOperator::plus);
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
    public Collection<Status.Exporter> exporters() {
        return List.copyOf(exporters.values());
    }
}
