package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.Statistics;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Computes the health checks of a process: running threads, active sources, few dropped packets and records, accepting
 * destinations, spools with room, a connected exchange, synchronized clocks, no unexpected errors. Only the last minute counts.
 * An absence of packets is healthy; flows unmatched for lack of memory or time are a failure. One thread.
 */
final class HealthJudge {
    /** Length of the window. */
    static final long WINDOW_NS = 60_000_000_000L;
    static final String THREADS = "threads";
    /** An exchange without a connection for this long is lost. */
    static final long EXCHANGE_PATIENCE_NS = 10_000_000_000L;
    /** Allowed share of lost packets, and the packets needed to compute it. */
    static final double DROP_SHARE = 0.01;
    /** Share of its bound from which a spool is nearly full. */
    static final double FULL_SPOOL_SHARE = 0.9;
    private static final long LEAST_PACKETS = 1000;
    private static final String SESSIONS = "exchange_sessions";
    private static final String SESSIONS_ENDED = "exchange_sessions_ended";
    private static final String CLOCKS_APART = "lds_clocks_apart";
    private static final String MATCH_SHARE = "match_share";

    private record Sample(long timeNs, long captured, long droppedPackets, long records, long droppedRecords, long failed,
        long errors, long clocksApart) {
    }

    private final Collection<Heartbeat> heartbeats;
    private final Deque<Sample> samples = new ArrayDeque<>();
    private boolean wasExchangeUp;
    private long exchangeLostNs;
    private boolean isStarted;

    HealthJudge(final Collection<Heartbeat> heartbeats) {
        this.heartbeats = heartbeats;
    }

    List<HealthCheck> judge(final Statistics statistics, final long nowNs) {
        if (!isStarted) {
            isStarted = true;
            exchangeLostNs = nowNs;
        }
        final Sample now = sample(statistics, nowNs);
        while (samples.size() > 1 && nowNs - samples.peekFirst().timeNs > WINDOW_NS) {
            samples.removeFirst();
        }
        samples.addLast(now);
        final Sample before = samples.peekFirst();
        final List<HealthCheck> checks = new ArrayList<>();
        checks.add(threads(nowNs));
        checks.add(sources(statistics.sources()));
        checks.add(drops("packets", now.captured - before.captured, now.droppedPackets - before.droppedPackets));
        checks.add(drops("records", now.records - before.records, now.droppedRecords - before.droppedRecords));
        checks.add(count("destinations", now.failed - before.failed, "records failed in the last minute"));
        if (statistics.destinations().stream().anyMatch((each) -> each.spool() != null)) {
            checks.add(spools(statistics.destinations()));
        }
        if (statistics.delays().stream().anyMatch((each) -> each.counters().containsKey(SESSIONS))) {
            checks.add(exchange(absent(statistics.delays()), nowNs));
            checks.add(count("clocks", now.clocksApart - before.clocksApart,
                "intervals in the last minute without loss, for the clocks of the hosts are too far apart"));
        }
        statistics.delays().stream().map((each) -> each.gauges().get(MATCH_SHARE)).filter(Objects::nonNull)
            .max(Comparator.reverseOrder()).ifPresent((share) -> checks.add(matching(share)));
        checks.add(count("errors", now.errors - before.errors, "unexpected errors in the last minute"));
        return List.copyOf(checks);
    }

    private static Sample sample(final Statistics statistics, final long nowNs) {
        final Counters counters = statistics.counters();
        return new Sample(
            nowNs, counters.get(CounterId.CAPTURED),
            counters.get(CounterId.LOST_IN_KERNEL) + counters.get(CounterId.DROPPED_AT_PACKET_RING),
            counters.get(CounterId.RECORDS_MADE), counters.get(CounterId.DROPPED_AT_RECORD_RING),
            statistics.destinations().stream().mapToLong(DestinationStatistics::recordsFailed).sum(),
            counters.get(CounterId.ERRORS),
            statistics.delays().stream().mapToLong((each) -> each.counters().getOrDefault(CLOCKS_APART, 0L)).sum());
    }

    private HealthCheck threads(final long nowNs) {
        final List<String> stuck = heartbeats.stream().filter((each) -> each.isStalled(nowNs)).map(Heartbeat::roleName).sorted()
            .toList();
        return stuck.isEmpty() ? new HealthCheck(THREADS, true, heartbeats.size() + " threads running") : stalled(stuck);
    }

    static HealthCheck stalled(final List<String> names) {
        return new HealthCheck(
            THREADS, false, String.join(", ", names) + " stalled for more than " + Heartbeat.STUCK_NS / 1_000_000_000L + " s");
    }

    private static HealthCheck sources(final List<SourceStatistics> sources) {
        final List<String> damages = sources.stream().filter((each) -> each.damage() != null)
            .map((each) -> each.name() + ": " + each.damage()).toList();
        return new HealthCheck(
            "sources", damages.isEmpty(), damages.isEmpty() ? sources.size() + " open" : String.join("; ", damages));
    }

    private static HealthCheck drops(final String what, final long all, final long dropped) {
        final boolean isFlood = all >= LEAST_PACKETS && dropped > all * DROP_SHARE;
        return new HealthCheck(what, !isFlood, String.format(
            Locale.ROOT, "%d of %d dropped in the last minute", dropped, Math.max(all, dropped)));
    }

    private static HealthCheck matching(final double share) {
        return new HealthCheck("matching", share >= 1, share >= 1 ? "every flow is matched" : String.format(
            Locale.ROOT, "one flow in %.0f is matched, for lack of memory (segment.exact-packets) or time", 1 / share));
    }

    private static HealthCheck count(final String name, final long count, final String what) {
        return new HealthCheck(name, count <= 0, Math.max(0, count) + " " + what);
    }

    private static HealthCheck spools(final List<DestinationStatistics> destinations) {
        final List<String> full = new ArrayList<>();
        long records = 0;
        for (final DestinationStatistics each : destinations) {
            if (each.spool() != null) {
                records += each.spool().recordsHeld();
                if (each.spool().octetsHeld() > each.spool().octetsBound() * FULL_SPOOL_SHARE) {
                    full.add(each.uri());
                }
            }
        }
        return new HealthCheck("spools", full.isEmpty(), records + " records wait on disk" +
            (full.isEmpty() ? "" : "; nearly full: " + String.join(", ", full)));
    }

    /** {@return what has no session: the whole of a segment as "", or senders of it; several segments by name} */
    private static List<String> absent(final List<DelayStatistics> delays) {
        final List<String> absent = new ArrayList<>();
        for (final DelayStatistics delay : delays) {
            final Map<String, Long> counters = delay.counters();
            final String name = delays.size() == 1 ? "" : " segment " + delay.segmentId();
            counters.entrySet().stream()
                .filter((each) -> each.getKey().startsWith(SESSIONS) && !each.getKey().startsWith(SESSIONS_ENDED))
                .filter((each) -> each.getValue() <= counters.get(each.getKey().replace(SESSIONS, SESSIONS_ENDED)))
                .map((each) -> name + each.getKey().substring(SESSIONS.length()).replace('_', ' ')).sorted().forEach(absent::add);
        }
        return absent;
    }

    /** Without a session a connection does not count. Of several senders, each must have one. */
    private HealthCheck exchange(final List<String> absent, final long nowNs) {
        final boolean isUp = absent.isEmpty();
        if (isUp || wasExchangeUp) {
            exchangeLostNs = nowNs;
        }
        wasExchangeUp = isUp;
        final boolean isLost = !isUp && nowNs - exchangeLostNs >= EXCHANGE_PATIENCE_NS;
        return new HealthCheck("exchange", !isLost, isUp ? "connected" : "not connected for " +
            (nowNs - exchangeLostNs) / 1_000_000_000L + " s" + (absent.contains("") ? "" : ":" + String.join(",", absent)));
    }
}
