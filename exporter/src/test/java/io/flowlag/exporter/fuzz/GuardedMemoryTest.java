package io.flowlag.exporter.fuzz;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(60)
class GuardedMemoryTest {
    private static final byte[] INPUT = {1, 2, 3};

    @TempDir
    Path keep;

    @Test
    void shouldHoldAnInputOfAnyLength() {
        final GuardedMemory memory = new GuardedMemory(1000);
        final UnsafeBuffer view = new UnsafeBuffer(0, 0);
        for (int length = 0; length <= 1000; length++) {
            final byte[] input = new byte[1000];
            input[999] = (byte)length;
            memory.wrap(view, input, 1000 - length, length);
            assertEquals(length, view.capacity());
            assertTrue(length == 0 || UnsafeApi.getByte(view.addressOffset() + length - 1) == (byte)length);
        }
    }

    /** A reader that checks nothing. */
    @Test
    void shouldKeepAnInputBehindWhichATargetReads() throws IOException {
        final ByteArrayOutputStream row = new ByteArrayOutputStream();
        final boolean isClean =
            FuzzAll.runOne(ReadBeyond.class, List.of("planted", keep.toString()), keep, new PrintStream(row, true));
        assertFalse(isClean);
        final String text = row.toString(StandardCharsets.UTF_8);
        assertTrue(text.matches("planted +crash .*planted-[0-9a-f]+\\.bin\\n"), text);
        assertArrayEquals(INPUT, Files.readAllBytes(Path.of(text.strip().replaceFirst(".* ", ""))));
    }

    /** Ends its process by reading one octet too many. */
    static final class ReadBeyond {
        private ReadBeyond() {
        }

        public static void main(final String[] args) throws IOException {
            final UnsafeBuffer latest = FuzzMain.latest(Path.of(args[1]), args[0], 100);
            final UnsafeBuffer view = new UnsafeBuffer(0, 0);
            final GuardedMemory memory = new GuardedMemory(INPUT.length);
            new FuzzLoop(new FuzzTarget() {
                @Override
                public List<byte[]> seeds() {
                    return List.of(INPUT);
                }

                @Override
                public long take(final byte[] octets, final int length) {
                    memory.wrap(view, octets, 0, length);
                    return UnsafeApi.getByte(view.addressOffset() + length);
                }

                @Override
                public int maxInputBytes() {
                    return INPUT.length;
                }

                @Override
                public long allocationBoundBytes() {
                    return Long.MAX_VALUE;
                }
            }, 1, FuzzLoop.ANY_TIME, latest).takeAsTheyAre(List.of(INPUT));
        }
    }
}
