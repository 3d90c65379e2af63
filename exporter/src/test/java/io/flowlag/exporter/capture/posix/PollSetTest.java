package io.flowlag.exporter.capture.posix;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@EnabledOnOs(OS.LINUX)
@Timeout(60)
class PollSetTest {
    private static final int FOREVER_MS = 600_000;
    private static final int INTERNET = 2;
    private static final int DATAGRAMS = 2;

    /** A device that is always readable, and a socket that nothing is sent to. */
    @Test
    void shouldFindWhoIsReadableAndAllocateNothing() {
        final int readable = CLibrary.open("/dev/zero", 0);
        final int silent = CLibrary.socket(INTERNET, DATAGRAMS, 0);
        try {
            final PollSet set = new PollSet(3);
            set.put(0, silent);
            set.put(2, readable);
            set.await(FOREVER_MS);
            assertFalse(set.isReadable(0));
            assertFalse(set.isReadable(1));
            assertTrue(set.isReadable(2));
            assertFalse(set.hasError(2));
            assertTrue(allocated(set, readable) < 10_000);
            set.put(2, -1);
            set.await(0);
            assertFalse(set.isReadable(2));
        } finally {
            CLibrary.close(readable);
            CLibrary.close(silent);
        }
    }

    private static long allocated(final PollSet set, final int readable) {
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long allocated = 0;
        for (int round = 0; round < 5; round++) {
            final long before = thread.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                set.put(2, readable);
                set.await(FOREVER_MS);
                allocated += set.isReadable(2) ? 0 : Integer.MAX_VALUE;
            }
            allocated = thread.getCurrentThreadAllocatedBytes() - before;
        }
        return allocated;
    }
}
