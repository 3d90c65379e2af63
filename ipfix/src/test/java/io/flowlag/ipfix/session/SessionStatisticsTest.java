package io.flowlag.ipfix.session;

import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.TransportKind;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.HashSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SessionStatisticsTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    @Test
    void shouldShowBalancedBooksToOtherThreadsAtAnyMoment() {
        final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
        final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.DATAGRAM);
        final ExportingSession session =
            new ExportingSession(transport, new SessionSettings().maxMessageBytes(512), catalog);
        final AtomicBoolean isOver = new AtomicBoolean();
        final CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> {
            while (!isOver.get()) {
                Records.assertBooksBalance(session.statistics());
            }
        });
        for (int i = 0; i < 200_000; i++) {
            transport.nextResult = SendResult.values()[i / 50 % 3];
            Records.putPair(session, pair, i, i, NOW_MS);
            if (i % 1_000 == 0) {
                transport.messages().clear();
            }
        }
        isOver.set(true);
        reader.join();
        assertTrue(session.statistics().recordsFailed() > 0);
        assertEquals(200_000, session.statistics().recordsAccepted());
    }

    @Test
    void shouldNameEachCounterOnce() {
        final HashSet<String> labels = new HashSet<>();
        Arrays.stream(SessionCounter.values()).forEach(counter -> {
            assertTrue(labels.add(counter.label()), counter.label());
            assertTrue(counter.label().matches("[a-z_]+") && counter.sentence().endsWith("."), counter.label());
            assertTrue(!counter.unit().isEmpty());
        });
    }
}
