package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An error ends the stage that threw it, and the later stages finish without it. */
class FatalErrorTest {
    private static final int PACKETS = 5_000;

    private final Counters counters = new Counters();
    private final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();

    private void run(final Threading threading, final long errorAt, final TakingDestination destination) {
        final ExporterConfig config = Pipelines.config(threading);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(new FailingSource(errorAt)), false, DelayWiring.NONE, List.of(destination), counters, errors::add)) {
            Pipelines.runToEnd(pipeline);
        }
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldExportWhatWasMeteredBeforeAnErrorInCapture(final Threading threading) {
        final CountingDestination destination = new CountingDestination(Long.MAX_VALUE);
        run(threading, PACKETS, destination);
        assertEquals(1, errors.size(), errors::toString);
        assertInstanceOf(StackOverflowError.class, errors.peek());
        assertTrue(counters.get(CounterId.METERED) > 0 && counters.get(CounterId.METERED) < 20_000);
        assertTrue(counters.get(CounterId.FLOWS_ENDED_FORCED) > 0);
        assertEquals(counters.get(CounterId.METERED), destination.packets);
    }

    @ParameterizedTest
    @EnumSource(Threading.class)
    void shouldEndAfterAnErrorInExporting(final Threading threading) {
        run(threading, Long.MAX_VALUE, new CountingDestination(10));
        assertInstanceOf(AssertionError.class, errors.peek());
    }

    /** Generated traffic up to an error. */
    private static final class FailingSource extends WrappedSource {
        private final long errorAt;

        FailingSource(final long errorAt) {
            super(new GeneratedTraffic(TrafficProfile.demo()));
            this.errorAt = errorAt;
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            if (capturedCount() >= errorAt) {
                throw new StackOverflowError("of the test");
            }
            return super.poll(handler, packetLimit);
        }
    }

    /** Throws an error at a record. */
    private static final class CountingDestination extends TakingDestination {
        private final long errorAt;
        private long packets;

        CountingDestination(final long errorAt) {
            this.errorAt = errorAt;
        }

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            if (recordCount() == errorAt) {
                throw new AssertionError("of the test");
            }
            packets += FlowEntry.packetCount(entry, offset);
        }
    }
}
