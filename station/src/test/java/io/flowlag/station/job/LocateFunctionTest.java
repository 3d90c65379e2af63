package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Source;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.util.OutputTag;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Alerts begin and end with what they are about; windows are localised in their network; restarts change nothing. */
class LocateFunctionTest {
    private static final long WINDOW_NS = 60_000_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L / WINDOW_NS * WINDOW_NS;
    private static final int HEALTHY = 6;
    private static final int SLOW = 4;
    private static final double SLOW_NS = 2e6;

    private final DemoNetwork network = new DemoNetwork(7);
    private final Map<String, Double> floors = new HashMap<>();

    private OperatorRun<String, SegmentWindow, Verdict> run(final JobSettings.ServiceLevel... levels) throws Exception {
        return run(LocateFunction.ALERTS, List.of(levels));
    }

    private OperatorRun<String, SegmentWindow, Verdict> run(
        final OutputTag<?> side, final List<JobSettings.ServiceLevel> levels) throws Exception {
        final JobSettings settings = new JobSettings("demo", "", "", network.yaml(), 32473, 500_000, 0.95,
            new JobSettings.Windows(60_000, 75_000, 600_000), JobSettings.Paths.USUAL, levels);
        return new OperatorRun<>(() -> new LocateFunction(settings), (window) -> "", Types.STRING,
            MessageType.forMessage(Verdict.class), side);
    }

    /** A window of each segment, five seconds after its end, and final at 75 seconds. */
    private void window(final OperatorRun<String, SegmentWindow, Verdict> run, final long index) throws Exception {
        final long startNs = START_NS + index * WINDOW_NS;
        final long endMs = (startNs + WINDOW_NS) / 1_000_000;
        final List<DemoNetwork.Delays> delays = network.interval();
        for (final boolean isFinal : new boolean[] {false, true}) {
            for (final DemoNetwork.Delays each : delays) {
                floors.merge(each.route().name(), each.minimum(), Math::min);
                run.record(SegmentWindow.newBuilder().setSegment(each.route().name()).setIsMapped(true).setStartNs(startNs)
                    .setEndNs(startNs + WINDOW_NS).setFinal(isFinal).setSource(Source.SOURCE_EXACT).setPackets(each.packets())
                    .setSamples(each.packets()).setMeanNs(each.mean()).setDeviationNs(each.deviation()).setBoundNs(1000)
                    .setClockBoundNs(10_000).setFloorNs(floors.get(each.route().name()))
                    .setHistogram(ByteString.copyFrom(each.histogram())).build(), endMs + (isFinal ? 75_000 : 5_000));
            }
            run.time(endMs + (isFinal ? 76_000 : 6_000));
        }
    }

    private List<Alert> slowHop(final OperatorRun<String, SegmentWindow, Verdict> run) {
        return run.sideOut(Alert.class).stream().filter((alert) -> alert.getKind() == Alert.Kind.SLOW_HOP).toList();
    }

    private void windows(final OperatorRun<String, SegmentWindow, Verdict> run, final boolean isRestarted) throws Exception {
        for (int i = 0; i < HEALTHY + SLOW + 2; i++) {
            network.slow(network.busiestHop(), i >= HEALTHY && i < HEALTHY + SLOW ? SLOW_NS : 0);
            window(run, i);
            if (isRestarted) {
                run.restart();
            }
        }
    }

    @Test
    void shouldTellAnAlertWithEachWindowAndOnceItsEnd() throws Exception {
        final OperatorRun<String, SegmentWindow, Verdict> run = run();
        windows(run, false);
        final List<Alert> alerts = slowHop(run);

        assertEquals(SLOW + 1, alerts.size(), alerts::toString);
        assertEquals(1, alerts.stream().map(Alert::getId).distinct().count());
        assertTrue(alerts.stream().allMatch((alert) -> alert.getStartsNs() == START_NS + HEALTHY * WINDOW_NS));
        assertTrue(alerts.stream().limit(SLOW).noneMatch(Alert::hasEndsNs));
        assertEquals(START_NS + (HEALTHY + SLOW) * WINDOW_NS, alerts.get(SLOW).getEndsNs());
        assertEquals(SLOW_NS, alerts.get(0).getValue(), SLOW_NS / 4);
        final List<String> verdicts = run.out().stream().map(Verdict::getId).toList();
        assertTrue(alerts.stream().map(Alert::getVerdict).allMatch(verdicts::contains));
    }

    @Test
    void shouldGoOnBehindRestartsAsWithout() throws Exception {
        final OperatorRun<String, SegmentWindow, Verdict> whole = run();
        windows(whole, false);
        final OperatorRun<String, SegmentWindow, Verdict> parts = again(new LocateFunctionTest());

        assertEquals(whole.out(), parts.out());
        assertEquals(whole.sideOut(Alert.class), parts.sideOut(Alert.class));
    }

    private static OperatorRun<String, SegmentWindow, Verdict> again(final LocateFunctionTest same) throws Exception {
        final OperatorRun<String, SegmentWindow, Verdict> run = same.run();
        same.windows(run, true);
        return run;
    }

    /**
     * The clock of b is off from the sixth window on, so that what comes there is late and what leaves is early. The floor of the
     * latter falls at once. That of the others moves in the sixteenth window; from then on all is usual.
     */
    @Test
    void shouldBlameAClockUntilFloorsHaveIt() throws Exception {
        final String yaml = """
            nodes: {a: {}, b: {}, c: {}, d: {}}
            links: ['a b', 'b c', 'd b']
            points: {a: {}, b: {}, c: {}, d: {}}
            segments:
              a-b: {from: a, to: b, exporter: 192.0.2.1, domain: 1, id: 1}
              d-b: {from: d, to: b, exporter: 192.0.2.1, domain: 1, id: 2}
              b-c: {from: b, to: c, exporter: 192.0.2.1, domain: 1, id: 3}
            """;
        final JobSettings settings = new JobSettings("demo", "", "", yaml, 32473, 500_000, 0.95,
            new JobSettings.Windows(60_000, 75_000, 600_000));
        final OperatorRun<String, SegmentWindow, Verdict> run = new OperatorRun<>(() -> new LocateFunction(settings),
            (window) -> "", Types.STRING, MessageType.forMessage(Verdict.class), LocateFunction.ALERTS);
        for (int i = 0; i < 24; i++) {
            final long startNs = START_NS + i * WINDOW_NS;
            for (final String name : List.of("a-b", "d-b", "b-c")) {
                final double sign = "b-c".equals(name) ? -1 : 1;
                final double stepNs = i < 6 ? 0 : sign * 5e6;
                run.record(SegmentWindow.newBuilder().setSegment(name).setIsMapped(true).setStartNs(startNs)
                    .setEndNs(startNs + WINDOW_NS).setFinal(true).setSource(Source.SOURCE_EXACT).setPackets(1000)
                    .setMeanNs(2e7 + stepNs).setDeviationNs(2e4).setBoundNs(1000)
                    .setFloorNs(1.99e7 + (sign < 0 || i >= 16 ? stepNs : 0)).setIsFloorMoved(sign > 0 && i == 16).build(),
                    (startNs + WINDOW_NS) / 1_000_000 + 75_000);
            }
            run.time((startNs + WINDOW_NS) / 1_000_000 + 76_000);
        }
        final Map<Verdict.Kind, List<Long>> told = run.out().stream().collect(Collectors.groupingBy(Verdict::getKind,
            Collectors.mapping((each) -> (each.getStartNs() - START_NS) / WINDOW_NS, Collectors.toList())));
        assertEquals(Map.of(Verdict.Kind.CLOCK_MOVED, LongStream.rangeClosed(6, 16).boxed().toList(),
            Verdict.Kind.ROUTE_CHANGED, List.of(16L, 16L)), told);
        assertTrue(run.out().stream().allMatch((each) -> each.getKind() == Verdict.Kind.ROUTE_CHANGED ||
            "b".equals(each.getClock()) && Math.abs(each.getEffectNs() - 5e6) < 5e5), "clock b");
    }

    @Test
    void shouldEndAlertsWhenNothingComes() throws Exception {
        final OperatorRun<String, SegmentWindow, Verdict> run = run();
        for (int i = 0; i <= HEALTHY; i++) {
            network.slow(network.busiestHop(), i == HEALTHY ? SLOW_NS : 0);
            window(run, i);
        }
        assertFalse(slowHop(run).get(0).hasEndsNs());
        run.time((START_NS + (HEALTHY + 7) * WINDOW_NS) / 1_000_000);

        assertEquals(2, slowHop(run).size());
        assertTrue(slowHop(run).get(1).hasEndsNs());
    }

    @Test
    void shouldLocaliseInTheNetworkOfTheWindowsEnd() throws Exception {
        final OperatorRun<String, SegmentWindow, Verdict> run = run();
        network.slow(network.busiestHop(), SLOW_NS);
        final String gone = network.routes().stream().filter((route) ->
            Arrays.stream(route.hops()).anyMatch((hop) -> hop == network.busiestHop())).findFirst().orElseThrow().name();
        run.network(NetworkVersion.newBuilder().setSinceNs(Long.MIN_VALUE).setText(network.yaml()).build());
        window(run, 0);
        run.restart();
        final String text = network.yaml().lines().filter((line) -> !line.startsWith("  " + gone + ": {from"))
            .collect(Collectors.joining("\n"));
        run.network(NetworkVersion.newBuilder().setVersion(1).setSinceNs(START_NS + WINDOW_NS + 1).setText(text).build());
        run.restart();
        final int before = run.out().size();
        window(run, 0);
        assertTrue(run.out().stream().skip(before).allMatch((verdict) -> verdict.getTopology() == 0));
        assertTrue(run.out().stream().skip(before).anyMatch((verdict) -> verdict.getEvidenceList().contains(gone)));
        final int old = run.out().size();
        window(run, 1);

        assertTrue(run.out().size() > old);
        assertTrue(run.out().stream().skip(old).allMatch((verdict) -> verdict.getTopology() == 1));
        assertTrue(run.out().stream().skip(old).noneMatch((verdict) -> verdict.getEvidenceList().contains(gone)));
    }

    @Test
    void shouldPageWhenAServiceLevelBurns() throws Exception {
        final DemoNetwork.Route route = network.routes().get(0);
        final DemoNetwork.Flow far = network.flows().get(0).flow();
        final String from = name(network.routes().get(far.segments().get(0)).from());
        final String to = name(network.routes().get(far.segments().get(far.segments().size() - 1)).to());
        final OperatorRun<String, SegmentWindow, Verdict> run = run(
            new JobSettings.ServiceLevel("near", -1, name(route.from()), name(route.to()), 1_000, 0.99),
            new JobSettings.ServiceLevel("far", -1, from, to, 1_000, 0.99),
            new JobSettings.ServiceLevel("kept", -1, from, to, 1_000_000_000, 0.99),
            new JobSettings.ServiceLevel("other", 46, from, to, 1_000, 0.99));
        window(run, 0);
        window(run, 1);
        final List<Alert> burning = run.sideOut(Alert.class).stream()
            .filter((alert) -> alert.getKind() == Alert.Kind.BUDGET_BURNS).toList();

        assertEquals(List.of("near", "far"), burning.stream().map(Alert::getSlo).distinct().toList());
        assertTrue(burning.stream().allMatch((alert) -> alert.getSeverity() == Alert.Severity.PAGE && !alert.hasEndsNs()));
        assertEquals(100, burning.get(0).getValue(), 1e-9);
        assertEquals(route.name(), burning.get(0).getSegment());
        assertFalse(burning.get(1).hasSegment());
    }

    /** A level of which there are packets is told of with each window, whether it burns or not. */
    @Test
    void shouldTellHowFastServiceLevelsBurn() throws Exception {
        final DemoNetwork.Route route = network.routes().get(0);
        final List<JobSettings.ServiceLevel> levels = List.of(
            new JobSettings.ServiceLevel("near", -1, name(route.from()), name(route.to()), 1_000, 0.99),
            new JobSettings.ServiceLevel("kept", -1, name(route.from()), name(route.to()), 1_000_000_000, 0.99),
            new JobSettings.ServiceLevel("other", 46, name(route.from()), name(route.to()), 1_000, 0.99));
        final OperatorRun<String, SegmentWindow, Verdict> run = run(LocateFunction.STATUS, levels);
        window(run, 0);
        window(run, 1);
        final List<Status.ServiceLevel> told =
            run.sideOut(Status.class).stream().map(Status::getLevel).filter((each) -> each.getEndNs() == START_NS + 2 * WINDOW_NS)
                .toList();
        assertEquals(List.of("near", "kept"), told.stream().map(Status.ServiceLevel::getName).distinct().toList());
        for (final Status.ServiceLevel each : told) {
            assertEquals(List.of(5L, 30L, 60L, 360L, 4320L), each.getRatesList().stream()
                .map((rate) -> rate.getLengthNs() / 60_000_000_000L).toList());
            each.getRatesList().forEach(
                (rate) -> assertEquals("near".equals(each.getName()) ? 100 : 0, rate.getRatio(), 1e-9));
        }
    }

    private String name(final int node) {
        return network.topology().name(node);
    }
}
