package io.flowlag.exporter.delay;

import io.flowlag.exporter.reconcile.ReconcileSettings;
import io.flowlag.exporter.sketching.SketchContext;
import io.flowlag.exporter.sketching.SketchPair;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

/** What is said of all intervals, by aggregators and by reconciled packets. */
class AggregatesTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 100 * MS;
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final int FLOW = 7;

    private final TrafficClasses classes = new TrafficClasses(List.of());
    private final Aggregates aggregates = new Aggregates();
    private final ReconciledAggregates reconciled = new ReconciledAggregates();
    private final List<AggregateDelay> intervals = new ArrayList<>();
    private final List<AggregateDelay> reconciledIntervals = new ArrayList<>();
    private AggregateDelay total;
    private AggregateDelay reconciledTotal;

    private static SketchContext context() {
        return new SketchContext().geometry(SketchGeometry.lds(4, 1024, 1)).aggregatorCells(64).seed(42)
            .intervalNs(INTERVAL_NS).maximumDelayNs(10 * MS).inFlightPackets(64).waitingRecords(64).maxFlows(64);
    }

    private SketchPair pair() {
        return new SketchPair(
            context().reconcile(new ReconcileSettings(1024, 1024, 0)).conclude(), 64,
            (buffer, offset, lengthBytes, record) -> { },
            (answer) -> {
                aggregates.add(answer, classes);
                reconciled.add(answer, classes);
                intervals.add(aggregates.interval(answer, classes).get(0));
                total = aggregates.total(classes).get(0);
                reconciledIntervals.add(reconciled.statistics(answer, classes).interval().get(0));
                reconciledTotal = reconciled.statistics(answer, classes).total().get(0);
            }, (sent, row, startNs, endNs) -> { });
    }

    private static int packet(final SketchPair pair, final long digest, final long sentNs, final long delayNs, final int record) {
        pair.onSent(START_NS + sentNs, FLOW, digest, 100, 0, 1, null, 0);
        return pair.onReceived(START_NS + sentNs + delayNs, FLOW, digest, 100, 0, 1, 0, record);
    }

    @Test
    void shouldHaveNoDeviationOfOnePacket() {
        final SketchPair pair = pair();
        packet(pair, 77, 30 * MS, 3 * MS, -1);
        pair.onEnd();

        for (final AggregateDelay each : List.of(intervals.get(0), total, reconciledIntervals.get(0), reconciledTotal)) {
            assertEquals(1, each.samples());
            assertEquals(3 * MS, each.meanNs());
            assertNull(each.standardDeviationNs());
        }
    }

    /** Equal packets are in one cell, so that nothing tells how their delays differ. */
    @Test
    void shouldHaveNoDeviationOfEqualPackets() {
        final SketchPair pair = pair();
        int record = -1;
        for (int i = 0; i < 49; i++) {
            record = packet(pair, 77, (20 + i) * MS, 1 + i * MS / 60, record);
        }
        pair.onEnd();

        for (final AggregateDelay each : List.of(intervals.get(0), total, reconciledIntervals.get(0), reconciledTotal)) {
            assertEquals(49, each.samples());
            assertNotNull(each.meanNs());
            assertNull(each.standardDeviationNs());
        }
    }

    /** Many intervals of which nobody can tell a deviation do not make that of the others smaller. */
    @Test
    void shouldNotDiluteTheDeviationByIntervalsWithoutOne() {
        final SketchPair pair = pair();
        int record = -1;
        for (int i = 0; i < 500; i++) {
            record = packet(pair, i * 0x9E37_79B9_7F4A_7C15L, 20 * MS + i * MS / 10, (1 + i % 3) * MS, record);
        }
        for (int interval = 1; interval < 20; interval++) {
            for (int i = 0; i < 49; i++) {
                record = packet(pair, interval, interval * INTERVAL_NS + (20 + i) * MS, 2 * MS, record);
            }
        }
        pair.onEnd();

        assertEquals(20, intervals.size());
        assertNull(intervals.get(1).standardDeviationNs());
        assertNull(reconciledIntervals.get(1).standardDeviationNs());
        assertEquals(500 + 19 * 49, total.samples());
        assertEquals(500 + 19 * 49, reconciledTotal.samples());
        assertEquals(intervals.get(0).standardDeviationNs(), total.standardDeviationNs());
        assertEquals(reconciledIntervals.get(0).standardDeviationNs(), reconciledTotal.standardDeviationNs());
    }

    /** Intervals that have one are put together with how far their means are apart. */
    @Test
    void shouldPutDeviationsTogether() {
        final DelayTotal delays = new DelayTotal();
        assertNull(delays.meanNs());
        assertNull(delays.standardDeviationNs());
        for (final int meanNs : new int[] {1000, 3000}) {
            delays.add(10, meanNs);
            delays.addDeviation(10, meanNs, 500);
        }

        assertEquals(20, delays.samples());
        assertEquals(2000, delays.meanNs());
        assertEquals(Math.round(Math.sqrt(500 * 500 + 1000 * 1000)), delays.standardDeviationNs());

        delays.add(10, 2_000_000);
        assertEquals(30, delays.samples());
        assertEquals(Math.round(Math.sqrt(500 * 500 + 1000 * 1000)), delays.standardDeviationNs());
    }
}
