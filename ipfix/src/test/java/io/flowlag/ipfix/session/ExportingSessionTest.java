package io.flowlag.ipfix.session;

import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.support.StrictParser.WireMessage;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.TransportKind;
import org.agrona.concurrent.CachedEpochClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ExportingSessionTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int MAX_MESSAGE_BYTES = 512;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private final Template other = catalog.template("sourceIPv6Address", "protocolIdentifier");
    private ScriptedTransport transport = ScriptedTransport.connected(TransportKind.DATAGRAM);
    private ExportingSession session = session(new SessionSettings());

    private ExportingSession session(final SessionSettings settings) {
        return new ExportingSession(transport, settings.observationDomainId(7).maxMessageBytes(MAX_MESSAGE_BYTES), catalog);
    }

    private ExportingSession session(final TransportKind kind, final SessionSettings settings) {
        transport = ScriptedTransport.connected(kind);
        session = session(settings);
        return session;
    }

    private void putPairs(final int count, final long nowMs) {
        for (int i = 0; i < count; i++) {
            Records.putPair(session, pair, i, i, nowMs);
        }
    }

    private StrictParser parsed() {
        final StrictParser parser = new StrictParser(MAX_MESSAGE_BYTES);
        transport.messages().forEach(parser::parse);
        return parser;
    }

    @AfterEach
    void shouldAlwaysKeepItsBooksBalanced() {
        Records.assertBooksBalance(session.statistics());
    }

    @Test
    void shouldSendNothingWithoutRecords() {
        assertEquals(0, session.doWork(NOW_MS));
        assertTrue(session.flush(NOW_MS));
        assertTrue(transport.messages().isEmpty());
    }

    @Test
    void shouldWriteGoldenOctets() {
        Records.putPair(session, pair, 0xC0000201, 0x0102030405060708L, NOW_MS);
        assertTrue(session.flush(NOW_MS));
        assertArrayEquals(java.util.HexFormat.of().parseHex(
            "000a 0030 6553f100 00000000 00000007".replace(" ", "") +
                "0002 0010 0100 0002 0008 0004 0002 0008".replace(" ", "") +
                "0100 0010 c0000201 0102030405060708".replace(" ", "")), transport.messages().get(0));
    }

    @Test
    void shouldLetRecordsLingerNoLongerThanAllowed() {
        putPairs(1, NOW_MS);
        session.doWork(NOW_MS + 999);
        assertTrue(transport.messages().isEmpty());
        session.doWork(NOW_MS + 1000);
        assertEquals(1, transport.messages().size());
    }

    @Test
    void shouldNotWaitForeverWhenTheClockIsSetBack() {
        putPairs(1, NOW_MS);
        session.doWork(NOW_MS - 3_600_000);
        assertEquals(1, transport.messages().size());
    }

    @Test
    void shouldRollMessagesAtTheirLimitAndCountSequence() {
        putPairs(200, NOW_MS);
        session.flush(NOW_MS);
        final StrictParser parser = parsed();
        assertEquals(200, parser.records().size());
        long sequence = 0;
        for (final WireMessage message : parser.messages) {
            assertEquals(sequence, message.sequence());
            sequence += message.records().size();
        }
        assertEquals(200, session.statistics().get(SessionCounter.SEQUENCE));
        assertTrue(transport.messages().stream().anyMatch(m -> m.length > MAX_MESSAGE_BYTES - 12));
    }

    @Test
    void shouldPutTemplatesInTheFirstThreeMessagesOverUdp() {
        putPairs(200, NOW_MS);
        session.flush(NOW_MS);
        final List<WireMessage> messages = parsed().messages;
        assertTrue(messages.size() > 4);
        for (int i = 0; i < messages.size(); i++) {
            assertEquals(i < 3 ? 1 : 0, messages.get(i).templates().size());
        }
    }

    @Test
    void shouldSendTemplatesOncePerConnectionOverTcpAndBeforeUse() {
        session(TransportKind.STREAM, new SessionSettings());
        putPairs(100, NOW_MS);
        session.flush(NOW_MS);
        session.doWork(NOW_MS + 3_600_000);
        assertEquals(1, parsed().messages.stream().mapToInt(m -> m.templates().size()).sum());
        assertEquals(1, session.statistics().get(SessionCounter.TEMPLATES_SENT));
    }

    @Test
    void shouldResendTemplatesOverUdpAtTheInterval() {
        putPairs(200, NOW_MS);
        session.flush(NOW_MS);
        final int before = transport.messages().size();
        session.doWork(NOW_MS + 59_999);
        assertEquals(before, transport.messages().size());
        session.doWork(NOW_MS + 60_000);
        assertEquals(before + 1, transport.messages().size());
        final WireMessage refresh = parsed().messages.get(before);
        assertEquals(1, refresh.templates().size());
        assertEquals(200, refresh.sequence());
        session.doWork(NOW_MS + 119_999);
        assertEquals(before + 1, transport.messages().size());
    }

    @Test
    void shouldResendTemplatesAfterSoManyMessagesIfAsked() {
        session(TransportKind.DATAGRAM, new SessionSettings().templateRefreshMessages(5));
        for (int i = 0; i < 20; i++) {
            putPairs(1, NOW_MS);
            session.flush(NOW_MS);
        }
        final List<WireMessage> messages = parsed().messages;
        for (int i = 0; i < 20; i++) {
            assertEquals(i < 3 || i % 5 == 0 ? 1 : 0, messages.get(i).templates().size(), "message " + i);
        }
    }

    @Test
    void shouldSpreadTemplatesThatDoNotFitOneMessage() {
        final Template[] many = new Template[20];
        for (int i = 0; i < many.length; i++) {
            final String[] names = new String[20];
            Arrays.fill(names, "octetDeltaCount");
            names[0] = i % 2 == 0 ? "testDelayMeanNanoseconds" : "ingressInterface";
            names[1 + i / 2] = "sourceIPv4Address";
            many[i] = i % 3 == 0 ? catalog.optionsTemplate(1, names) : catalog.template(names);
            final int offset = session.claim(many[i], many[i].recordLengthBytes(), NOW_MS);
            assertTrue(offset > 0);
            session.buffer().setMemory(offset, many[i].recordLengthBytes(), (byte)1);
            session.commit();
        }
        session.flush(NOW_MS);
        session.doWork(NOW_MS + 60_000);
        final StrictParser parser = parsed();
        assertEquals(20, parser.records().size());
        assertEquals(20, parser.templates.size());
        assertTrue(parser.messages.stream().anyMatch(m -> m.records().isEmpty() && m.templates().size() > 1));
    }

    @Test
    void shouldOpenOneSetPerTemplateAndPadOnlyBetweenSets() {
        for (int i = 0; i < 4; i++) {
            Records.putPair(session, pair, i, i, NOW_MS);
            final int offset = session.claim(other, other.recordLengthBytes(), NOW_MS);
            session.buffer().setMemory(offset, other.recordLengthBytes(), (byte)0xEE);
            session.commit();
        }
        session.flush(NOW_MS);
        assertEquals(8, parsed().records().size());
    }

    @Test
    void shouldCountNeitherTemplatesNorAbortsInTheSequence() {
        session.claim(pair, pair.recordLengthBytes(), NOW_MS);
        session.abort();
        session.flush(NOW_MS);
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        final List<WireMessage> messages = parsed().messages;
        assertEquals(0, messages.get(0).records().size());
        assertEquals(0, messages.get(1).sequence());
        assertEquals(1, session.statistics().recordsAccepted());
    }

    @Test
    void shouldCountOptionsRecordsInTheSequenceAndApart() {
        final OptionsWriter options = new OptionsWriter(session, catalog);
        putPairs(2, NOW_MS);
        assertTrue(options.meteringStatistics(7, 1, 2, 3, NOW_MS) >= 0);
        session.flush(NOW_MS);
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        final List<WireMessage> messages = parsed().messages;
        assertEquals(3, messages.get(messages.size() - 1).sequence());
        assertEquals(3, session.statistics().recordsExported());
        assertEquals(1, session.statistics().get(SessionCounter.OPTIONS_RECORDS_EXPORTED));
    }

    @Test
    void shouldShowDiscardedRecordsAsAGapInTheSequence() {
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(ExportingSession.NOT_SENT, session.claim(pair, MAX_MESSAGE_BYTES, NOW_MS, 5, 600));
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(2, parsed().messages.get(1).sequence());
        assertEquals(1, session.statistics().get(SessionCounter.RECORDS_FAILED_TOO_LONG));
        assertEquals(5, session.statistics().get(SessionCounter.PACKETS_NOT_SENT));
        assertEquals(600, session.statistics().get(SessionCounter.OCTETS_NOT_SENT));
    }

    @Test
    void shouldNeverLetExportTimeGoBack() {
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        putPairs(1, NOW_MS - 10_000);
        session.flush(NOW_MS - 10_000);
        assertEquals(NOW_MS / 1000, parsed().messages.get(1).exportTime());
    }

    @Test
    void shouldKeepAMessageWhileTheTransportIsBusyAndDiscardBeyondIt() {
        transport.nextResult = SendResult.BUSY;
        putPairs(100, NOW_MS);
        final long waiting = session.statistics().recordsWaiting();
        assertTrue(waiting > 10 && waiting < 50);
        assertEquals(100 - waiting, session.statistics().get(SessionCounter.RECORDS_FAILED_BUFFER_FULL));
        transport.nextResult = SendResult.SENT;
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        final List<WireMessage> messages = parsed().messages;
        assertEquals(0, messages.get(0).sequence());
        assertEquals(100, messages.get(1).sequence());
        assertEquals(waiting + 1, session.statistics().recordsExported());
    }

    @Test
    void shouldBlockInsteadOfDiscardingWhenLossless() {
        session(TransportKind.STREAM, new SessionSettings().lossless(true));
        transport.nextResult = SendResult.BUSY;
        putPairs(100, NOW_MS);
        assertEquals(ExportingSession.BLOCKED, Records.putPair(session, pair, 1, 1, NOW_MS));
        assertEquals(0, session.statistics().recordsFailed());
        assertEquals(session.statistics().recordsAccepted(), session.statistics().recordsWaiting());
        transport.nextResult = SendResult.SENT;
        assertTrue(Records.putPair(session, pair, 1, 1, NOW_MS) > 0);
    }

    @Test
    void shouldKeepRecordsOfAnOpenMessageForTheFirstConnection() {
        transport = new ScriptedTransport(TransportKind.STREAM);
        session = session(new SessionSettings());
        putPairs(100, NOW_MS);
        assertTrue(session.statistics().recordsWaiting() > 10);
        assertTrue(session.statistics().get(SessionCounter.RECORDS_FAILED_TRANSPORT_DOWN) > 10);
        transport.connect();
        assertTrue(session.flush(NOW_MS));
        assertEquals(0, parsed().messages.get(0).sequence());
        assertEquals(0, session.statistics().recordsWaiting());
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(parsed().messages.get(0).records().size(), parsed().messages.get(1).sequence());
    }

    @Test
    void shouldBeginEachConnectionAtSequenceZeroWithItsTemplates() {
        session(TransportKind.STREAM, new SessionSettings());
        putPairs(60, NOW_MS);
        session.flush(NOW_MS);
        transport.disconnect();
        session.doWork(NOW_MS);
        transport.connect();
        session.doWork(NOW_MS);
        putPairs(60, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(0, parsed().messages.get(0).sequence());
        assertEquals(60, parsed().records().size());
        assertEquals(1, session.statistics().get(SessionCounter.RECONNECTS));
        assertEquals(2, session.transportSessionCount());
    }

    @Test
    void shouldCarryTheOpenMessageOverToTheNextConnection() {
        session(TransportKind.STREAM, new SessionSettings());
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        putPairs(3, NOW_MS);
        transport.disconnect();
        session.doWork(NOW_MS + 5_000);
        putPairs(2, NOW_MS);
        transport.connect();
        assertTrue(session.flush(NOW_MS + 10_000));
        final List<WireMessage> messages = parsed().messages;
        assertEquals(1, messages.get(0).templates().size());
        assertEquals(5, messages.get(1).records().size());
        assertEquals(0, messages.get(1).sequence());
        putPairs(1, NOW_MS);
        session.flush(NOW_MS + 10_000);
        assertEquals(5, parsed().messages.get(2).sequence());
        assertEquals(7, session.statistics().recordsExported());
    }

    @Test
    void shouldSendTheTemplatesOfTheOpenMessageAgainWhereAFileGoesOnWithoutThem() {
        session(TransportKind.FILE, new SessionSettings());
        transport.isBuffering = true;
        putPairs(2, NOW_MS);
        session.flush(NOW_MS);
        putPairs(3, NOW_MS);
        transport.disconnect();
        session.doWork(NOW_MS);
        transport.goOn();
        session.flush(NOW_MS + 10_000);
        final List<WireMessage> messages = parsed().messages;
        assertEquals(1, messages.get(0).templates().size());
        assertEquals(2, messages.get(0).sequence());
        assertEquals(3, messages.get(1).records().size());
        assertEquals(2, messages.get(1).sequence());
    }

    @Test
    void shouldBeginAnewOverUdpWithTheTemplatesOfTheOpenMessage() {
        session(TransportKind.DATAGRAM, new SessionSettings());
        putPairs(1, NOW_MS);
        for (int i = 0; i < 4; i++) {
            putPairs(1, NOW_MS);
            session.flush(NOW_MS);
        }
        putPairs(3, NOW_MS);
        transport.disconnect();
        session.doWork(NOW_MS);
        transport.connect();
        assertTrue(session.flush(NOW_MS));
        final List<WireMessage> messages = parsed().messages;
        assertEquals(1, messages.get(0).templates().size());
        assertEquals(0, messages.get(1).sequence());
        assertEquals(3, messages.get(1).records().size());
        assertEquals(8, session.statistics().recordsExported());
        Records.assertBooksBalance(session.statistics());
    }

    @Test
    void shouldFailWhatWasBufferedAndDoubtWhatWasInTheKernelWhenAConnectionBreaks() {
        session(TransportKind.STREAM, new SessionSettings());
        putPairs(2, NOW_MS);
        session.flush(NOW_MS);
        transport.isBuffering = true;
        putPairs(3, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(3, session.statistics().recordsWaiting());
        transport.uncertainOctets = 1;
        transport.disconnect();
        session.doWork(NOW_MS);
        assertEquals(3, session.statistics().get(SessionCounter.RECORDS_FAILED_CONNECTION_BROKEN));
        assertEquals(2, session.statistics().recordsExported());
        assertEquals(2, session.statistics().recordsUncertain());
        assertEquals(300, session.statistics().get(SessionCounter.OCTETS_NOT_SENT));
    }

    @Test
    void shouldCountWhatTheTransportRefusesAndSendTheTemplatesAgain() {
        transport.nextResult = SendResult.FAILED;
        putPairs(5, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(5, session.statistics().get(SessionCounter.RECORDS_FAILED_SEND_ERROR));
        transport.nextResult = SendResult.SENT;
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(5, parsed().messages.get(0).sequence());
        assertEquals(1, parsed().messages.get(0).templates().size());
    }

    @Test
    void shouldNotHangWhileTheTransportRefusesEveryTemplate() {
        putPairs(200, NOW_MS);
        transport.nextResult = SendResult.FAILED;
        session.doWork(NOW_MS + 60_000);
        putPairs(200, NOW_MS + 60_000);
        session.flush(NOW_MS + 60_000);
        assertEquals(0, session.statistics().recordsWaiting());
    }

    @Test
    void shouldFailEverythingAfterTheTransportFailedForGood() {
        session(TransportKind.FILE, new SessionSettings().lossless(true));
        transport.isBuffering = true;
        putPairs(5, NOW_MS);
        session.flush(NOW_MS);
        transport.fail();
        putPairs(5, NOW_MS);
        assertTrue(session.flush(NOW_MS));
        assertEquals(10, session.statistics().recordsFailed());
        assertEquals(0, session.statistics().recordsWaiting());
    }

    @Test
    void shouldResendTemplatesWhenACollectorWasMissing() {
        final StrictParser parser = new StrictParser(MAX_MESSAGE_BYTES);
        putPairs(100, NOW_MS);
        session.flush(NOW_MS);
        transport.messages().clear();
        transport.peerLossCount = 1;
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        putPairs(1, NOW_MS);
        session.flush(NOW_MS);
        assertEquals(List.of(1, 0, 1), transport.messages().stream()
            .map((message) -> parser.parse(message).templates().size()).toList());
        assertEquals(2, parser.records().size());
        assertEquals(1, session.statistics().get(SessionCounter.PEER_LOSSES));
    }

    @Test
    void shouldEndEachMessageWithItsChecksumIfAsked() throws Exception {
        session(TransportKind.FILE, new SessionSettings().messageChecksum(true));
        putPairs(100, NOW_MS);
        session.flush(NOW_MS);
        for (final byte[] message : transport.messages()) {
            final byte[] digest = Arrays.copyOfRange(message, message.length - 16, message.length);
            final byte[] zeroed = message.clone();
            Arrays.fill(zeroed, message.length - 16, message.length, (byte)0);
            assertArrayEquals(MessageDigest.getInstance("MD5").digest(zeroed), digest);
        }
        long sequence = 0;
        for (final WireMessage message : parsed().messages) {
            assertEquals(sequence, message.sequence());
            sequence += message.records().size();
        }
        assertEquals(transport.messages().size(), session.statistics().get(SessionCounter.OPTIONS_RECORDS_EXPORTED));
    }

    @Test
    void shouldCountWhatIsLeftAtClose() {
        session(TransportKind.STREAM, new SessionSettings());
        transport.isBuffering = true;
        putPairs(2, NOW_MS);
        session.flush(NOW_MS);
        putPairs(3, NOW_MS);
        session.close();
        assertEquals(5, session.statistics().get(SessionCounter.RECORDS_FAILED_AT_CLOSE));
        assertEquals(ExportingSession.NOT_SENT, Records.putPair(session, pair, 1, 1, NOW_MS));
    }

    @Test
    void shouldCloseAtOnceWhenNothingIsLeft() {
        putPairs(2, NOW_MS);
        assertTrue(session.close(new CachedEpochClock(), 1_000));
        assertEquals(2, session.statistics().recordsExported());
    }

    @Test
    void shouldGiveUpAtTheDeadlineOfClose() {
        transport.nextResult = SendResult.BUSY;
        putPairs(2, NOW_MS);
        final long[] ticks = {NOW_MS};
        assertFalse(session.close(() -> ticks[0] += 100, 1_000));
        assertEquals(2, session.statistics().get(SessionCounter.RECORDS_FAILED_AT_CLOSE));
    }

    @Test
    void shouldRefuseMisuse() {
        assertThrows(IllegalStateException.class, () -> session.commit());
        assertThrows(IllegalStateException.class, () -> session.abort());
        session.claim(pair, pair.recordLengthBytes(), NOW_MS);
        assertThrows(IllegalStateException.class, () -> session.claim(pair, pair.recordLengthBytes(), NOW_MS));
        assertThrows(IllegalStateException.class, () -> session.doWork(NOW_MS));
        assertThrows(IllegalArgumentException.class, () -> session.commit(3));
        session.commit();
        final Template foreign = new TemplateCatalog(Records.registry()).template("octetDeltaCount");
        assertThrows(IllegalArgumentException.class, () -> session.claim(foreign, 8, NOW_MS));
    }
}
