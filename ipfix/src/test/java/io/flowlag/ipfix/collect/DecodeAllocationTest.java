package io.flowlag.ipfix.collect;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.element.ElementRegistry;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages of known templates, refreshed templates and refused messages cost no allocation. */
class DecodeAllocationTest {
    private static final int WARM_UP_MESSAGES = 20_000;
    /** The compiler may allocate on our thread while it replaces code; what a message costs shows in every round. */
    private static final int ROUNDS = 3;
    private static final int MEASURED_MESSAGES = 20_000;

    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private long sum;

    @Test
    void shouldNotAllocateForMessagesOfKnownTemplates() {
        final CollectingProcess process =
            new CollectingProcess(ElementRegistry.iana(), CollectorLimits.DEFAULTS, counters, this::read);
        final TransportSession session = process.openSession(SessionKind.UDP, "peer");
        final Octets fixed = set(2, template(256, 8, 4, 12, 4, 4, 1, 1, 8, 152, 8, 156, 8));
        final Octets variable = set(2, template(257, 82, 65535, 4, 1));
        final byte[][] messages = {
            message(1, 0, 1, fixed, variable, set(256, octets().bytes(new byte[33 * 20]))),
            message(1, 20, 1, set(257, octets().u8(3).text("abc").u8(6)), set(256, octets().bytes(new byte[33]))),
            message(1, 0, 1, set(999, octets().u32(1))),
            message(1, 0, 1, set(256, octets().u32(1))),
            message(1, 0, 1, set(4, octets().u32(1))),
        };
        final UnsafeBuffer[] buffers = new UnsafeBuffer[messages.length];
        for (int i = 0; i < messages.length; i++) {
            buffers[i] = new UnsafeBuffer(messages[i]);
        }
        run(process, session, buffers, WARM_UP_MESSAGES);

        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final long threadId = Thread.currentThread().getId();
        long leastAllocatedBytes = Long.MAX_VALUE;
        for (int i = 0; i < ROUNDS; i++) {
            final long beforeBytes = threads.getThreadAllocatedBytes(threadId);
            run(process, session, buffers, MEASURED_MESSAGES);
            leastAllocatedBytes = Math.min(leastAllocatedBytes, threads.getThreadAllocatedBytes(threadId) - beforeBytes);
        }

        assertEquals(0, leastAllocatedBytes);
        assertTrue(sum != 1);
        assertTrue(counters.get(CollectorCounter.TEMPLATES_REFRESHED) > 0);
        assertTrue(CollectorCounter.refused(counters) > 0);
        assertEquals(2, counters.get(CollectorCounter.TEMPLATES_DEFINED));
    }

    private static void run(
        final CollectingProcess process, final TransportSession session, final UnsafeBuffer[] buffers, final int count) {
        for (int i = 0; i < count; i++) {
            final UnsafeBuffer buffer = buffers[i % buffers.length];
            process.onMessage(session, buffer, 0, buffer.capacity(), i);
        }
    }

    private void read(final CollectedRecord record) {
        for (int i = 0; i < record.fieldCount(); i++) {
            sum += record.unsigned(i) + record.signed(i) + record.timestampNs(i) + (record.isTyped(i) ? 1 : 0) +
                record.fieldLengthBytes(i) + (long)record.floating(i);
        }
    }
}
