package io.flowlag.exporter.runtime;

import io.flowlag.exporter.status.SketchStatistics;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two points, joined by the exchange, whose clocks are apart, or are set back. */
class ExchangeLinkClocksTest extends LinkedPoints {
    /**
     * A receiver's clock that lags or leads, drifts and jitters: packets just before and after the end of an interval count in
     * the interval in which they were sent, whatever is compared.
     */
    @ParameterizedTest
    @CsvSource({
        "-5000, cells", "-5000, flows", "-5000, reconcile", "-700, cells", "-700, flows", "-700, reconcile", "5000, cells",
        "5000, flows", "5000, reconcile"})
    void shouldTellLossesByClocksThatAreApart(final long offsetUs, final String kind) throws Exception {
        final String section = kind.equals("reconcile") ? RECONCILE : NOT_RECONCILED;
        senderSection = section;
        reconnect(section, kind.equals("flows") ? ", mode: flows" : "");
        final long seed = new Random().nextLong();
        final Random random = new Random(seed);
        final Map<Long, Long> lostByInterval = new HashMap<>();
        final Map<Long, Set<Long>> lossyFlows = new HashMap<>();
        long receivedNs = 0;
        // How many packets it took to connect depends on the machine, and must not move the clock.
        final long begin = packetNumber;
        for (long i = 0; i < 9 * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            // The packets of an interval are sent in its first and its last 10 ms.
            final long placeNs = number % PACKETS_PER_INTERVAL * 100_000;
            final long sentNs = START_NS + number / PACKETS_PER_INTERVAL * INTERVAL_NS +
                (placeNs < 10_000_000 ? placeNs : INTERVAL_NS - 20_000_000 + placeNs);
            final boolean isLost = random.nextInt(50) == 0;
            describe(number, 0, sentNs);
            sender.agent.onDescriptors(batch, 0, 1);
            settle();
            if (isLost) {
                final long startNs = Math.floorDiv(sentNs, INTERVAL_NS) * INTERVAL_NS;
                lostByInterval.merge(startNs, 1L, Long::sum);
                lossyFlows.computeIfAbsent(startNs, (each) -> new HashSet<>()).add(number % flowCount);
            } else {
                receivedNs = Math.max(receivedNs + 1,
                    sentNs + 150_000 + offsetUs * 1000 + driftNs(number - begin) + random.nextInt(100_000));
                describe(number, 1, receivedNs);
                receiver.packet(batch);
            }
            settleRequests();
        }

        int compared = 0;
        for (final Map.Entry<Long, SketchStatistics> each : receiver.intervals.entrySet()) {
            final Long told = each.getValue().interval().get(0).lostPackets();
            if (told != null) {
                assertEquals(lostByInterval.getOrDefault(each.getKey(), 0L), told, "seed " + seed);
                compared++;
            }
        }
        assertTrue(compared >= 4 || kind.equals("flows"), "intervals: " + compared + ", seed " + seed);
        assertEquals(0, receiver.count("lds_clocks_apart"), "seed " + seed);
        // What was sent around the start of the first interval is unknown; it reports no loss.
        assertTrue(receiver.count("lds_flows_different") <= (offsetUs > 0 ? FLOWS : 0), "seed " + seed);
        if (kind.equals("flows")) {
            final long first = Collections.min(receiver.intervals.keySet());
            final long last = Collections.max(receiver.intervals.keySet());
            final long least = lossyFlows.entrySet().stream().filter((each) -> each.getKey() > first && each.getKey() <= last)
                .mapToLong((each) -> each.getValue().size()).sum();
            final long told = receiver.count("lds_flows_with_loss");
            assertTrue(
                least > 0 && told >= least && told <= least + FLOWS + lossyFlows.getOrDefault(first, Set.of()).size(),
                told + " of " + least + ", " + receiver.intervals.keySet() + ", seed " + seed);
        }
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first, seed " + seed);
        assertEquals(offsetUs < 0, receiver.count("lds_booked_later") > 0, "seed " + seed);
        if (kind.equals("reconcile")) {
            assertTrue(receiver.count("reconcile_complete") >= 4, receiver.stage.statistics()::toString);
            assertTrue(receiver.count("reconcile_unexpected") <= (offsetUs > 0 ? 60 : 0), "seed " + seed);
        }
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    /** Two in a million. */
    private static long driftNs(final long packets) {
        return packets * (INTERVAL_NS / PACKETS_PER_INTERVAL) / 500_000;
    }

    /** Live, as many packets as fill some intervals; the clocks of the points are ahead, or not. */
    private void passLive(final long intervals, final long senderAheadNs, final long receiverAheadNs) {
        for (long i = 0; i < intervals * PACKETS_PER_INTERVAL; i++) {
            final long number = packetNumber++;
            final long sentNs = START_NS + number * GAP_NS;
            describe(number, 0, sentNs + senderAheadNs);
            sender.advance(batch);
            sender.agent.onDescriptors(batch, 0, 1);
            settle();
            describe(number, 1, sentNs + 2_000_000 + receiverAheadNs);
            receiver.advance(batch);
            receiver.packet(batch);
        }
    }

    /** One clock or both were ahead, from the start or later, and are set right. */
    @ParameterizedTest
    @CsvSource({"0, 0, 3600", "0, 3600, 0", "0, 3600, 3600", "5, 0, 3600", "5, 3600, 0", "5, 3600, 3600", "5, 25, 25", "5, 0, 9"})
    void shouldGoOnWhenAClockIsSetBack(final int before, final long senderAheadS, final long receiverAheadS) throws Exception {
        isLive = true;
        reconnect("", "");
        passLive(before, 0, 0);
        passLive(6, TimeUnit.SECONDS.toNanos(senderAheadS), TimeUnit.SECONDS.toNanos(receiverAheadS));
        final long setNs = START_NS + packetNumber * GAP_NS;
        receiver.intervals.clear();
        passLive(10, 0, 0);
        int told = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            if (each.startNs() > setNs && each.startNs() < START_NS + 1000 * INTERVAL_NS) {
                assertEquals(2_000_000, each.interval().get(0).meanNs(), 1);
                assertEquals(PACKETS_PER_INTERVAL, each.interval().get(0).samples());
                told++;
            }
        }
        assertTrue(told >= 5, () -> "intervals from " + setNs + " on: " + receiver.intervals.keySet());
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }
}
