package io.flowlag.ipfix.session;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.VariableLength;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.TransportKind;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Laws: whatever the records, templates and troubles, a strict reader accepts every message and the books balance. */
class ExportingSessionPropertyTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    private static final ElementRegistry REGISTRY = Records.registry();
    private static final List<InformationElement> ELEMENTS = new ArrayList<>(REGISTRY.elements());

    private TemplateCatalog catalog;
    private final List<byte[]> committed = new ArrayList<>();

    private Template randomTemplate(final Random random) {
        final List<FieldSpecifier> fields = new ArrayList<>();
        final int fieldCount = 1 + random.nextInt(random.nextInt(4) == 0 ? 60 : 6);
        for (int i = 0; i < fieldCount; i++) {
            final InformationElement element = ELEMENTS.get(random.nextInt(ELEMENTS.size()));
            int length = element.type().lengthBytes();
            if (element.type().isUnsigned() || element.type().isSigned()) {
                length = 1 + random.nextInt(length);
            } else if (length == DataType.VARIABLE_LENGTH && random.nextBoolean()) {
                length = 1 + random.nextInt(20);
            }
            fields.add(new FieldSpecifier(element, length));
        }
        return catalog.template(random.nextInt(3) == 0 ? 1 + random.nextInt(fieldCount) : 0, fields);
    }

    private static int writeRandom(
        final Random random, final ExportingSession session, final int offset, final Template template, final int valueBytes) {
        int position = offset;
        for (final FieldSpecifier field : template.fields()) {
            int length = field.lengthBytes();
            if (field.isVariableLength()) {
                length = valueBytes;
                position += VariableLength.put(session.buffer(), position, length);
            }
            for (int i = 0; i < length; i++) {
                session.buffer().putByte(position++, (byte)random.nextInt());
            }
        }
        return position - offset;
    }

    private void put(final Random random, final ExportingSession session, final Template template, final long nowMs) {
        final int valueBytes = random.nextInt(10) == 0 ? 250 + random.nextInt(20) : random.nextInt(9);
        final int variableFields = (int)template.fields().stream().filter(FieldSpecifier::isVariableLength).count();
        final int length = template.minLengthBytes() +
            variableFields * (VariableLength.encodedLengthBytes(valueBytes) - 1);
        final int offset = session.claim(template, length + (variableFields > 0 ? random.nextInt(5) : 0), nowMs);
        if (offset >= 0 && random.nextInt(20) == 0) {
            session.abort();
        } else if (offset >= 0) {
            assertEquals(length, writeRandom(random, session, offset, template, valueBytes));
            final byte[] octets = new byte[length];
            session.buffer().getBytes(offset, octets);
            session.commit(length);
            committed.add(octets);
        }
    }

    @Property(tries = 200)
    void shouldEncodeAnyRecordsSoThatAStrictReaderFindsThem(
        @ForAll final long seed, @ForAll @IntRange(min = 0, max = 2) final int kind, @ForAll final boolean checksum) {
        final Random random = new Random(seed);
        committed.clear();
        catalog = new TemplateCatalog(REGISTRY);
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.values()[kind]);
        final int maxMessageBytes = 512 + random.nextInt(3000);
        final ExportingSession session = new ExportingSession(transport,
            new SessionSettings().maxMessageBytes(maxMessageBytes).messageChecksum(checksum), catalog);
        final List<Template> templates = templates(random);
        long nowMs = NOW_MS;
        for (int i = 0; i < 300; i++) {
            put(random, session, templates.get(random.nextInt(templates.size())), nowMs);
            nowMs += random.nextInt(2000) - 500;
            if (random.nextInt(4) == 0) {
                session.doWork(nowMs);
            }
        }
        session.flush(nowMs);
        final StrictParser parser = new StrictParser(maxMessageBytes);
        transport.messages().forEach(parser::parse);
        final List<byte[]> read = new ArrayList<>();
        parser.records().stream().filter(r -> !checksum || !isChecksum(r)).forEach(r -> read.add(r.octets()));
        assertEquals(committed.size(), read.size());
        for (int i = 0; i < read.size(); i++) {
            assertArrayEquals(committed.get(i), read.get(i));
        }
        Records.assertBooksBalance(session.statistics());
    }

    private List<Template> templates(final Random random) {
        final List<Template> templates = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            final Template template = randomTemplate(random);
            templates.add(template == null ? catalog.templates().get(random.nextInt(catalog.templates().size())) : template);
        }
        return templates;
    }

    private static boolean isChecksum(final StrictParser.WireRecord record) {
        return record.template().fields().get(0).elementId() ==
            REGISTRY.element("messageScope").elementId() && record.octets().length == 17 &&
            record.template().scopeFieldCount() == 1 && record.template().fields().size() == 2;
    }

    @Property(tries = 200)
    void shouldKeepEveryConnectionReadableAndTheBooksBalancedInAnyTrouble(
        @ForAll final long seed, @ForAll final boolean stream, @ForAll final boolean lossless) {
        final Random random = new Random(seed);
        catalog = new TemplateCatalog(REGISTRY);
        final TransportKind kind = stream ? TransportKind.STREAM : TransportKind.DATAGRAM;
        final ScriptedTransport transport = new ScriptedTransport(kind);
        final ExportingSession session = new ExportingSession(
            transport, new SessionSettings().maxMessageBytes(600).lossless(lossless), catalog);
        final List<Template> templates = templates(random);
        long nowMs = NOW_MS;
        for (int i = 0; i < 400; i++) {
            trouble(random, transport, stream);
            put(random, session, templates.get(random.nextInt(templates.size())), nowMs);
            Records.assertBooksBalance(session.statistics());
            nowMs += random.nextInt(5000);
            session.doWork(nowMs);
        }
        transport.nextResult = SendResult.SENT;
        session.close();
        Records.assertBooksBalance(session.statistics());
        assertEquals(0, session.statistics().recordsWaiting());
        for (final List<byte[]> connection : transport.connections) {
            final StrictParser parser = new StrictParser(600);
            connection.forEach(parser::parse);
            assertSequenceNeverFallsBehind(parser);
        }
    }

    private static void trouble(final Random random, final ScriptedTransport transport, final boolean stream) {
        switch (random.nextInt(12)) {
            case 0 -> transport.nextResult = SendResult.BUSY;
            case 1 -> transport.nextResult = stream ? SendResult.BUSY : SendResult.FAILED;
            case 2, 3, 4 -> transport.nextResult = SendResult.SENT;
            case 5 -> {
                if (stream) {
                    transport.disconnect();
                }
            }
            case 6, 7 -> {
                if (!transport.isConnected()) {
                    transport.connect();
                }
            }
            case 8 -> transport.isBuffering = stream;
            case 9 -> transport.deliver();
            default -> transport.peerLossCount += stream ? 0 : 1;
        }
    }

    private static void assertSequenceNeverFallsBehind(final StrictParser parser) {
        long atLeast = 0;
        for (final StrictParser.WireMessage message : parser.messages) {
            assertEquals(Math.max(atLeast, message.sequence()), message.sequence());
            atLeast = message.sequence() + message.records().size();
        }
    }
}
