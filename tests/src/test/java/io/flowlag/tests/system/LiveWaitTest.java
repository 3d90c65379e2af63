package io.flowlag.tests.system;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.pipeline.CaptureAgent;
import io.flowlag.exporter.pipeline.ReferenceRecognizer;
import io.flowlag.exporter.runtime.RealtimeClock;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.lang.management.ManagementFactory;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The wait of the capture stage in the kernel, so long that one that is not woken ends the test. */
@Tag("topology")
@Timeout(120)
class LiveWaitTest extends LiveWire {
    private static final int FOREVER_MS = 600_000;
    /** A block and an error each end a wait; one that does not wait at all has thousands. */
    private static final int MOST_WAITS = 50;

    private final Counters counters = new Counters();
    private int waits;

    @Test
    void shouldAwaitSeveralInterfacesAtOnceThoughOneWasDown() throws Exception {
        final CaptureAgent agent = agent(near.call(() -> open(NEAR)), far.call(() -> open(FAR)));
        try {
            send(near, NEAR, 1);
            awaitDecoded(agent, 1);
            near.ip("link", "set", NEAR, "down");
            near.ip("link", "set", NEAR, "up");
            send(far, FAR, 1);
            awaitDecoded(agent, 2);
            assertTrue(waits <= MOST_WAITS, waits + " waits");
        } finally {
            agent.onClose();
        }
    }

    @Test
    void shouldAllocateNothingToWait() throws Exception {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final CaptureAgent agent = agent(near.call(() -> open(NEAR)), far.call(() -> open(FAR)));
        try {
            long allocated = 0;
            for (int round = 1; round <= 5; round++) {
                final long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 2_000; i++) {
                    agent.doWork();
                    agent.await(0);
                }
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertTrue(allocated < 10_000, "allocated " + allocated + " octets");
        } finally {
            agent.onClose();
        }
    }

    private CaptureAgent agent(final LivePacketSource... sources) {
        return new CaptureAgent(List.of(sources), new PacketDecoder(new PacketDecoder.Context(), counters),
            (buffer, offset, count) -> { }, ReferenceRecognizer.NONE, false, RealtimeClock.ofSystem(), counters);
    }

    private static LivePacketSource open(final String interfaceName) {
        return LiveCapture.open(LiveCaptureOptions.of(interfaceName).withRing(4 << 20, 0, 5).withDirection(Direction.IN)
            .withFilterExpression("udp"));
    }

    private static void send(final NetworkNamespace from, final String interfaceName, final int count) throws Exception {
        from.call(() -> {
            try (RawSender sender = new RawSender(interfaceName)) {
                sender.send(Frames.udp(count, 100));
            }
            return null;
        });
    }

    private void awaitDecoded(final CaptureAgent agent, final int count) {
        while (counters.get(CounterId.DECODED) < count) {
            if (agent.doWork() == 0) {
                agent.await(FOREVER_MS);
                waits++;
            }
        }
        assertEquals(count, counters.get(CounterId.DECODED));
    }
}
