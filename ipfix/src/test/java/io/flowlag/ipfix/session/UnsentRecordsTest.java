package io.flowlag.ipfix.session;

import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.TransportKind;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class UnsentRecordsTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int MAX_MESSAGE_BYTES = 512;
    private static final int PACKETS_OFFSET = 4;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private final List<Long> returned = new ArrayList<>();
    private int ends;

    private final UnsentRecords handler = new UnsentRecords() {
        @Override
        public void onUnsent(final Template template, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            assertEquals(pair, template);
            assertEquals(template.recordLengthBytes(), lengthBytes);
            returned.add(buffer.getLong(offset + PACKETS_OFFSET, ByteOrder.BIG_ENDIAN));
        }

        @Override
        public void onUnsentEnd() {
            ends++;
        }
    };

    private ExportingSession session(final ScriptedTransport transport, final int retainBytes) {
        return new ExportingSession(transport,
            new SessionSettings().maxMessageBytes(MAX_MESSAGE_BYTES).unsentRecords(handler, retainBytes), catalog);
    }

    @Test
    void shouldGiveBackWhatABrokenConnectionHadNotCarriedAwayInOrder() {
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.STREAM);
        transport.isBuffering = true;
        final ExportingSession session = session(transport, 65_536);
        session.doWork(NOW_MS);
        for (int i = 0; i < 100; i++) {
            assertTrue(Records.putPair(session, pair, 1, i, NOW_MS) >= 0);
        }
        transport.disconnect();
        session.doWork(NOW_MS);
        assertEquals(100, returned.size());
        for (int i = 0; i < 100; i++) {
            assertEquals(i, returned.get(i));
        }
        assertEquals(1, ends);
        assertEquals(100, session.statistics().get(SessionCounter.RECORDS_RETURNED));
        assertEquals(0, session.statistics().recordsFailed());
        assertEquals(0, session.statistics().recordsWaiting());
        assertFalse(session.isReady());
        assertEquals(ExportingSession.BLOCKED, Records.putPair(session, pair, 1, 1, NOW_MS));
        Records.assertBooksBalance(session.statistics());
    }

    @Test
    void shouldTakeNoMoreThanItCanGiveBack() {
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.STREAM);
        transport.isBuffering = true;
        final ExportingSession session = session(transport, 4 * MAX_MESSAGE_BYTES);
        session.doWork(NOW_MS);
        int taken = 0;
        while (taken < 10_000 && Records.putPair(session, pair, 1, taken, NOW_MS) >= 0) {
            taken++;
        }
        assertTrue(taken > 200 && taken < 1_000, "taken " + taken);
        assertEquals(0, session.statistics().recordsFailed());
        session.close();
        assertEquals(taken, returned.size());
        Records.assertBooksBalance(session.statistics());
    }

    @Property(tries = 200)
    void shouldDeliverEachRecordOnceOrGiveItBackWhateverHappens(@ForAll final long seed) {
        returned.clear();
        final Random random = new Random(seed);
        final ScriptedTransport transport = new ScriptedTransport(TransportKind.STREAM);
        final ExportingSession session = session(transport, 8_192);
        final List<Long> accepted = new ArrayList<>();
        final List<Long> delivered = new ArrayList<>();
        long number = 0;
        for (int step = 0; step < 400; step++) {
            switch (random.nextInt(10)) {
                case 0 -> {
                    if (!session.isReady()) {
                        transport.connect();
                    }
                }
                case 1 -> {
                    if (session.isReady() && random.nextInt(4) == 0) {
                        session.doWork(NOW_MS + step);
                        transport.disconnect();
                    }
                }
                case 2 -> transport.deliver();
                case 3 -> transport.isBuffering = random.nextBoolean();
                case 4 -> transport.nextResult = random.nextInt(3) == 0 ? SendResult.BUSY : SendResult.SENT;
                case 5 -> session.doWork(NOW_MS + step * 500L);
                default -> {
                    if (Records.putPair(session, pair, 1, number, NOW_MS + step * 500L) >= 0) {
                        accepted.add(number);
                    }
                    number++;
                }
            }
            Records.assertBooksBalance(session.statistics());
        }
        session.close();
        Records.assertBooksBalance(session.statistics());
        assertEquals(accepted.size(), session.statistics().recordsExported() + returned.size());
        assertEquals(0, session.statistics().recordsFailed());
        for (final List<byte[]> connection : transport.connections) {
            final StrictParser parser = new StrictParser(MAX_MESSAGE_BYTES);
            connection.forEach(parser::parse);
            parser.messages.stream().limit(1).forEach((message) -> assertEquals(0, message.sequence()));
            parser.messages.forEach((message) -> message.records().forEach((record) -> delivered.add(packets(record))));
        }
        final List<Long> all = new ArrayList<>(returned);
        delivered.stream().filter((each) -> !returned.contains(each)).forEach(all::add);
        all.sort(null);
        assertEquals(accepted, all);
        assertEquals(returned.stream().sorted().toList(), returned);
    }

    private static long packets(final StrictParser.WireRecord record) {
        return java.nio.ByteBuffer.wrap(record.octets()).getLong(PACKETS_OFFSET);
    }

    @Test
    void shouldGoOnWithAFileThatCouldNotBeWrittenForAWhile(@TempDir final Path directory) throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        final ExportingSession session = new ExportingSession(
            new FileTransport(file, 1_000),
            new SessionSettings().maxMessageBytes(MAX_MESSAGE_BYTES).unsentRecords(handler, FileTransport.bufferBytes()),
            catalog);
        session.doWork(NOW_MS);
        put(session, 0, 50);
        assertTrue(session.flush(NOW_MS));
        put(session, 50, 100);
        Thread.currentThread().interrupt(); // closes the channel at the next write
        session.flush(NOW_MS);
        assertTrue(Thread.interrupted());
        assertFalse(session.isReady());
        assertEquals(50, returned.size());
        assertEquals(50L, returned.get(0));
        session.doWork(NOW_MS);
        session.doWork(NOW_MS + 999);
        assertFalse(session.isReady());
        session.doWork(NOW_MS + 1_000);
        assertTrue(session.isReady());
        put(session, 50, 120);
        assertTrue(session.flush(NOW_MS + 1_000));
        session.close();
        final StrictParser parser = new StrictParser(65535).parseAll(Files.readAllBytes(file));
        assertEquals(120, parser.records().size());
        long sequence = 0;
        for (final StrictParser.WireMessage message : parser.messages) {
            assertEquals(sequence, message.sequence());
            sequence += message.records().size();
        }
        Records.assertBooksBalance(session.statistics());
    }

    private void put(final ExportingSession session, final int from, final int to) {
        for (int i = from; i < to; i++) {
            assertTrue(Records.putPair(session, pair, 1, i, NOW_MS) >= 0);
        }
    }
}
