package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.export.spool.Spool;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.SnapshotSink;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A checkpoint and the spool of a collector that is away, on a disk that keeps only what was forced. */
class PowerCutTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long MS_NS = 1_000_000L;
    /** A new map takes its name. */
    private static final List<String> NAMED = List.of("force flows.checkpoint.new", "replace flows.checkpoint", "names home");
    private static final int NEVER = Integer.MAX_VALUE;
    private static final int MAX_FLOWS = 256;
    private static final int FLOWS = 200;
    private static final int SEEDS = 4;
    private static final int LIVES = 4;
    private static final int RECORD_BYTES = 24;

    private final TemplateCatalog catalog = new TemplateCatalog(FlowElements.registry(32473));
    private final Template template = catalog.template("flowId", "packetDeltaCount", "flowStartNanoseconds");
    private final Map<String, Long> counted = new HashMap<>();
    private final Map<String, Long> safe = new HashMap<>();
    private final Set<String> given = new HashSet<>();
    private long nowNs = 1_700_000_000L * SECOND_NS;

    @TempDir
    private Path directory;

    private static String key(final long flowId, final long startNs) {
        return flowId + "@" + startNs;
    }

    private static String key(final DirectBuffer buffer, final int offset) {
        return key(FlowEntry.flowId(buffer, offset), FlowEntry.startNs(buffer, offset));
    }

    /** One run of a process; its spool is forced before a flow is taken out, as by the product. */
    private final class Life implements RecordsUnderWay, AutoCloseable {
        private final Counters counters = new Counters();
        private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        private final UnsafeBuffer record = new UnsafeBuffer(new byte[RECORD_BYTES]);
        private final Platter disk;
        private final Spool spool;
        private final Checkpoint checkpoint;
        private final FlowCache cache;
        private long awaited;

        private Life(final Platter disk, final Path home) throws IOException {
            this.disk = disk;
            spool = new Spool(home.resolve("spool"), 1 << 20, (ids, lengths, enterprises) -> template,
                (records, packets, octets) -> assertEquals(0, records), disk, Runnable::run);
            checkpoint = Checkpoint.open(home.resolve("flows.checkpoint"), MAX_FLOWS, 0, counters, disk);
            checkpoint.recordsUnderWay(this);
            final SnapshotSink sink = checkpoint.sink();
            cache = new FlowCache(new FlowCacheSettingsBuilder().maxFlows(MAX_FLOWS).snapshots(new SnapshotSink() {
                @Override
                public boolean onFlow(final DirectBuffer buffer, final int offset) {
                    given.add(key(buffer, offset));
                    return sink.onFlow(buffer, offset);
                }

                @Override
                public boolean onLast(final DirectBuffer buffer, final int offset) {
                    return sink.onLast(buffer, offset);
                }

                @Override
                public boolean onEnded(final long flowId) {
                    return sink.onEnded(flowId);
                }

                @Override
                public boolean onSweepEnded(final long timeNs) {
                    return sink.onSweepEnded(timeNs);
                }
            }, SECOND_NS).build(), (buffer, offset, length) -> {
                record.putLong(0, FlowEntry.flowId(buffer, offset), BIG_ENDIAN);
                record.putLong(8, FlowEntry.packetCount(buffer, offset), BIG_ENDIAN);
                record.putLong(16, FlowEntry.startNs(buffer, offset), BIG_ENDIAN);
                spool.append(template, record, 0, RECORD_BYTES, nowNs / MS_NS);
            }, counters);
        }

        @Override
        public void await(final long timeNs) {
            awaited = spool.recordsIn();
        }

        @Override
        public boolean haveLeft(final long timeNs) {
            return spool.recordsSettled() >= awaited && spool.force();
        }

        private void count(final int flow) {
            nowNs += 1_000;
            PacketDescriptor.timestampNs(descriptor, 0, nowNs);
            PacketDescriptor.sourceLow(descriptor, 0, flow);
            PacketDescriptor.ipVersion(descriptor, 0, 4);
            PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
            PacketDescriptor.segmentCount(descriptor, 0, 1);
            final int entry = cache.stateOffset(cache.update(descriptor, 0)) - FlowEntry.BASE_LENGTH_BYTES;
            counted.merge(key(cache.entries(), entry), 1L, Long::sum);
        }

        /** A whole walk through the cache, and what the checkpoint makes of it. */
        private void round() {
            nowNs += SECOND_NS;
            final Map<String, Long> before = new HashMap<>(counted);
            final long rounds = counters.get(CounterId.CHECKPOINT_ROUNDS);
            cache.snapshot(nowNs);
            checkpoint.doWork();
            if (counters.get(CounterId.CHECKPOINT_ROUNDS) > rounds && !disk.isCut()) {
                before.keySet().retainAll(given);
                safe.putAll(before);
            }
        }

        private void expire(final long ns) {
            nowNs += ns;
            cache.expire(nowNs, MAX_FLOWS);
        }

        /** What a former life left: packets by flow, in the checkpoint and in the spool. */
        private Map<String, Long> left() {
            final Map<String, Long> left = new HashMap<>();
            while (spool.next()) {
                final int offset = spool.recordOffset();
                left.merge(key(spool.buffer().getLong(offset, BIG_ENDIAN), spool.buffer().getLong(offset + 16, BIG_ENDIAN)),
                    spool.buffer().getLong(offset + 8, BIG_ENDIAN), Math::max);
                spool.consume();
            }
            spool.rewind();
            checkpoint.savedFlows().forEach((flow) -> {
                final UnsafeBuffer buffer = new UnsafeBuffer(flow);
                left.merge(key(buffer, 0), FlowEntry.packetCount(buffer, 0), Math::max);
            });
            return left;
        }

        private void takeUp() {
            counted.clear();
            checkpoint.savedFlows().forEach((flow) -> {
                final UnsafeBuffer buffer = new UnsafeBuffer(flow);
                counted.put(key(buffer, 0), FlowEntry.packetCount(buffer, 0));
            });
            while (!checkpoint.savedFlows().isDone()) {
                checkpoint.savedFlows().takeUp(cache, nowNs, MAX_FLOWS);
            }
        }

        private void liveUntilTheCut(final Random random) {
            while (!disk.isCut()) {
                switch (random.nextInt(10)) {
                    case 0, 1 -> round();
                    case 2 -> spool.doWork(nowNs / MS_NS + 1_000);
                    case 3 -> expire(random.nextInt(20) * SECOND_NS);
                    default -> {
                        for (int i = random.nextInt(FLOWS); i >= 0; i--) {
                            count(random.nextInt(FLOWS));
                        }
                    }
                }
            }
        }

        /** The checkpoint is let go as by a kill; the spool's end writes nothing that the cut has not kept already. */
        @Override
        public void close() {
            checkpoint.onClose();
            spool.close();
        }
    }

    @Test
    void shouldLoseNothingOfACompleteRoundByPowerCuts() throws IOException {
        for (int seed = 0; seed < SEEDS; seed++) {
            final Random random = new Random(seed);
            counted.clear();
            safe.clear();
            Path home = Files.createDirectory(directory.resolve("s" + seed));
            for (int i = 0; i < LIVES; i++) {
                final Path next = Files.createDirectory(directory.resolve("s" + seed + "-" + i));
                try (Life life = new Life(new Platter(home, next, random, 12 + random.nextInt(60)), home)) {
                    final Map<String, Long> left = life.left();
                    final String what = "seed " + seed + ", life " + i + ", ";
                    safe.forEach((flow, packets) -> assertTrue(left.getOrDefault(flow, 0L) >= packets,
                        () -> what + flow + ": counted for good " + packets + ", left " + left.getOrDefault(flow, 0L)));
                    assertEquals(life.checkpoint.savedFlows().count(), life.counters.get(CounterId.FLOWS_PERHAPS_DOUBLED));
                    life.takeUp();
                    life.liveUntilTheCut(random);
                }
                home = next;
            }
            assertTrue(!safe.isEmpty(), "no round was complete");
        }
    }

    /** A file is on the disk before it takes its name, and the name is on it before the file is trusted. */
    @Test
    void shouldForceAFileThenItsName() throws IOException {
        final Path home = Files.createDirectory(directory.resolve("home"));
        final Platter disk = new Platter(home, directory.resolve("kept"), new Random(1), NEVER);
        try (Life life = new Life(disk, home)) {
            final List<String> opened = disk.operations();
            assertEquals("names home", opened.get(0), "the spool's directory");
            assertEquals(NAMED, opened.subList(1, 4));
            assertEquals("names home", opened.get(opened.size() - 1), "the ring");
            disk.failing(true);
            life.count(1);
            life.round();
            disk.failing(false);
            for (int i = 0; i < 8; i++) {
                life.round();
            }
            final List<String> begunAgain = disk.operations();
            final int place = begunAgain.indexOf(NAMED.get(1));
            assertTrue(place > 1, begunAgain::toString);
            assertEquals(NAMED, begunAgain.subList(place - 1, place + 2));
        }
        disk.operations();
        Files.writeString(home.resolve("flows.checkpoint"), "damaged");
        try (Life life = new Life(disk, home)) {
            final List<String> opened = disk.operations();
            assertEquals(List.of("replace flows.checkpoint.damaged", "names home"), opened.subList(0, 2));
            assertEquals(NAMED, opened.subList(2, 5));
            life.checkpoint.discard();
            life.checkpoint.onClose();
            assertEquals(List.of("names home"), disk.operations(), "that it is gone");
        }
    }

    @Test
    void shouldForceTheRecordBeforeItsFlowIsForgotten() throws IOException {
        final Path home = Files.createDirectory(directory.resolve("home"));
        final Platter disk = new Platter(home, directory.resolve("kept"), new Random(1), NEVER);
        try (Life life = new Life(disk, home)) {
            life.count(1);
            life.count(2);
            life.round();
            life.expire(20 * SECOND_NS);
            life.round();
            disk.operations();
            life.round();
            assertEquals(List.of("force flows.checkpoint.ring", "force flows.checkpoint"), disk.operations(), "not written yet");
            life.spool.flush();
            life.round();
            assertEquals(List.of("force flows.checkpoint.ring", "force flows.checkpoint", "force 0000000000000001.spool",
                "names spool", "force flows.checkpoint"), disk.operations(), "both records by one force");
            life.round();
            assertEquals(List.of("force flows.checkpoint.ring", "force flows.checkpoint"), disk.operations());
        }
    }
}
