package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.network.window.Windows;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.typeinfo.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Laws of paths, from records of a seed: late ones, ones that span windows, and more flows than may be held. */
@Timeout(120)
class PathFunctionTest {
    private static final long WINDOW_NS = 10_000_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L / WINDOW_NS * WINDOW_NS;
    private static final int WINDOWS = 8;
    private static final long END_MS = START_NS / 1_000_000 + 300_000;
    private static final int FLOWS = 100;
    private static final int MOST_FLOWS = 2048;

    private final DemoNetwork network = new DemoNetwork(7);

    /** Octets are when they were received, ms. */
    private List<FlowPart> records(final long seed) {
        final Random random = new Random(seed);
        final List<DemoNetwork.FlowDelays> flows = network.flows();
        final List<FlowPart> records = new ArrayList<>();
        for (int window = 0; window < WINDOWS; window++) {
            for (int flow = 0; flow < (window == 3 ? 25 * FLOWS : FLOWS); flow++) {
                final DemoNetwork.Flow along = flows.get(random.nextInt(flows.size())).flow();
                final int port = random.nextInt();
                for (final int segment : along.segments()) {
                    final long startNs = START_NS + window * WINDOW_NS + random.nextInt(9) * 1_000_000_000L;
                    final long endNs = random.nextInt(10) == 0 ? startNs + 12_000_000_000L : startNs + 999_000_000L;
                    final long lateNs = random.nextInt(8) > 0 ? 0 : random.nextInt(90) * 1_000_000_000L;
                    records.add(FlowPart.newBuilder().setSegment(network.routes().get(segment).name())
                        .setIsMapped(true).setKey(ByteString.copyFrom(ByteBuffer.allocate(37).putInt(along.source())
                            .putInt(20, along.destination()).putInt(32, port).array()))
                        .setStartNs(startNs).setEndNs(endNs).setPackets(1 + random.nextInt(100)).setMeasured(1)
                        .setMeanNs(1_000).setBoundNs(10).setOctets((endNs + lateNs) / 1_000_000).build());
                }
            }
        }
        records.sort(Comparator.comparing(FlowPart::getOctets));
        return records;
    }

    /** Runs to the end; begins anew with its state after every so many records. */
    private List<PathWindow> run(final List<FlowPart> records, final int restartEach) throws Exception {
        final JobSettings settings = new JobSettings("paths", "", "", network.yaml(), 32473, 500_000, 0.95,
            new JobSettings.Windows(10_000, 15_000, 60_000), new JobSettings.Paths(1, MOST_FLOWS), List.of());
        final FlowSample sample = new FlowSample(settings);
        final OperatorRun<Integer, FlowPart, PathWindow> paths = new OperatorRun<>(
            () -> new PathFunction(settings, sample), sample, Types.INT, MessageType.forMessage(PathWindow.class), null);
        for (int i = 0; i < records.size(); i++) {
            paths.record(records.get(i), records.get(i).getOctets());
            if ((i + 1) % restartEach == 0) {
                paths.restart();
            }
        }
        paths.time(END_MS);
        return List.copyOf(paths.out());
    }

    /** The ports are drawn: no two flows have the same. */
    private static String id(final PathWindow path) {
        return path.getStartNs() + "/" + path.getSrcPort() + '/' + path.getDstPort();
    }

    private static Map<String, PathWindow> last(final List<PathWindow> paths) {
        final Map<String, PathWindow> last = new TreeMap<>();
        paths.forEach((path) -> last.put(id(path), path));
        return last;
    }

    private static double share(final Map<String, PathWindow> paths, final int window) {
        return paths.values().stream().filter((path) -> path.getStartNs() == START_NS + window * WINDOW_NS)
            .mapToDouble(PathWindow::getShare).average().orElseThrow();
    }

    private static long counted(final JobCounter counter) {
        return JobCounters.of("paths").get(counter);
    }

    @Test
    void shouldCountEachRecordOnceAndTellWholePaths() throws Exception {
        final List<FlowPart> records = records(5);
        final List<PathWindow> one = run(records, Integer.MAX_VALUE);

        assertEquals(counted(JobCounter.SAMPLED_FLOWS), counted(JobCounter.JOINED) + counted(JobCounter.SINGLE_SEGMENT) +
            counted(JobCounter.DROPPED_FLOW_LIMIT));
        assertTrue(counted(JobCounter.JOINED) > 0 && counted(JobCounter.SINGLE_SEGMENT) > 0 &&
            counted(JobCounter.DROPPED_FLOW_LIMIT) > 0);
        final Map<String, PathWindow> last = last(one);
        assertTrue(last.size() < one.size(), "none was corrected");
        assertTrue(last.values().stream().anyMatch(PathWindow::getIsDivided));
        assertEquals(1, share(last, 0));
        assertTrue(share(last, 3) < 0.7, "of a window of too many flows");
        assertTrue(share(last, 7) > 0.9, "the share is as before");
        assertWhole(records, last);
        assertEquals(last, last(run(records, 997)), "a restart has changed something");
    }

    /** Paths of flows of which no record was late have all packets of each segment. */
    private void assertWhole(final List<FlowPart> records, final Map<String, PathWindow> last) {
        final Windows windows = new Windows(WINDOW_NS);
        final Map<ByteString, List<FlowPart>> flows = new HashMap<>();
        records.forEach((record) -> flows.computeIfAbsent(record.getKey(), (key) -> new ArrayList<>()).add(record));
        int whole = 0;
        for (final List<FlowPart> flow : flows.values()) {
            if (flow.stream().allMatch((record) -> record.getOctets() == record.getEndNs() / 1_000_000)) {
                final Map<Long, Map<String, Long>> packets = new HashMap<>();
                flow.forEach((record) -> windows.divide(record.getStartNs(), record.getEndNs(), record.getPackets()).stream()
                    .filter((share) -> share.count() > 0).forEach((share) -> packets.computeIfAbsent(
                        share.startNs(), (start) -> new HashMap<>()).merge(record.getSegment(), share.count(), Long::sum)));
                final ByteBuffer key = flow.get(0).getKey().asReadOnlyByteBuffer();
                for (final PathWindow path : last.values()) {
                    if (path.getSrcPort() == Short.toUnsignedInt(key.getShort(32)) &&
                        path.getDstPort() == Short.toUnsignedInt(key.getShort(34))) {
                        final Map<String, Long> told = new HashMap<>();
                        path.getStretchesList().stream().filter(PathWindow.Stretch::hasSegment)
                            .forEach((stretch) -> told.put(stretch.getSegment(), stretch.getPackets()));
                        assertEquals(packets.get(path.getStartNs()), told);
                        whole++;
                    }
                }
            }
        }
        assertTrue(whole > 500, "only " + whole);
    }
}
