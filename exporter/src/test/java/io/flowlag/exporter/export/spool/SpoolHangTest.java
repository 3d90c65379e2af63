package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.status.HelperThread;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A spool on a disk that answers late or never: its jobs are held, and run when the test says so. */
class SpoolHangTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int BOUND_BYTES = 1 << 20;
    private static final int PACKETS_OFFSET = 4;
    private static final int BUFFER_BYTES = 256 << 10;
    private static final int FRAME_BYTES = 28;

    private final TemplateCatalog catalog = new TemplateCatalog(FlowElements.registry(32473));
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[12]);
    private final Deque<Runnable> jobs = new ArrayDeque<>();
    private final Disk disk = new Disk() {
        @Override
        public void force(final FileChannel channel, final Path path) {
            // SpoolDiskTest has the order
        }

        @Override
        public void forceDirectory(final Path names) {
            // SpoolDiskTest has the order
        }
    };
    private boolean isHanging;
    private int waits;
    private int answeringWait = Integer.MAX_VALUE;
    private long timeMs = NOW_MS;
    private long lost;
    private long lostPackets;

    @TempDir
    private Path directory;

    private Spool open(final Path path, final long boundBytes) throws IOException {
        return new Spool(path, boundBytes, (ids, lengths, enterprises) -> pair, (records, packets, octets) -> {
            lost += records;
            lostPackets += packets;
        }, disk, new Spool.Jobs() {
            @Override
            public void execute(final Runnable job) {
                jobs.add(job);
                if (!isHanging) {
                    runJobs();
                }
            }

            @Override
            public void await() {
                waits++;
                if (waits % answeringWait == 0) {
                    runJobs();
                }
            }
        });
    }

    private void runJobs() {
        while (!jobs.isEmpty()) {
            jobs.poll().run();
        }
    }

    private void put(final Spool spool, final long number) {
        record.putLong(PACKETS_OFFSET, number, ByteOrder.BIG_ENDIAN);
        spool.append(pair, record, 0, record.capacity(), timeMs);
    }

    private static long[] take(final Spool spool) {
        final long[] taken = {spool.recordSegment(), spool.recordEndOffset(), spool.recordPackets()};
        spool.consume();
        return taken;
    }

    private static void release(final Spool spool, final long[] taken) {
        spool.release(taken[0], taken[1], taken[2], 0);
    }

    private List<Long> takeAll(final Spool spool) {
        final List<Long> numbers = new ArrayList<>();
        while (spool.next()) {
            final long[] taken = take(spool);
            numbers.add(taken[2]);
            release(spool, taken);
            spool.doWork(timeMs);
        }
        return numbers;
    }

    private void assertSums(final Spool spool) {
        assertEquals(spool.recordsIn() + spool.statistics().recordsTakenUp(),
            spool.recordsHeld() + spool.statistics().recordsOut() + lost);
        assertTrue(spool.recordsSettled() <= spool.recordsIn());
    }

    @Test
    void shouldTakeRecordsIntoASecondBufferWhileTheDiskHangsAndLoseFurtherOnes() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 16 << 20)) {
            isHanging = true;
            long number = 0;
            while (lost == 0) {
                put(spool, ++number);
            }
            assertEquals(500, waits, "it waits for a disk that hangs");
            final long kept = number - 1;
            assertTrue(kept > 2 * (BUFFER_BYTES / FRAME_BYTES - 10), () -> kept + " records were kept");
            assertEquals(1, jobs.size());
            for (int i = 0; i < 100; i++) {
                put(spool, ++number);
            }
            assertEquals(101, lost);
            assertEquals(500, waits, "once");
            assertEquals(kept, spool.recordsHeld());
            assertEquals(0, spool.recordsSettled(), "what was lost on its way in comes after what waits");
            assertFalse(spool.flush());
            assertFalse(spool.next());
            assertSums(spool);
            assertEquals("", spool.lastError());
            for (int second = 0; second <= 5; second++) {
                spool.doWork(timeMs + 1_000 * second);
            }
            assertTrue(spool.lastError().endsWith("s: the disk does not answer for 4 s or more"), spool::lastError);
            assertEquals(1, spool.statistics().errors());
            isHanging = false;
            runJobs();
            spool.doWork(timeMs);
            assertEquals("", spool.lastError());
            assertEquals(LongStream.rangeClosed(1, kept).boxed().toList(), takeAll(spool));
            assertEquals(101, lost);
            assertEquals(number, spool.recordsSettled());
            put(spool, ++number);
            assertEquals(List.of(number), takeAll(spool));
            assertSums(spool);
        }
    }

    /** A burst, as of a connection that breaks: megabytes at once. */
    @Test
    void shouldWaitForASlowDiskAndForNoMoreThanItsTime() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 64 << 20)) {
            isHanging = true;
            answeringWait = 400;
            long number = 0;
            while (waits < 2_000) {
                put(spool, ++number);
                assertEquals(0, lost);
            }
            assertTrue(number > 5 * (BUFFER_BYTES / FRAME_BYTES - 10), "so many at once");
            while (lost == 0) {
                put(spool, ++number);
            }
            assertEquals(2_000, waits);
            runJobs();
            spool.doWork(timeMs);
            for (int i = 0; i < 3 * BUFFER_BYTES / FRAME_BYTES; i++) {
                put(spool, ++number);
            }
            assertEquals(1, lost, "it waits again");
            assertTrue(waits > 2_000);
            isHanging = false;
            runJobs();
            assertEquals(number - 1, takeAll(spool).size());
            assertSums(spool);
        }
    }

    @Test
    void shouldLoseNothingOfABurstOnADiskThatAnswers() throws IOException {
        try (HelperThread thread = new HelperThread("spool");
            Spool spool = new Spool(directory.resolve("s"), 64 << 20, (ids, lengths, enterprises) -> pair,
                (records, packets, octets) -> lost += records, disk, thread::execute)) {
            for (int number = 1; number <= 300_000; number++) {
                put(spool, number);
            }
            assertEquals(0, lost);
            assertEquals(300_000, spool.recordsHeld());
        }
    }

    @Test
    void shouldEndWithinABoundAndCountAsLostWhatTheDiskDidNotTake() throws IOException {
        final Path path = directory.resolve("s");
        final Spool spool = open(path, BOUND_BYTES);
        isHanging = true;
        for (int i = 1; i <= 10; i++) {
            put(spool, i);
        }
        spool.flush();
        for (int i = 11; i <= 15; i++) {
            put(spool, i);
        }
        assertEquals(15, spool.recordsHeld());
        spool.close();
        assertEquals(15, lost);
        assertEquals(0, spool.recordsHeld());
        assertTrue(spool.lastError().contains("does not answer"), spool::lastError);
        assertSums(spool);
        isHanging = false;
        runJobs();
        try (Spool next = open(path, BOUND_BYTES)) {
            assertEquals(List.of(), takeAll(next), "the lock is free, and what counts as lost does not come");
        }
    }

    /** Only then may a flow be forgotten whose record it is. */
    @Test
    void shouldSettleNoRecordBeforeItIsOnDisk() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 16 << 20)) {
            isHanging = true;
            put(spool, 1);
            spool.flush();
            isHanging = false;
            runJobs();
            put(spool, 2);
            assertEquals(1, spool.recordsSettled(), "the second one notices that the first is written");
            long number = 2;
            while (spool.recordsSettled() == 1) {
                put(spool, ++number);
            }
            assertEquals(number - 1, spool.recordsSettled(), "the last one made room for itself");
        }
    }

    /** It counts where the spool is used, and the directory is free. */
    @Test
    void shouldThrowWhatAJobThrew() throws IOException {
        final Path path = directory.resolve("s");
        final Spool spool = new Spool(path, BOUND_BYTES, (ids, lengths, enterprises) -> pair, (records, packets, octets) -> { },
            new Disk() {
                @Override
                public void force(final FileChannel channel, final Path file) {
                    throw new IllegalStateException("fault");
                }
            }, Runnable::run);
        put(spool, 1);
        assertThrows(IllegalStateException.class, () -> spool.end(timeMs));
        assertTrue(spool.end(timeMs));
        try (Spool next = open(path, BOUND_BYTES)) {
            assertEquals(List.of(1L), takeAll(next));
        }
    }

    /** What has been read is read again in the same order, and what is gone was counted, whenever the disk answers. */
    @Property(tries = 60)
    void shouldGiveTheSameRecordsInOrderWheneverTheDiskAnswers(@ForAll final long seed) throws IOException {
        final Random random = new Random(seed);
        final Path home = Files.createTempDirectory("spool");
        lost = 0;
        lostPackets = 0;
        jobs.clear();
        isHanging = true;
        try {
            final Path path = home.resolve("s");
            final Spool spool = open(path, BOUND_BYTES);
            final Deque<long[]> underWay = new ArrayDeque<>();
            final List<Long> released = new ArrayList<>();
            long number = 0;
            long newest = 0;
            for (int step = 0; step < 400; step++) {
                switch (random.nextInt(12)) {
                    case 0, 1 -> {
                        for (int i = random.nextInt(random.nextInt(20) == 0 ? 20_000 : 200); i >= 0; i--) {
                            put(spool, ++number);
                        }
                    }
                    case 2, 3, 4, 5 -> {
                        if (!jobs.isEmpty()) {
                            jobs.poll().run();
                        }
                    }
                    case 6, 7 -> {
                        for (int i = random.nextInt(200); i >= 0 && spool.next(); i--) {
                            final long[] taken = take(spool);
                            assertTrue(taken[2] > newest, "read in order");
                            newest = taken[2];
                            underWay.add(taken);
                        }
                    }
                    case 8 -> {
                        for (int i = random.nextInt(300); i >= 0 && spool.tryReady() && !underWay.isEmpty(); i--) {
                            released.add(underWay.peek()[2]);
                            release(spool, underWay.poll());
                        }
                    }
                    case 9 -> spool.flush();
                    case 10 -> {
                        if (random.nextInt(4) == 0 && spool.tryReady()) {
                            spool.rewind();
                            underWay.clear();
                            newest = released.isEmpty() ? 0 : released.get(released.size() - 1);
                        }
                    }
                    default -> {
                        timeMs += random.nextInt(500);
                        spool.doWork(timeMs);
                    }
                }
                assertSums(spool);
            }
            if (random.nextBoolean()) {
                isHanging = false;
                runJobs();
                assertTrue(spool.tryReady());
                spool.rewind();
                released.addAll(takeAll(spool));
                assertEquals(number, released.size() + lost);
                assertEquals(number * (number + 1) / 2, released.stream().mapToLong(Long::longValue).sum() + lostPackets);
            }
            isHanging = true;
            spool.end(timeMs);
            spool.end(timeMs + 1);
            spool.end(timeMs + 3_000); // it is known to hang, so that the end need not wait
            spool.close();
            isHanging = false;
            runJobs();
            assertSums(spool);
            final long before = lost;
            try (Spool next = open(path, BOUND_BYTES)) {
                released.addAll(takeAll(next));
            }
            assertEquals(before, lost);
            assertEquals(released.stream().distinct().sorted().toList(), released, "each once, in order");
            assertEquals(number, released.size() + lost);
        } finally {
            try (Stream<Path> files = Files.walk(home)) {
                for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
