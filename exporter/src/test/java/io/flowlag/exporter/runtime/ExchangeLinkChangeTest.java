package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.runtime.run.SegmentChange;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.SketchStatistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.util.Collections;
import java.util.List;
import javax.management.ObjectName;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Other settings hold at both ends of the exchange from the same interval on. */
class ExchangeLinkChangeTest extends LinkedPoints {
    /** Other sketches from a time on: every interval of both settings is reconciled, and the last lost flow has its name. */
    /** A longer wait for packets changes at both ends as other settings do. */
    @ParameterizedTest
    @ValueSource(strings = {"", "max-delay: 60ms, "})
    void shouldReconcileOnBothSidesOfAChange(final String segment) throws Exception {
        senderSection = RECONCILE;
        reconnect(RECONCILE, "");
        passReconciled(5, null);
        final long unanswered = receiver.count("reconcile_unanswered");
        final long fromNs = changeTo(newer(segment, RECONCILE, ""), true);
        passReconciled(4, null);
        loseFlow(null);
        passReconciled(5, null);

        assertFalse(receiver.stage.isChanging());
        int before = 0;
        int after = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            if (each.reconcile() != null && each.reconcile().startNs() == each.startNs()) {
                before += each.startNs() < fromNs ? 1 : 0;
                after += each.startNs() < fromNs ? 0 : 1;
            }
        }
        assertTrue(before >= 3 && after >= 3, "intervals: " + receiver.intervals.keySet());
        assertEquals(unanswered, receiver.count("reconcile_unanswered"));
        assertEquals(0, receiver.count("reconcile_incomplete") + receiver.count("reconcile_refused"));
        assertEquals(receiver.count("reconcile_intervals"), receiver.count("reconcile_complete") + unanswered);
        assertEquals(1, receiver.count("reconcile_flows_unseen"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** The clock of both hosts steps while a change is under way: each interval has the old settings or the new ones. */
    @ParameterizedTest
    @ValueSource(longs = {-40_000, -30, -3, 2, 30, 40_000})
    void shouldHoldOldOrNewSettingsWhenTheClockStepsDuringAChange(final long stepIntervals) {
        pass(6, null, true);
        final ExporterConfig same = newer("", "", "");
        final ExporterConfig.Lds lds = same.lds();
        final long fromNs = changeTo(same.with(new ExporterConfig.Lds(
            true, new ExporterConfig.Shape(2, 512, 1), lds.ratesPpm(), lds.weights(), lds.alpha(), lds.aggregatorCells(), 3,
            lds.inFlightPackets(), lds.waitingRecords(), lds.witnessPpm())), true);
        pass(1, null, true);
        receiver.intervals.clear();
        packetNumber += stepIntervals * PACKETS_PER_INTERVAL;
        pass(12, null, true);
        int compared = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            assertTrue(each.geometry().startsWith(each.startNs() < fromNs ? "2 rows of 256 cells" :
                "2 rows of 512 cells, classes sampled from 1 in 8"), each::toString);
            compared += each.startNs() >= START_NS + (packetNumber - 6 * PACKETS_PER_INTERVAL) * GAP_NS ? 1 : 0;
        }
        assertTrue(compared >= 3, "intervals: " + receiver.intervals.keySet() + receiver.stage.statistics().counters());
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** The thread that distributes settings never waits for the exchange's. If it waited, it would hang here. */
    @Test
    @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldRefuseSettingsWhileTheExchangeStandsStill() {
        pass(2, null, true);
        final ExporterConfig newer = newer("source: [0.0.0.0/29], ", "", "");
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        pass(150, null, false);
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, INTERVAL_NS, START_NS + packetNumber * GAP_NS);
        assertThrows(IllegalArgumentException.class, () -> end.change(newer, fromNs));
        work();
        assertEquals(2, end.settings(newer, fromNs).number(), "nothing has changed before");
    }

    /** The sketches of a sender without packets, of which there may be several, are freed after each change too. */
    @Test
    void shouldKeepNothingOfEarlierSettingsWhenNoPacketComes() throws Exception {
        isLive = true;
        reconnect("", "");
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        final ExporterConfig same = newer("", "", "");
        final long before = generations();
        for (int i = 0; i < 4; i++) {
            final ExporterConfig other = same.with(same.lds().withShape(512 << i % 2, same.lds().shape().vldaLength()));
            final long fromNs = SegmentChange.fromNs(INTERVAL_NS, INTERVAL_NS, START_NS + packetNumber * GAP_NS);
            receiver.stage.change(new SketchChange(other, fromNs, end.change(other, fromNs), true, "many flows"));
            await(() -> {
                packetNumber += PACKETS_PER_INTERVAL;
                describe(packetNumber, 1, START_NS + packetNumber * GAP_NS);
                receiver.advance(batch);
                return !receiver.stage.isChanging();
            });
        }
        assertTrue(before > 0 && generations() <= before + 1, () -> "more than those that hold");
        assertEquals(4, receiver.count("lds_shape_steps"));
    }

    /** {@return how many there are after a collection} */
    private static long generations() throws Exception {
        final String histogram = (String)ManagementFactory.getPlatformMBeanServer().invoke(
            new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram", new Object[] {new String[0]},
            new String[] {String[].class.getName()});
        return histogram.lines().map(String::trim).filter((line) -> line.endsWith(".delay.interval.IntervalPoint"))
            .mapToLong((line) -> Long.parseLong(line.split("\\s+")[1])).sum();
    }

    /** Settings of sketches that cannot be built are refused before the sender receives them. */
    @Test
    void shouldRefuseSettingsBeforeAnybodyIsTold() {
        final ExporterConfig newer = newer("", "", "");
        final ExporterConfig impossible = newer.with(newer.lds().withShape(16, 1 << 20));
        assertThrows(IllegalArgumentException.class, () -> receiver.stage.check(impossible));
        receiver.stage.check(newer("source: [0.0.0.0/29], ", "", ""));
        pass(1, null, true);
        assertEquals(1, sender.count("exchange_settings_held"));
    }

    private static List<Integer> dscps(final List<AggregateDelay> aggregates) {
        return aggregates.stream().map(AggregateDelay::dscp).toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"sketch", "flows"})
    void shouldTellEachClassAndChangeClassesAtBothEndsAtOnce(final String mode) throws Exception {
        dscp = 46;
        reconnect("rli: {classes: [0, 46]}\n", ", mode: " + mode);
        pass(6, null, true);
        final long fromNs = changeTo(newer("", "rli: {classes: [0, 12]}\n", ", mode: " + mode), true);
        pass(10, null, true);
        assertFalse(receiver.stage.isChanging());
        int before = 0;
        int after = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            final List<AggregateDelay> classes = each.interval();
            if (each.startNs() < fromNs) {
                assertEquals(List.of(0, 46), dscps(classes));
                assertEquals(classes.get(0).samples(), classes.get(1).samples(), PACKETS_PER_INTERVAL / 4.0);
                assertTrue(classes.get(1).samples() > 0);
                before++;
            } else {
                assertEquals(List.of(0, 12), dscps(classes), "marks that no class has are of the first");
                assertEquals(0, classes.get(1).samples());
                assertTrue(classes.get(0).samples() > PACKETS_PER_INTERVAL / 4, classes::toString);
                after++;
            }
        }
        assertTrue(before >= 3 && after >= 4, "intervals: " + receiver.intervals.keySet());
        final SketchStatistics last = receiver.intervals.get(Collections.max(receiver.intervals.keySet()));
        assertEquals(List.of(0, 12), dscps(last.total()));
        assertEquals(0, receiver.count("exchange_intervals_refused") + receiver.count("lds_intervals_refused"));
        assertEquals(0, receiver.count("lds_intervals_remarked"), "marks do not change on the way");
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first of all");
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
    }

    @Test
    void shouldSelectOtherPacketsAtBothEndsAtOnce() {
        pass(6, null, true);
        final long refusedBefore = receiver.count("exchange_intervals_refused");
        final long fromNs = changeTo(newer("source: [0.0.0.0/29], ", "", ""), false);
        pass(10, null, true);
        assertFalse(receiver.stage.isChanging());
        int selected = 0;
        for (final SketchStatistics each : receiver.intervals.values()) {
            final long packets = each.interval().get(0).samples();
            if (each.startNs() == fromNs || each.startNs() == fromNs - INTERVAL_NS) {
                assertNull(each.unexplainedLost(), "nobody knows which packets under way belong where");
            } else if (each.startNs() > fromNs) {
                assertTrue(packets <= PACKETS_PER_INTERVAL / 2 + FLOWS, "packets of half of the flows: " + packets);
                assertTrue(packets > 0);
                assertNotNull(each.unexplainedLost(), "the loss is known");
                selected++;
            }
        }
        assertTrue(selected >= 3, "intervals: " + receiver.intervals.keySet());
        assertTrue(receiver.counters.get(CounterId.OUTSIDE_SEGMENT) >= 3 * PACKETS_PER_INTERVAL);
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(refusedBefore, receiver.count("exchange_intervals_refused"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }

    /** What SIGHUP does at a receiver: other sketches, weights and intervals of another length, at both ends at the same time. */
    @Test
    void shouldChangeOverAtBothEndsAtOnce() {
        pass(5, null, true);
        final long unanswered = receiver.count("lds_intervals_unanswered");
        final long nowNs = START_NS + packetNumber * GAP_NS;
        final long lengthNs = INTERVAL_NS / 2;
        final ExporterConfig newer = new ConfigLoader().text("test",
            NOT_RECONCILED + "segment: {role: receiver, interval: 5s, source: [0.0.0.0/0]}\n" +
            "lds: {enabled: on, rows: 3, columns: 512, " +
            "weights: [\"src=0.0.0.4 weight=50\"]}\nmetering: {max-flows: 1024}\n" +
            "exchange: {deadline: 20s, mode: sketch, listen: " + PORT + "}\n").conclude();
        final long fromNs = SegmentChange.fromNs(INTERVAL_NS, lengthNs, nowNs);
        final ExchangeReceiver end = (ExchangeReceiver)receiverAgent;
        receiver.stage.change(new SketchChange(newer, fromNs, end.change(newer, fromNs), true));
        assertTrue(receiver.stage.isChanging());
        await(() -> sender.count("exchange_settings_held") == 2);
        pass(12, null, true);
        assertFalse(receiver.stage.isChanging());
        final SketchStatistics last = receiver.intervals.get(Collections.max(receiver.intervals.keySet()));
        assertEquals(lengthNs, last.endNs() - last.startNs());
        assertTrue(last.geometry().startsWith("3 rows of 512 cells"), last.geometry());
        for (final SketchStatistics each : receiver.intervals.values()) {
            assertEquals(each.startNs() < fromNs ? INTERVAL_NS : lengthNs, each.endNs() - each.startNs());
        }
        final long firstNs = Collections.min(receiver.intervals.keySet());
        assertEquals((fromNs - firstNs) / INTERVAL_NS + (last.endNs() - fromNs) / lengthNs, receiver.count("lds_intervals"),
            "every interval of both lengths was compared");
        assertEquals(0, receiver.count("exchange_intervals_refused"));
        assertEquals(0, receiver.count("lds_intervals_refused"));
        assertEquals(unanswered, receiver.count("lds_intervals_unanswered"), "before the sender had begun");
        assertEquals(1, receiver.count("lds_intervals_damaged"), "the first of all");
        assertEquals(0, receiver.count("lds_received_late"));
        assertTrue(receiver.stage.statistics().isAccountedFor(), () -> receiver.stage.statistics().toString());
        assertTrue(sender.stage.statistics().isAccountedFor(), () -> sender.stage.statistics().toString());
    }
}
