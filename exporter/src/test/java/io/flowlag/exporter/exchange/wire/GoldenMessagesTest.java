package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.exchange.link.EncodedInterval;
import io.flowlag.exporter.exchange.link.ExchangeCounters;
import io.flowlag.exporter.exchange.link.ExchangeFixture;
import io.flowlag.exporter.exchange.link.HeldSettings;
import io.flowlag.exporter.exchange.link.IntervalAssembler;
import io.flowlag.exporter.exchange.link.IntervalEncoder;
import io.flowlag.exporter.exchange.link.ReceivedInterval;
import io.flowlag.exporter.exchange.link.SettingsSchedule;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Secrets;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages in octets: those of version 4 as the last release that spoke it wrote them, and those of version 5. */
class GoldenMessagesTest {
    private static final long NUMBER = 9;
    private static final long RUN = 77;
    private static final long SECOND_NS = 1_000_000_000;
    private static final SketchGeometry GEOMETRY = SketchGeometry.lds(2, 16, 1);
    private static final byte[] RECEIVER_HELLO = new byte[56];
    private static final SharedKey KEY = SharedKey.of(new byte[32]);

    static {
        for (int i = 0; i < RECEIVER_HELLO.length; i++) {
            RECEIVER_HELLO[i] = (byte)i;
        }
    }

    private final HeldSettings held = new HeldSettings(RUN, new ExchangeSettings(1, 0, SECOND_NS, 200_000_000,
        new Content(Mode.AUTO, 10_000, 5), new Secrets(1, 2, 3), ExchangeFixture.ALL_TRAFFIC, Injection.NONE,
        List.of(new SketchPart(ExchangeSettings.ANY, GEOMETRY))));

    private static Map<String, String> golden(final int version) throws IOException {
        final Map<String, String> lines = new LinkedHashMap<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(
            GoldenMessagesTest.class.getResourceAsStream("/exchange/version-" + version + ".txt"), StandardCharsets.US_ASCII))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.put(line.substring(0, line.indexOf(' ')), line.substring(line.indexOf(' ') + 1));
            }
        }
        return lines;
    }

    private static String hex(final UnsafeBuffer octets, final int lengthBytes) {
        final byte[] copy = new byte[lengthBytes];
        octets.getBytes(0, copy);
        return HexFormat.of().formatHex(copy);
    }

    private static String message(final ToIntFunction<UnsafeBuffer> encoder) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
        return hex(buffer, encoder.applyAsInt(buffer));
    }

    private static int hello(final UnsafeBuffer buffer, final boolean isKeyed) {
        final byte[] nonce = new byte[HelloMessage.NONCE_BYTES];
        for (int i = 0; i < nonce.length; i++) {
            nonce[i] = (byte)(i + 1);
        }
        return HelloMessage.encode(buffer, HelloMessage.SENDER, isKeyed, 1, 6, nonce);
    }

    private static UnsafeBuffer flow() {
        final UnsafeBuffer flow = new UnsafeBuffer(new byte[FlowSum.LENGTH_BYTES]);
        ExchangeFixture.encodeFlow(flow, 0,
            ExchangeFixture.key(new byte[] {10, 0, 0, 1}, new byte[] {10, 0, 0, 2}, 6, 443, 5000), 17, 18, 19, 20);
        return flow;
    }

    private IntervalEncoder encoder(final PointDrops drops) {
        return new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters()).begin(NUMBER, held, drops)
            .errorEstimate(0x8501);
    }

    private static LossyDifferenceSketch sketch() {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(GEOMETRY, 3);
        sketch.begin(NUMBER, SECOND_NS);
        for (int i = 0; i < 5; i++) {
            sketch.update(i * 0x9E3779B97F4A7C15L, i + 1, 1000 + i, 100, 1);
        }
        return sketch;
    }

    private Map<String, String> present() {
        final Map<String, String> messages = new LinkedHashMap<>();
        messages.put("hello", message((b) -> hello(b, false)));
        messages.put("keyedHello", message((b) -> sealed(b, hello(b, true), false)));
        messages.put("keyedPing", message((b) -> sealed(b, PingMessage.encode(b, 0, 99, true), true)));
        messages.put("timeQuestion", message((b) -> PingMessage.encode(b, 0, PingMessage.timeToken(7), false)));
        messages.put("timeAnswer", message((b) -> PingMessage.encodeTimes(b, 0, PingMessage.timeToken(7), 1000, 2000)));
        messages.put("timeDelay", message((b) -> PingMessage.encodeDelay(b, 0, PingMessage.timeToken(7), 2000, 1000)));
        messages.put("settings", message((b) -> SettingsMessage.encode(b, 0, held.settings(), RUN)));
        messages.put("ack", message((b) -> SettingsAckMessage.encode(b, 0, 1, RUN, 0)));
        messages.put("passiveTimes", message((b) -> {
            PassiveTimesMessage.encodeEntry(b, 0, 0x0102_0304_0506_0708L, 0);
            PassiveTimesMessage.encodeEntry(b, 1, -1, 1000);
            PassiveTimesMessage.encodeEntry(b, 2, 5, -2);
            return PassiveTimesMessage.encode(b, 1000, 3, 2, SECOND_NS);
        }));
        final EncodedInterval cells = encoder(PointDrops.NONE).sketch(sketch().image())
            .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(4, 5, 6), 3).list(MessageType.WITNESS, flow(), 1).end();
        messages.put("interval", hex(cells.messages(), cells.lengthBytes()));
        final EncodedInterval flows =
            encoder(new PointDrops(1, 2, 3, 4)).damaged().list(MessageType.FLOW_SUMS, flow(), 1)
                .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(4), 1).end();
        messages.put("flows", hex(flows.messages(), flows.lengthBytes()));
        return messages;
    }

    /** The sender's first message, or the receiver's. */
    private static int sealed(final UnsafeBuffer buffer, final int bareBytes, final boolean isReceiver) {
        final byte[] senderHello = new byte[56];
        final UnsafeBuffer hello = new UnsafeBuffer(new byte[100]);
        ExchangeHeader.addTrailer(hello, 0, hello(hello, true));
        hello.getBytes(0, senderHello);
        final int lengthBytes = ExchangeHeader.addTrailer(buffer, 0, bareBytes);
        MessageCipher.of(KEY, isReceiver, RECEIVER_HELLO, senderHello).seal(buffer, 0, lengthBytes);
        return lengthBytes;
    }

    @Test
    void shouldWriteVersionFiveAsEver() throws IOException {
        assertEquals(golden(ExchangeHeader.VERSION), present());
    }

    @Test
    void shouldReadIntervalsOfVersionFour() throws IOException {
        final ReceivedInterval cells = take(golden(4).get("interval"), PointDrops.NONE);
        assertEquals(NUMBER, cells.intervalNumber());
        assertEquals(0x8501, cells.errorEstimate());
        assertTrue(cells.sketch().contentEquals(sketch().image()));
        assertEquals(3, cells.inFlightCount());
        assertEquals(6, cells.inFlight(2));
        assertEquals(17, cells.witnesses().packets(0));
        assertEquals(443, cells.witnesses().sourcePort(0));
        final ReceivedInterval flows = take(golden(4).get("flows"), new PointDrops(1, 2, 3, 4));
        assertTrue(flows.isDamaged());
        assertTrue(flows.hasStragglers());
        assertFalse(flows.hasSketches());
        assertEquals(1, flows.flows().count());
        assertEquals(1, flows.inFlightCount());
    }

    private ReceivedInterval take(final String hex, final PointDrops drops) {
        final SettingsSchedule schedule = new SettingsSchedule();
        schedule.add(held);
        final IntervalAssembler assembler = new IntervalAssembler(schedule, 1000, ExchangeFixture::room);
        final UnsafeBuffer octets = new UnsafeBuffer(HexFormat.of().parseHex(hex));
        int lengthBytes;
        for (int offset = 0; offset < octets.capacity(); offset += lengthBytes) {
            lengthBytes = ExchangeHeader.lengthBytes(octets, offset);
            assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(octets, offset, lengthBytes));
            assertEquals(4, ExchangeHeader.version(octets, offset));
            if (ExchangeHeader.type(octets, offset) == MessageType.DROPS) {
                assertEquals(drops, new DropsMessage().wrap(octets, offset).drops());
            }
            switch (ExchangeHeader.type(octets, offset)) {
                case INTERVAL_BEGIN -> assembler.begin(octets, offset);
                case INTERVAL_END -> assertEquals(ExchangeResult.ACCEPTED, assembler.end(octets, offset));
                default -> assertEquals(
                    ExchangeResult.ACCEPTED, assembler.add(ExchangeHeader.type(octets, offset), octets, offset));
            }
        }
        assertNull(assembler.spoiled(), assembler.spoiledText());
        return assembler.interval();
    }

    @Test
    void shouldReadAndWriteTheOtherMessagesOfVersionFour() throws IOException {
        final Map<String, String> four = golden(4);
        for (final String name : List.of("hello", "ack", "sendTimes", "ping", "refused", "synopsis")) {
            final UnsafeBuffer octets = new UnsafeBuffer(HexFormat.of().parseHex(four.get(name)));
            assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(octets, 0, octets.capacity()), name);
        }
        final ExchangeSettings cells = new ExchangeSettings(1, 0, SECOND_NS, 200_000_000, new Content(Mode.CELLS, 10_000, 5),
            held.settings().secrets(), ExchangeFixture.ALL_TRAFFIC, Injection.NONE, held.settings().sketches());
        assertEquals(four.get("settings"), message((b) -> {
            final int lengthBytes = SettingsMessage.encode(b, 0, cells, RUN);
            ExchangeHeader.version(b, 0, 4);
            return lengthBytes;
        }));
        final UnsafeBuffer hello = new UnsafeBuffer(HexFormat.of().parseHex(four.get("keyedHello")));
        final byte[] bare = new byte[56];
        hello.getBytes(0, bare);
        assertTrue(MessageSeal.of(4, KEY, true, RECEIVER_HELLO, bare).open(hello, 0, hello.capacity()));
    }
}
