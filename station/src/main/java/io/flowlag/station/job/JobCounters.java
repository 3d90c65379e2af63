package io.flowlag.station.job;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectorCounter;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** What the operators of a job count that run in this process, for the view of the same process. Any thread. */
public final class JobCounters {
    private static final Map<String, JobCounters> JOBS = new ConcurrentHashMap<>();

    private final List<CounterSet<CollectorCounter>> decoders = new CopyOnWriteArrayList<>();

    private JobCounters() {
    }

    /** {@return the counters of the job of a network} */
    public static JobCounters of(final String network) {
        return JOBS.computeIfAbsent(network, (name) -> new JobCounters());
    }

    void add(final CounterSet<CollectorCounter> counters) {
        decoders.add(counters);
    }

    /** {@return the sums of all decoders} */
    public Map<CollectorCounter, Long> sums() {
        final Map<CollectorCounter, Long> sums = new EnumMap<>(CollectorCounter.class);
        for (final CollectorCounter each : CollectorCounter.values()) {
            sums.put(each, decoders.stream().mapToLong((counters) -> counters.get(each)).sum());
        }
        return sums;
    }
}
