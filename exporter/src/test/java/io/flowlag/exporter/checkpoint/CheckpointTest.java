package io.flowlag.exporter.checkpoint;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.file.Disk;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import net.openhft.chronicle.hash.impl.BigSegmentHeader;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class CheckpointTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    private static final int STATE_BYTES = 128;
    private static final int RING_FLOWS = 20_000;
    private static final int MAX_FLOWS = 256;

    @TempDir
    private Path directory;

    /** One run of a process: its cache, its checkpoint, its records. */
    private final class Life implements AutoCloseable {
        private final Counters counters = new Counters();
        private final Map<Integer, Long> packetsOfRecords = new TreeMap<>();
        private final Map<Integer, Integer> reasonsOfRecords = new TreeMap<>();
        private final Map<Integer, Long> delaysOfRecords = new TreeMap<>();
        private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        private final Checkpoint checkpoint;
        private final FlowCache cache;
        private final int endedCount;

        private Life(final int maxFlows, final Disk disk) throws IOException {
            checkpoint = Checkpoint.open(file(), maxFlows, STATE_BYTES, counters, disk);
            endedCount = checkpoint.savedFlows().endedCount();
            cache = new FlowCache(
                new FlowCacheSettingsBuilder().maxFlows(maxFlows).stateLengthBytes(STATE_BYTES)
                    .snapshots(checkpoint.sink(), SECOND_NS).build(),
                (buffer, offset, length) -> {
                    final int flow = (int)FlowEntry.sourceLow(buffer, offset);
                    packetsOfRecords.merge(flow, FlowEntry.packetCount(buffer, offset), Long::sum);
                    reasonsOfRecords.put(flow, FlowEntry.endReason(buffer, offset));
                    delaysOfRecords.put(flow, buffer.getLong(offset + FlowEntry.BASE_LENGTH_BYTES));
                    assertEquals(0, buffer.getLong(offset + FlowEntry.BASE_LENGTH_BYTES + SavedFlow.STATE_LENGTH_BYTES));
                }, counters);
        }

        private int count(final int flow, final long timestampNs) {
            PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
            PacketDescriptor.sourceLow(descriptor, 0, flow);
            PacketDescriptor.ipVersion(descriptor, 0, 4);
            PacketDescriptor.ipLengthBytes(descriptor, 0, 100);
            PacketDescriptor.segmentCount(descriptor, 0, 1);
            return cache.update(descriptor, 0);
        }

        private void takeUp(final long nowNs) {
            while (!checkpoint.savedFlows().isDone()) {
                checkpoint.savedFlows().takeUp(cache, nowNs, 7);
                copy(nowNs);
            }
        }

        private void copy(final long nowNs) {
            final long rounds = counters.get(CounterId.CHECKPOINT_ROUNDS);
            for (long ns = nowNs; counters.get(CounterId.CHECKPOINT_ROUNDS) == rounds; ns += SECOND_NS) {
                cache.snapshot(ns);
                checkpoint.doWork();
            }
        }

        /** Ends as a killed process does: removes nothing. */
        @Override
        public void close() {
            checkpoint.onClose();
        }
    }

    private Path file() {
        return directory.resolve("flows.checkpoint");
    }

    private Life life() throws IOException {
        return new Life(MAX_FLOWS, Disk.SYSTEM);
    }

    /** A lock that a fault left closed makes the writer fail soon, and a new file begins. */
    @Test
    void shouldNotWaitForALockThatNoOneHolds() throws IOException {
        life().close();
        assertEquals(2, BigSegmentHeader.LOCK_TIMEOUT_SECONDS);
    }

    @Test
    void shouldTakeUpLivingFlowsWithTheirCountsAndDelays() throws IOException {
        try (Life first = life()) {
            final int slot = first.count(1, START_NS);
            first.cache.entries().putLong(first.cache.stateOffset(slot), 4711);
            first.cache.entries().putLong(first.cache.stateOffset(slot) + SavedFlow.STATE_LENGTH_BYTES, 42);
            first.count(1, START_NS + 5);
            first.count(2, START_NS);
            first.copy(START_NS);
            first.count(2, START_NS + 9);
        }
        try (Life second = life()) {
            assertEquals(2, second.checkpoint.savedFlows().count());
            second.takeUp(START_NS + SECOND_NS);
            assertEquals(2, second.counters.get(CounterId.FLOWS_TAKEN_UP));
            assertEquals(Map.of(), second.packetsOfRecords);
            second.count(1, START_NS + 2 * SECOND_NS);
            second.cache.flush(MAX_FLOWS);
            assertEquals(Map.of(1, 3L, 2, 1L), second.packetsOfRecords);
            assertEquals(Map.of(1, 4711L, 2, 0L), second.delaysOfRecords);
        }
    }

    @Test
    void shouldEndByForceWhatHasTimedOutMeanwhile() throws IOException {
        try (Life first = life()) {
            first.count(1, START_NS);
            first.count(2, START_NS + 10 * SECOND_NS);
            first.copy(START_NS + 10 * SECOND_NS);
        }
        try (Life second = life()) {
            second.takeUp(START_NS + 16 * SECOND_NS);
            assertEquals(Map.of(1, EndReason.FORCED_END.code()), second.reasonsOfRecords);
            assertEquals(1, second.cache.size());
        }
        try (Life third = life()) {
            third.takeUp(START_NS + 17 * SECOND_NS);
            assertEquals(Map.of(1, EndReason.FORCED_END.code()), third.reasonsOfRecords, "its record may not have left in time");
            assertEquals(1, third.endedCount);
            assertEquals(2, third.counters.get(CounterId.FLOWS_PERHAPS_DOUBLED));
            third.copy(START_NS + 18 * SECOND_NS);
            third.copy(START_NS + 20 * SECOND_NS);
        }
        try (Life fourth = life()) {
            assertEquals(0, fourth.endedCount, "a round later it is gone");
            assertEquals(1, fourth.checkpoint.savedFlows().count());
        }
    }

    @Test
    void shouldGiveFlowIdsThatNoFormerLifeGave() throws IOException {
        try (Life first = life()) {
            for (int flow = 0; flow < 100; flow++) {
                first.count(flow, START_NS);
            }
            first.copy(START_NS);
        }
        try (Life second = life()) {
            second.takeUp(START_NS);
            final int slot = second.count(1000, START_NS);
            final int entryOffset = second.cache.stateOffset(slot) - FlowEntry.BASE_LENGTH_BYTES;
            assertEquals(101, FlowEntry.flowId(second.cache.entries(), entryOffset));
        }
    }

    @Test
    void shouldKeepTheFlowsWhenTheCacheHasAnotherSize() throws IOException {
        try (Life first = life()) {
            for (int flow = 0; flow < 200; flow++) {
                first.count(flow, START_NS);
            }
            first.copy(START_NS);
        }
        try (Life larger = new Life(4 * MAX_FLOWS, Disk.SYSTEM)) {
            assertEquals(200, larger.checkpoint.savedFlows().count());
        }
        try (Life smaller = new Life(64, Disk.SYSTEM)) {
            assertEquals(200, smaller.checkpoint.savedFlows().count());
            smaller.takeUp(START_NS);
            assertEquals(64, smaller.cache.size());
            assertEquals(136, smaller.packetsOfRecords.size(), "what has no room becomes a record");
        }
    }

    @Test
    void shouldReadFirstWhatWasOnItsWay() throws IOException {
        try (Life first = life()) {
            first.count(1, START_NS);
            first.count(2, START_NS);
            first.copy(START_NS);
            first.count(1, START_NS + 1);
            first.count(3, START_NS + 1);
            first.cache.snapshot(START_NS + SECOND_NS);
            first.cache.flush(MAX_FLOWS);
        }
        try (Life second = life()) {
            assertEquals(3, second.checkpoint.savedFlows().count());
            assertEquals(3, second.counters.get(CounterId.FLOWS_PERHAPS_DOUBLED));
            second.takeUp(START_NS + SECOND_NS);
            assertEquals(Map.of(1, 2L, 2, 1L, 3, 1L), second.packetsOfRecords);
        }
    }

    @Test
    void shouldStopAtTheFirstDamagedMessageOnItsWay() throws IOException {
        final Random random = new Random(7);
        final Path ring = directory.resolve("flows.checkpoint.ring");
        for (int i = 0; i < 30; i++) {
            try (Life first = life()) {
                first.copy(START_NS);
                for (int flow = 0; flow < 100; flow++) {
                    first.count(flow, START_NS);
                }
                first.cache.snapshot(START_NS + SECOND_NS);
            }
            final byte[] octets = Files.readAllBytes(ring);
            for (int k = 0; k < 1 << random.nextInt(10); k++) {
                final int at = random.nextInt(random.nextBoolean() ? 20_000 : CheckpointRing.SLOTS_OFFSET);
                octets[at] ^= (byte)(1 << random.nextInt(8));
            }
            Files.write(ring, i % 10 == 9 ? Arrays.copyOf(octets, random.nextInt(octets.length)) : octets);
            try (Life second = life()) {
                assertTrue(second.checkpoint.savedFlows().count() <= 100);
                second.takeUp(START_NS + SECOND_NS);
                second.checkpoint.discard();
            }
        }
    }

    /** What was on its way counts only if it was forced, and any flow may have been exported. */
    @Test
    void shouldTrustAfterAPowerCutWhatWasForcedAlone() throws IOException {
        final Path ring = directory.resolve("flows.checkpoint.ring");
        try (Life first = life()) {
            first.count(1, START_NS);
            first.copy(START_NS);
            first.count(2, START_NS);
            first.cache.snapshot(START_NS + 2 * SECOND_NS);
        }
        final byte[] killed = Files.readAllBytes(ring);
        Files.write(ring, Platter.withOtherBoot(killed));
        try (Life second = life()) {
            assertEquals(1, second.checkpoint.savedFlows().count(), "the second flow's copy was not forced");
            assertEquals(1, second.counters.get(CounterId.FLOWS_PERHAPS_DOUBLED));
        }
    }

    @Test
    void shouldMendFromTheRingWhatAPowerCutToreInTheMap() throws IOException {
        final Path ring = directory.resolve("flows.checkpoint.ring");
        final byte[] map;
        try (Life first = life()) {
            first.copy(START_NS);
            first.count(1, START_NS);
            first.count(1, START_NS + 1);
            map = Files.readAllBytes(file());
            first.copy(START_NS + SECOND_NS);
        }
        final byte[] octets = Files.readAllBytes(ring);
        final UnsafeBuffer header = new UnsafeBuffer(octets);
        assertEquals(header.getLong(CheckpointRing.FORCED_OFFSET), header.getLong(CheckpointRing.RELEASED_OFFSET));
        header.putLong(CheckpointRing.RELEASED_OFFSET, 1); // the ring was forced, the map was not
        Files.write(ring, Platter.withOtherBoot(octets));
        Files.write(file(), map);
        try (Life second = life()) {
            second.takeUp(START_NS + SECOND_NS);
            second.cache.flush(MAX_FLOWS);
            assertEquals(Map.of(1, 2L), second.packetsOfRecords);
        }
    }

    /** A kill ends at a torn slot. After a power cut, slots that the next lap has overwritten are left out. */
    @Test
    void shouldNeverReplayAnOlderLapOverANewerOne() throws IOException {
        final Path path = directory.resolve("ring");
        final int slots = (int)((Files.size(ring(path)) - CheckpointRing.SLOTS_OFFSET) / CheckpointRing.SLOT_BYTES);
        final long given = 3L * slots;
        assertEquals(105, replayed(path, given, given - 200, given - 95, false));
        assertEquals(999, replayed(path, given, given - slots - 500, given - slots + 5, true));
    }

    /** Gives copies, numbered, then tears the slot of one. Returns how many came, in their order. */
    private static long replayed(
        final Path path, final long given, final long released, final long torn, final boolean isCut) throws IOException {
        final UnsafeBuffer flow = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
        final int slots = (int)((Files.size(ring(path)) - CheckpointRing.SLOTS_OFFSET) / CheckpointRing.SLOT_BYTES);
        try (CheckpointRing ring = CheckpointRing.open(path, 0, Disk.SYSTEM)) {
            ring.begin(RING_FLOWS);
            for (int i = 0; i < given; i++) {
                FlowEntry.packetCount(flow, 0, i);
                assertTrue(ring.onFlow(flow, 0));
                if (ring.isDue()) {
                    ring.force();
                    ring.read((type, buffer, index, length) -> { });
                    ring.release();
                }
            }
            ring.write();
        }
        final byte[] octets = Files.readAllBytes(path);
        final UnsafeBuffer buffer = new UnsafeBuffer(octets);
        octets[CheckpointRing.SLOTS_OFFSET + (int)(torn % slots) * CheckpointRing.SLOT_BYTES + 20] ^= 1;
        buffer.putLong(CheckpointRing.RELEASED_OFFSET, released);
        buffer.putLong(CheckpointRing.FORCED_OFFSET, given - slots + 1_000);
        Files.write(path, isCut ? Platter.withOtherBoot(octets) : octets);
        try (CheckpointRing ring = CheckpointRing.open(path, 0, Disk.SYSTEM)) {
            assertEquals(isCut, ring.isOfOtherBoot());
            final long[] last = {-1, 0};
            ring.replay((type, content, index, length) -> {
                final long packets = FlowEntry.packetCount(content, index);
                assertTrue(packets > last[0] && packets != torn, () -> packets + " after " + last[0]);
                last[0] = packets;
                last[1]++;
            });
            ring.begin(1);
            assertTrue(Files.size(path) < octets.length / 100 && ring.onFlow(flow, 0), "a smaller cache has a smaller ring");
            return last[1];
        }
    }

    @Test
    void shouldAllocateNothingWhereCopiesAreOffered() throws IOException {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final UnsafeBuffer flow = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);
        try (CheckpointRing ring = CheckpointRing.open(directory.resolve("ring"), 0, Disk.SYSTEM)) {
            ring.begin(RING_FLOWS);
            long octets = 0;
            for (int i = 0; i < 20_000; i++) {
                if (i == 10_000) {
                    octets = threads.getCurrentThreadAllocatedBytes();
                }
                assertTrue(i % 2 == 0 ? ring.onFlow(flow, 0) : ring.onLast(flow, 0));
            }
            assertTrue(threads.getCurrentThreadAllocatedBytes() - octets < 10_000);
        }
    }

    private static Path ring(final Path path) throws IOException {
        try (CheckpointRing ring = CheckpointRing.open(path, 0, Disk.SYSTEM)) {
            ring.begin(RING_FLOWS);
        }
        return path;
    }

    /** A kill at any step after a failed write, until a new file holds all flows, leaves the former file. */
    @Test
    void shouldLoseNoFlowByAKillBeforeANewFileIsWhole() throws IOException {
        final boolean[] isFailing = new boolean[1];
        final Disk disk = failing(isFailing);
        int partialCount = 0;
        boolean isPartial = true;
        for (int steps = 0; (isPartial || partialCount == 0) && steps < 50; steps++) {
            try (Life first = new Life(MAX_FLOWS, disk)) {
                for (int flow = 0; flow < 100; flow++) {
                    first.count(flow, START_NS);
                }
                first.copy(START_NS);
                isFailing[0] = true;
                long nowNs = START_NS + 10 * SECOND_NS;
                for (; first.counters.get(CounterId.CHECKPOINT_FAILURES) == 0; nowNs += SECOND_NS) {
                    first.cache.snapshot(nowNs);
                    first.checkpoint.doWork();
                }
                isFailing[0] = false;
                for (int i = 0; i < steps; i++, nowNs += SECOND_NS / 4) {
                    first.count(i % 100, nowNs);
                    first.cache.snapshot(nowNs);
                    first.checkpoint.doWork();
                }
                isPartial = Files.exists(directory.resolve("flows.checkpoint.new"));
                partialCount += isPartial ? 1 : 0;
            }
            try (Life second = life()) {
                assertEquals(100, second.checkpoint.savedFlows().count(), "after steps: " + steps);
                assertFalse(Files.exists(directory.resolve("flows.checkpoint.new")));
                second.checkpoint.discard();
            }
        }
        assertTrue(!isPartial && partialCount > 1, partialCount + " steps with two files");
    }

    private static Disk failing(final boolean[] isFailing) {
        return new Disk() {
            @Override
            public void force(final FileChannel channel, final Path path) throws IOException {
                if (isFailing[0]) {
                    throw new IOException("Input/output error");
                }
            }
        };
    }

    /** A disk that fails: a new file is tried after ever longer pauses, and everything is given again once it takes writes. */
    @Test
    void shouldPauseWhileADiskFailsAndHeal() throws IOException {
        final boolean[] isFailing = new boolean[1];
        final Disk disk = failing(isFailing);
        long nowNs = START_NS;
        try (Life first = new Life(MAX_FLOWS, disk)) {
            for (int flow = 0; flow < 100; flow++) {
                first.count(flow, nowNs);
            }
            first.copy(nowNs);
            isFailing[0] = true;
            for (int i = 0; i < 200; i++) {
                nowNs += SECOND_NS;
                first.count(i % 100, nowNs);
                first.cache.snapshot(nowNs);
                first.checkpoint.doWork();
            }
            final long failures = first.counters.get(CounterId.CHECKPOINT_FAILURES);
            assertTrue(failures >= 2 && failures <= 9, failures + " failures in 200 rounds");
            isFailing[0] = false;
            first.copy(nowNs + SECOND_NS);
            nowNs += 200 * SECOND_NS;
            assertEquals(failures, first.counters.get(CounterId.CHECKPOINT_FAILURES));
        }
        try (Life second = life()) {
            assertEquals(100, second.checkpoint.savedFlows().count());
        }
    }

    /** The blocks of ring and map are there before they are used: a full disk is no signal in the middle of a write. */
    @Test
    void shouldGoOnWhenItsDiskIsFull() throws Exception {
        final Path mount = Files.createDirectory(directory.resolve("small"));
        assumeTrue(new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=24m,mode=700", "none", mount.toString()).start()
            .waitFor() == 0, "a file system can be mounted by root alone");
        try {
            directory = mount;
            try (Life life = life()) {
                final long room = Files.getFileStore(mount).getUsableSpace();
                assertThrows(IOException.class, () -> Files.write(mount.resolve("rest"), new byte[(int)room + (1 << 20)]));
                assertEquals(0, Files.getFileStore(mount).getUsableSpace());
                for (int round = 0; round < 3; round++) {
                    for (int flow = 0; flow < MAX_FLOWS; flow++) {
                        life.count(flow, START_NS + round);
                    }
                    life.copy(START_NS + 2 * round * SECOND_NS);
                }
                assertEquals(0, life.counters.get(CounterId.CHECKPOINT_FAILURES));
            }
            try (Life next = life()) {
                assertEquals(MAX_FLOWS, next.checkpoint.savedFlows().count());
            }
            Files.delete(file());
            assertThrows(IOException.class, () -> {
                Files.write(mount.resolve("more"), new byte[4 << 20]);
                Files.delete(mount.resolve("flows.checkpoint.ring"));
                Files.write(mount.resolve("more"), new byte[24 << 20]);
            });
            assertThrows(IOException.class, this::life, "no room at the start is refused");
        } finally {
            new ProcessBuilder("umount", mount.toString()).start().waitFor();
        }
    }

    @Test
    void shouldRefuseLinksAndDirectoriesOfOthersAndKeepItsFilesToItself() throws IOException {
        life().close();
        for (final String name : List.of("flows.checkpoint", "flows.checkpoint.ring", "flows.checkpoint.lock")) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve(name))));
            final Path aside = Files.move(directory.resolve(name), directory.resolve("aside"));
            Files.createSymbolicLink(directory.resolve(name), aside);
            assertTrue(assertThrows(IOException.class, this::life).getMessage().startsWith("is a link"), name);
            Files.move(aside, directory.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertTrue(assertThrows(IOException.class, this::life).getMessage().contains("chmod go-w"));
    }

    @Test
    void shouldLeaveNothingAfterAnEndInOrder() throws IOException {
        try (Life life = life()) {
            life.count(1, START_NS);
            life.copy(START_NS);
            life.checkpoint.discard();
        }
        assertFalse(Files.exists(file()));
    }

    @Test
    void shouldRefuseASecondProcess() throws IOException {
        try (Life life = life()) {
            assertEquals(0, life.checkpoint.savedFlows().count());
            assertThrows(IOException.class, () -> Checkpoint.open(file(), MAX_FLOWS, STATE_BYTES, new Counters()));
        }
        try (Life next = life()) {
            assertEquals(0, next.checkpoint.savedFlows().count());
        }
    }

    @Test
    void shouldSetAsideWhatIsNoCheckpoint() throws IOException {
        for (final byte[] octets : new byte[][]{
            "interfaces: [eth0]\n".repeat(1000).getBytes(StandardCharsets.UTF_8), new byte[0], new byte[100_000], {1, 2, 3}}) {
            Files.write(file(), octets);
            try (Life life = life()) {
                assertEquals(0, life.checkpoint.savedFlows().count());
                life.count(1, START_NS);
                life.copy(START_NS);
            }
            final Path aside = directory.resolve("flows.checkpoint.damaged");
            assertArrayEquals(octets, Files.readAllBytes(aside));
            Files.delete(aside);
            Files.delete(file());
        }
    }

    /** With any octets damaged, a start succeeds and restores no flow that never existed. */
    @Test
    void shouldNeitherFailNorInventAfterDamage() throws IOException {
        final byte[] whole = wholeFile();
        final Random random = new Random(5);
        for (int i = 0; i < 40; i++) {
            final byte[] damaged = i % 4 == 0 ? Arrays.copyOf(whole, random.nextInt(whole.length)) : whole.clone();
            for (int k = 0; k < 1 << random.nextInt(12) && damaged.length > 0; k++) {
                damaged[random.nextInt(damaged.length)] ^= (byte)(1 << random.nextInt(8));
            }
            Files.write(file(), damaged);
            try (Life life = life()) {
                life.takeUp(START_NS + SECOND_NS);
                life.cache.flush(MAX_FLOWS);
                life.packetsOfRecords.forEach((flow, packets) -> assertEquals(1 + flow % 3, packets, "flow " + flow));
                life.copy(START_NS + 3 * SECOND_NS);
            }
        }
    }

    private byte[] wholeFile() throws IOException {
        try (Life life = life()) {
            for (int flow = 0; flow < 200; flow++) {
                for (int packet = 0; packet <= flow % 3; packet++) {
                    life.count(flow, START_NS);
                }
            }
            life.copy(START_NS);
        }
        return Files.readAllBytes(file());
    }
}
