package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Joint estimation at a pair of points: late estimates, waiting records, threads. */
class JointSolverTest {
    private static final long INTERVAL_NS = 100_000_000L;
    private static final long MS = 1_000_000L;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int FLOWS = 40;
    private static final int PACKETS = 4_000;

    private static SettingsBuilder context(final boolean isThreaded) {
        return SketchPairTest.context(16).geometry(SketchGeometry.lds(4, 16, 1)).witnessPpm(10_000)
            .joint(new JointSettings(30 * MS, 1_000 * MS, 256, 8192, isThreaded, false));
    }

    /** Delays differ by flow. References are exact except for an offset of each flow, which the cells must find. */
    private static TwoPoints measured(final boolean isThreaded, final long estimateLagNs, final double[] truthNs) {
        final Random random = new Random(9);
        final TwoPoints points = new TwoPoints(context(isThreaded));
        final double[] sums = new double[FLOWS];
        final int[] counts = new int[FLOWS];
        for (int i = 0; i < PACKETS; i++) {
            final int flow = i < FLOWS ? i : random.nextInt(FLOWS);
            final long delayNs = 2 * MS + random.nextLong(MS) + 50_000L * flow;
            points.packet(flow, random.nextLong(8 * INTERVAL_NS), delayNs)
                .estimated(delayNs - 10_000L * (flow % 3), estimateLagNs);
            sums[flow] += delayNs;
            counts[flow]++;
        }
        points.pass();
        points.pair.onEnd();
        for (int flow = 0; flow < FLOWS; flow++) {
            truthNs[flow] = sums[flow] / counts[flow];
        }
        return points;
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 29})
    void shouldBeNearerThanReferencesThatLeanHoweverLateTheyCome(final long lagMs) {
        final double[] truthNs = new double[FLOWS];
        final TwoPoints points = measured(false, lagMs * MS, truthNs);
        int better = 0;
        int held = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            final int record = points.record(flow);
            assertTrue(points.records().hasJointMean(record));
            final double errorNs = Math.abs(points.records().jointMeanNs(record) - truthNs[flow]);
            better += errorNs <= 5_000 + 10_000 * (flow % 3) / 2.0 ? 1 : 0;
            held += errorNs <= points.records().jointBoundNs(record) + 1 ? 1 : 0;
        }
        assertTrue(better >= FLOWS / 2 && held >= FLOWS * 3 / 4, better + " better, " + held + " held of " + FLOWS);
        assertEquals(0, SketchCounter.unexplainedEstimates(points.counters()));
        assertEquals(PACKETS, points.counters().get(SketchCounter.JOINT_ESTIMATES_BOOKED));
        assertEquals(0, points.counters().get(SketchCounter.JOINT_ESTIMATES_HELD));
        assertTrue(points.counters().get(SketchCounter.JOINT_INTERVALS_SOLVED) >= 8);
        assertTrue(points.isAccountedFor());
    }

    private static SettingsBuilder checkedContext() {
        return SketchPairTest.context(16).geometry(SketchGeometry.lds(4, 16, 1)).witnessPpm(10_000).waitingRecords(256)
            .joint(new JointSettings(30 * MS, 1_000 * MS, 256, 8192, false, true));
    }

    /** A record ends within an interval and the queue changes afterwards: the cells know only the sum of both parts. */
    @Test
    void shouldTellRecordsOfOneIntervalApart() {
        final Random random = new Random(3);
        final TwoPoints points = new TwoPoints(checkedContext());
        for (int interval = 0; interval < 8; interval++) {
            for (int i = 0; i < 20 * FLOWS; i++) {
                send(points, random, i % FLOWS, interval * INTERVAL_NS, INTERVAL_NS, 2 * MS + random.nextLong(MS));
            }
        }
        points.pass();
        endAll(points);
        for (int i = 0; i < 10 * FLOWS; i++) {
            send(points, random, i % FLOWS, 8 * INTERVAL_NS + 35 * MS, 20 * MS, 2 * MS);
        }
        points.pass();
        endAll(points);
        for (int i = 0; i < 10 * FLOWS; i++) {
            send(points, random, i % FLOWS, 8 * INTERVAL_NS + 65 * MS, 20 * MS, 6 * MS);
        }
        points.pass();
        endAll(points);
        points.pair.onEnd();

        final List<TwoPoints.JointRecord> parts = points.jointRecords.stream().skip(FLOWS).toList();
        assertEquals(2 * FLOWS, parts.size());
        int bounded = 0;
        int held = 0;
        for (int i = 0; i < parts.size(); i++) {
            final double errorNs = Math.abs(parts.get(i).meanNs() - (i < FLOWS ? 2 * MS : 6 * MS));
            assertTrue(errorNs < 100_000, parts.get(i)::toString);
            bounded += Double.isNaN(parts.get(i).boundNs()) ? 0 : 1;
            held += errorNs <= parts.get(i).boundNs() + 1 ? 1 : 0;
        }
        assertTrue(bounded > FLOWS && held >= 0.9 * bounded, held + " held of " + bounded);
        assertTrue(points.isAccountedFor());
    }

    private static void send(
        final TwoPoints points, final Random random, final int flow, final long fromNs, final long spanNs, final long delayNs) {
        points.packet(flow, fromNs + random.nextLong(spanNs), delayNs)
            .estimated(delayNs - 10_000L * (flow % 3) + random.nextLong(40_000L), 0);
    }

    private static void endAll(final TwoPoints points) {
        for (int flow = 0; flow < FLOWS; flow++) {
            points.end(flow);
        }
    }

    @Test
    void shouldCheckBoundsBySumsOfFlowsThatAreNoWitnesses() {
        final Random random = new Random(4);
        final TwoPoints points = new TwoPoints(checkedContext());
        final int flows = 120;
        for (int interval = 0; interval < 20; interval++) {
            for (int i = 0; i < 10 * flows; i++) {
                send(points, random, i % flows, interval * INTERVAL_NS, INTERVAL_NS, 2 * MS + random.nextLong(MS));
            }
            points.pass();
        }
        points.pair.onEnd();
        final long checked = points.counters().get(SketchCounter.JOINT_CHECKED);
        final long held = points.counters().get(SketchCounter.JOINT_CHECKED_HELD);
        assertTrue(checked > 10 * flows && checked <= 20 * flows, "checked " + checked);
        assertTrue(held >= 0.9 * checked && held < checked, held + " held of " + checked);
        assertTrue(points.counters().get(SketchCounter.JOINT_WITNESSES) + checked <= 20 * flows);
    }

    @Test
    void shouldCountWitnessesForWhichThereIsNoRoom() {
        final Random random = new Random(6);
        final int flows = 300;
        final int room = 256;
        final TwoPoints points = new TwoPoints(
            context(false).witnessPpm(1_000_000).waitingRecords(512)
                .joint(new JointSettings(30 * MS, 1_000 * MS, 512, 8192, false, false)));
        for (int i = 0; i < 4 * flows; i++) {
            send(points, random, i % flows, 0, INTERVAL_NS, 2 * MS + random.nextLong(MS));
        }
        points.pass();
        points.pair.onEnd();
        assertEquals(room, points.counters().get(SketchCounter.JOINT_WITNESSES));
        assertEquals(flows - room, points.counters().get(SketchCounter.JOINT_WITNESSES_LEFT_OUT));
    }

    @Test
    void shouldTellNoBoundThatNobodyVouchesFor() {
        final Random random = new Random(5);
        final TwoPoints points = new TwoPoints(context(false).witnessPpm(0));
        final int flows = 120;
        for (int i = 0; i < 10 * flows; i++) {
            send(points, random, i % flows, 0, INTERVAL_NS, 2 * MS + random.nextLong(MS));
        }
        points.pass();
        points.pair.onEnd();
        int bounded = 0;
        for (int flow = 0; flow < flows; flow++) {
            assertTrue(points.records().hasJointMean(points.record(flow)));
            bounded += points.records().hasJointBound(points.record(flow)) ? 1 : 0;
        }
        assertTrue(bounded < flows / 10, bounded + " bounds without a witness");
        assertEquals(bounded, points.counters().get(SketchCounter.JOINT_VOUCHED));
        assertEquals(flows, points.counters().get(SketchCounter.JOINT_ANSWERED));
    }

    @Test
    void shouldCountEstimatesThatComeWhenTheirIntervalIsClosed() {
        final TwoPoints points = measured(false, 200 * MS, new double[FLOWS]);
        assertTrue(points.counters().get(SketchCounter.JOINT_ESTIMATES_LATE) > PACKETS / 4);
        assertEquals(0, SketchCounter.unexplainedEstimates(points.counters()));
    }

    @Test
    void shouldGiveTheSameOnAThreadOfItsOwn() {
        final TwoPoints points = new TwoPoints(context(true));
        for (int interval = 0; interval < 6; interval++) {
            for (int flow = 0; flow < FLOWS; flow++) {
                points.packet(flow, interval * INTERVAL_NS + flow * MS, 2 * MS).estimated(2 * MS, 0);
            }
            points.pass();
            final long before = points.counters().get(SketchCounter.JOINT_INTERVALS);
            points.pair.onTime(TwoPoints.START_NS + (interval + 1) * INTERVAL_NS + 60 * MS);
            final long deadlineNs = System.nanoTime() + DEADLINE_NS;
            while (points.counters().get(SketchCounter.JOINT_INTERVALS) == before && System.nanoTime() - deadlineNs < 0) {
                points.pair.receiver().onSolved();
                LockSupport.parkNanos(MS);
            }
        }
        points.pair.onEnd();
        points.pair.receiver().close();
        assertEquals(0, points.counters().get(SketchCounter.JOINT_INTERVALS_SKIPPED));
        assertEquals(0, points.counters().get(SketchCounter.JOINT_INTERVALS_TOO_LARGE));
        for (int flow = 0; flow < FLOWS; flow++) {
            assertTrue(points.records().hasJointMean(points.record(flow)));
            assertEquals(2 * MS, points.records().jointMeanNs(points.record(flow)), 1);
        }
    }

    /** A suspended thread is one whose task does not return. Newer versions of Java cannot suspend one. */
    @Test
    @DisabledForJreRange(min = JRE.JAVA_20)
    void shouldTellThatItsThreadHangs() throws ReflectiveOperationException {
        final Set<Heartbeat> others = Set.copyOf(Heartbeat.living());
        final Set<Thread> otherThreads = Thread.getAllStackTraces().keySet();
        final TwoPoints points = new TwoPoints(context(true));
        final Heartbeat heartbeat = await(() -> Heartbeat.living().stream()
            .filter((each) -> "joint".equals(each.roleName()) && !others.contains(each)).findAny());
        final Thread thread = await(() -> Thread.getAllStackTraces().keySet().stream()
            .filter((each) -> "joint".equals(each.getName()) && !otherThreads.contains(each)).findAny());
        Thread.class.getMethod("suspend").invoke(thread);
        try {
            assertFalse(heartbeat.isStalled(1));
            assertFalse(heartbeat.isStalled(Heartbeat.PATIENT_NS));
            assertTrue(heartbeat.isStalled(1 + Heartbeat.PATIENT_NS));
        } finally {
            Thread.class.getMethod("resume").invoke(thread);
        }
        await(() -> heartbeat.isStalled(1 + Heartbeat.PATIENT_NS) ? Optional.empty() : Optional.of(heartbeat));
        points.pair.onEnd();
        points.pair.receiver().close();
    }

    private static <T> T await(final Supplier<Optional<T>> found) {
        final long deadlineNs = System.nanoTime() + DEADLINE_NS;
        Optional<T> now = found.get();
        while (now.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(MS);
            now = found.get();
        }
        return now.orElseThrow();
    }

    @Test
    void shouldKeepRecordsOfEndedFlowsUntilTheirIntervalIsSolved() {
        final TwoPoints points = new TwoPoints(context(true));
        points.packet(1, MS, 2 * MS).estimated(2 * MS, 0).packet(2, 2 * MS, 3 * MS).estimated(3 * MS, 0).pass();
        assertTrue(points.end(1));
        assertTrue(points.completed.isEmpty());
        points.pair.onEnd();
        points.pair.receiver().close();
        assertEquals(1, points.completed.get(1));
        assertTrue(points.isAccountedFor());
        assertFalse(points.completed.containsKey(2));
    }
}
