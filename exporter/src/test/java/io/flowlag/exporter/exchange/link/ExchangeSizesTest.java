package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.exchange.wire.ExchangePrice;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sizes of an exchange that is not open are those of the open one. */
class ExchangeSizesTest {
    private static ExporterConfig receiver(final String more) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new ConfigLoader().text("r.yaml", "segment: {role: receiver}\nexchange: {listen: \"127.0.0.1:" +
                free.getLocalPort() + "\"" + more).conclude();
        }
    }

    private static ExporterConfig sender(final long memoryBytes) {
        return new ConfigLoader().text("s.yaml", "segment: {role: sender}\nexchange: {connect: \"127.0.0.1:8621\", memory: " +
            memoryBytes + "}\nmetering: {max-flows: 16k}\n").conclude();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "}\n", ", mode: flows}\nmetering: {max-flows: 16k}\n", ", mode: sketch}\nlds: {columns: 1k}\njoint: {enabled: off}\n",
        ", bandwidth: 1m, deadline: 2s}\nreconcile: {enabled: off}\nlds: {in-flight: 4k}\n"})
    void shouldBeThoseOfTheOpenLink(final String more) throws IOException {
        final ExporterConfig config = receiver(more);
        final ExchangeEnd end = ExchangeEnd.open(config, ClockError.NONE, new ProcessEnds(new SystemEpochNanoClock()));
        try {
            final ReceiverLink open = (ReceiverLink)end.link();
            final ReceiverLink closed = ExchangeSizes.receiver(config);
            assertEquals(open.memoryBytes(), closed.memoryBytes());
            assertEquals(open.mode(), closed.mode());
            assertEquals(open.mostFlows(), closed.mostFlows());
            assertEquals(open.answerDeadlineNs(), closed.answerDeadlineNs());
        } finally {
            end.agent().onClose();
        }
    }

    @Test
    void shouldTellWhatASenderNeeds() throws IOException {
        final ExporterConfig receiver = receiver(", bandwidth: 1m}\nmetering: {max-flows: 16k}\n");
        final long needed = ExchangeSizes.senderBytes(sender(384 << 20), receiver);
        assertTrue(needed > 1 << 20 && needed < 384 << 20, Long.toString(needed));
        final ExporterConfig wider = receiver(", bandwidth: 9m}\nmetering: {max-flows: 16k}\n");
        assertTrue(needed < ExchangeSizes.senderBytes(sender(384 << 20), wider));
    }

    @Test
    void shouldPriceAnInterval() throws IOException {
        final ExporterConfig receiver = receiver(", bandwidth: 1m}\nreconcile: {enabled: off}\n");
        assertEquals(ExchangePrice.flowsBytes(100), ExchangeSizes.intervalBytes(receiver, 100));
        final long most = ExchangeSizes.intervalBytes(receiver, 100_000);
        assertTrue(most >= ExchangePrice.flowsBytes(SharedSettings.mostFlows(receiver)), Long.toString(most));
    }
}
