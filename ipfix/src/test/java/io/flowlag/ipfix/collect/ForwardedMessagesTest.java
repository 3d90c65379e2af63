package io.flowlag.ipfix.collect;

import io.flowlag.common.counter.CounterSet;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Messages that are handed on undecoded, and sessions that go on in another process. */
class ForwardedMessagesTest {
    private static final byte[] TEMPLATE = message(1, 0, 1, set(2, template(256, 4, 1)));
    private static final byte[] DATA = message(1, 0, 1, set(256, octets().u8(6)));
    private static final byte[] FURTHER_DATA = message(1, 7, 1, set(256, octets().u8(17)));
    private static final byte[] BROKEN = message(1, 0, 1, set(256, octets().u8(6)));

    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final List<byte[]> messages = new ArrayList<>();
    private final List<InetSocketAddress> sources = new ArrayList<>();
    private final List<InetSocketAddress> ended = new ArrayList<>();
    private final CollectorServer server =
        new CollectorServer(new CollectingProcess(CollectorLimits.DEFAULTS, counters, new MessageHandler() {
            @Override
            public void onMessage(
                final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes) {
                final byte[] octets = new byte[lengthBytes];
                buffer.getBytes(offset, octets);
                messages.add(octets);
                sources.add(session.source());
            }

            @Override
            public void onEnd(final TransportSession session) {
                ended.add(session.source());
            }
        }));

    ForwardedMessagesTest() throws IOException {
        BROKEN[0] = 9;
    }

    private void pollUntil(final BooleanSupplier condition) throws IOException {
        while (!condition.getAsBoolean()) {
            server.poll(0, 10);
        }
    }

    /** Another process may know the templates of a session: its data are handed on without them. */
    @Test
    void shouldHandOnValidMessagesOfEachExporterAndNoOthers() throws IOException {
        final InetSocketAddress udp = server.listenUdp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        final InetSocketAddress tcp = server.listenTcp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        try (DatagramSocket datagrams = new DatagramSocket(); Socket stream = new Socket(tcp.getAddress(), tcp.getPort())) {
            datagrams.connect(udp);
            for (final byte[] each : List.of(DATA, BROKEN, TEMPLATE)) {
                datagrams.send(new DatagramPacket(each, each.length));
            }
            pollUntil(() -> counters.get(CollectorCounter.MESSAGES) == 3);
            stream.getOutputStream().write(TEMPLATE);
            pollUntil(() -> messages.size() == 3);

            assertArrayEquals(DATA, messages.get(0));
            assertArrayEquals(TEMPLATE, messages.get(1));
            assertEquals(datagrams.getLocalPort(), sources.get(0).getPort());
            assertEquals(stream.getLocalPort(), sources.get(2).getPort());
            assertEquals(1, counters.get(CollectorCounter.REFUSED_VERSION));
            assertEquals(0, counters.get(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
        }
        pollUntil(() -> !ended.isEmpty());
        assertEquals(sources.get(2), ended.get(0));
        server.close();
    }

    @Test
    void shouldGoOnWithTheTemplatesOfAnotherProcess() {
        final Collection collection = new Collection();
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.process.restore(session, new UnsafeBuffer(Arrays.copyOf(TEMPLATE, TEMPLATE.length)), 0, TEMPLATE.length, 0);
        assertEquals(0, collection.count(CollectorCounter.MESSAGES));

        collection.send(session, FURTHER_DATA);
        assertEquals(List.of("protocolIdentifier=11"), collection.records);
        assertEquals(0, collection.count(CollectorCounter.RECORDS_LOST));
    }
}
