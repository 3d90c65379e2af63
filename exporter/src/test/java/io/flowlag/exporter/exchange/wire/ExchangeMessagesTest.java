package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.delay.interval.repair.SynopsisRequest;
import io.flowlag.exporter.exchange.link.ExchangeFixture;
import io.flowlag.exporter.exchange.link.SynopsisAssembler;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.reconcile.PacketCache;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Decoding is the inverse of encoding, and no octet can hurt. */
public class ExchangeMessagesTest {
    private static final int MOST_IMAGE_BYTES = 1 << 20;
    /** Bits that change one by one, and all. */
    private static final int[] CHANGES = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};

    private static UnsafeBuffer message(final ToIntFunction<UnsafeBuffer> encoder) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
        final int lengthBytes = encoder.applyAsInt(buffer);
        return new UnsafeBuffer(buffer, 0, lengthBytes);
    }

    private static int begin(
        final UnsafeBuffer buffer, final long number, final long instance, final int errorEstimate, final boolean isDamaged) {
        final int lengthBytes = IntervalBeginMessage.encode(buffer, number, ExchangeFixture.fullSettings(), instance);
        IntervalBeginMessage.count(buffer, MessageType.CELLS, 1);
        IntervalBeginMessage.count(buffer, MessageType.IN_FLIGHT, 3);
        IntervalBeginMessage.count(buffer, MessageType.FLOW_SUMS, 4);
        IntervalBeginMessage.count(buffer, MessageType.WITNESS, 5);
        IntervalBeginMessage.errorEstimate(buffer, errorEstimate);
        if (isDamaged) {
            IntervalBeginMessage.damaged(buffer);
        }
        return lengthBytes;
    }

    /** The image of a sketch whose ten cells are shorter as they are. */
    private static UnsafeBuffer incompressible() {
        final UnsafeBuffer image = new UnsafeBuffer(new byte[CellsMessage.PREAMBLE_BYTES + 10 * CompactCells.CELL_BYTES]);
        image.setMemory(CellsMessage.PREAMBLE_BYTES, 10 * CompactCells.CELL_BYTES, (byte)0x7f);
        return image;
    }

    /** One of each kind, small. */
    public static Map<String, UnsafeBuffer> messages() {
        final Map<String, UnsafeBuffer> messages = new LinkedHashMap<>();
        final SketchImage image = ExchangeFixture.sketch(9, ExchangeFixture.LDS, 20).image();
        final UnsafeBuffer flows = ExchangeFixture.twoFlows();
        messages.put("hello", message(b -> HelloMessage.encode(b, 1, true, 5, 6, new byte[16])));
        messages.put("settings", message(b -> SettingsMessage.encode(b, 0, ExchangeFixture.fullSettings(), 77)));
        messages.put("settings ack", message(b -> SettingsAckMessage.encode(b, 0, 7, 77, -12)));
        messages.put("begin", message(b -> begin(b, 9, 77, 0x8501, true)));
        messages.put("drops", message(b -> DropsMessage.encode(b, 0, 9, new PointDrops(1, 2, 3, 4))));
        messages.put("preamble", message(b -> CellsMessage.encode(b, 0, 9, 0, image.buffer(), 0)));
        messages.put("plain", message(b -> CellsMessage.encode(b, 0, 9, 0, incompressible(), 128)));
        messages.put("compact", message(b -> CellsMessage.encode(b, 0, 9, 0, image.buffer(), 128)));
        messages.put("in flight", message(b -> IntervalListMessage.encode(
            b, 0, MessageType.IN_FLIGHT, 9, ExchangeFixture.digests(1, 2, 3), 1)));
        messages.put("flow sums", message(b -> IntervalListMessage.encode(b, 0, MessageType.FLOW_SUMS, 9, flows, 0)));
        messages.put("witness", message(b -> IntervalListMessage.encode(b, 0, MessageType.WITNESS, 9, flows, 1)));
        messages.put("end", message(b -> IntervalEndMessage.encode(b, 0, 9, 12)));
        messages.put("ack", message(b -> IntervalAckMessage.encode(b, 0, 9, IntervalVerdict.LATE)));
        messages.put("send times", message(b -> {
            SendTimesMessage.encodeEntry(b, 0, SendTimesMessage.INJECTED, 1L << 32 | 5, 123, 2);
            SendTimesMessage.encodeEntry(b, 1, SendTimesMessage.PASSIVE, -5, 124, 1);
            return SendTimesMessage.encode(b, 1000, 2);
        }));
        messages.put("passive times", message(b -> {
            PassiveTimesMessage.encodeEntry(b, 0, -5, 0);
            PassiveTimesMessage.encodeEntry(b, 1, 17, -1_000_000);
            return PassiveTimesMessage.encode(b, 1002, 2, 2, -7);
        }));
        messages.put("ping", message(b -> PingMessage.encode(b, 0, 99, true)));
        messages.put("refused", message(b ->
            RefusedMessage.encode(b, 0, ExchangeResult.SETTINGS, "settings: sender 1, receiver 2")));
        messages.put("estimator request", message(b -> SynopsisRequestMessage.encode(
            b, 0, 5, 7, new SynopsisRequest(0).estimator(9, 1, 1L << 32), 0)));
        messages.put("request of all classes", message(b -> SynopsisRequestMessage.encode(
            b, 0, 5, 7, new SynopsisRequest(0).estimator(9, PacketCache.ANY_CLASS, 1L << 32), 0)));
        messages.put("aggregator request", message(b -> SynopsisRequestMessage.encode(
            b, 0, 6, 7, new SynopsisRequest(0).aggregator(9, 1, 99, 4, 300), 0)));
        final SynopsisRequest missing = new SynopsisRequest(2).packets(9, 1, 99);
        missing.add(-1);
        missing.add(17);
        messages.put("packets request", message(b -> SynopsisRequestMessage.encode(b, 0, 7, 7, missing, 0)));
        messages.put("synopsis", message(b -> SynopsisMessage.encode(b, 0, 7, new UnsafeBuffer(new byte[96]), 0)));
        messages.put("last piece", message(b -> SynopsisMessage.encode(
            b, 0, 7, new UnsafeBuffer(new byte[ExchangeHeader.MAX_PAYLOAD_BYTES + 9]), ExchangeHeader.MAX_PAYLOAD_BYTES)));
        messages.put("no synopsis", message(b -> SynopsisMessage.encode(b, 0, 7, null, 0)));
        return messages;
    }

    @Example
    void shouldAcceptEveryKind() {
        final Set<MessageType> seen = EnumSet.noneOf(MessageType.class);
        messages().forEach((name, message) -> {
            assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(message, 0, message.capacity()), name);
            seen.add(ExchangeHeader.type(message, 0));
            read(message);
        });
        assertEquals(EnumSet.allOf(MessageType.class), seen);
    }

    /** Else a peer could make a counter of missing send times jump by as much as it likes. */
    @Example
    void shouldRefuseAnIndexThatIsOutOfReach() {
        for (final String name : List.of("send times", "passive times")) {
            final UnsafeBuffer message = messages().get(name);
            for (final long index : new long[] {1L << 48, (1L << 48) + 1, Long.MAX_VALUE, -1}) {
                message.putLong(ExchangeHeader.LENGTH_BYTES, index, ExchangeHeader.BYTE_ORDER);
                assertEquals(index == 1L << 48 ? ExchangeResult.ACCEPTED : ExchangeResult.COUNT,
                    ExchangeVerifier.verify(message, 0, message.capacity()), name + " " + index);
            }
        }
    }

    @Example
    void shouldRefuseOrBoundEveryChangedOctet() {
        messages().forEach((name, message) -> {
            for (int offset = 0; offset < message.capacity(); offset++) {
                final byte original = message.getByte(offset);
                for (final int change : CHANGES) {
                    message.putByte(offset, (byte)(original ^ change));
                    if (ExchangeVerifier.verify(message, 0, message.capacity()) == ExchangeResult.ACCEPTED) {
                        assertEquals(message.capacity(), ExchangeHeader.lengthBytes(message, 0), name);
                        read(message);
                    }
                }
                message.putByte(offset, original);
            }
        });
    }

    @Example
    void shouldRefuseEveryTruncation() {
        messages().forEach((name, message) -> {
            for (int lengthBytes = 0; lengthBytes < message.capacity(); lengthBytes++) {
                final UnsafeBuffer cut = new UnsafeBuffer(message, 0, lengthBytes);
                assertNotEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(cut, 0, lengthBytes), name);
                if (lengthBytes > ExchangeHeader.LENGTH_BYTES) {
                    ExchangeHeader.encode(message, 0, ExchangeHeader.type(message, 0), lengthBytes - ExchangeHeader.LENGTH_BYTES);
                    assertNotEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(cut, 0, lengthBytes), name + lengthBytes);
                }
            }
        });
    }

    @Property(tries = 1000)
    void shouldNotThrowOnAnything(@ForAll("bodies") final byte[] body, @ForAll final MessageType type) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.LENGTH_BYTES + body.length]);
        buffer.putBytes(ExchangeHeader.LENGTH_BYTES, body);
        ExchangeHeader.encode(buffer, 0, type, body.length);
        if (ExchangeVerifier.verify(buffer, 0, buffer.capacity()) == ExchangeResult.ACCEPTED) {
            read(buffer);
        }
    }

    @Provide
    Arbitrary<byte[]> bodies() {
        final Arbitrary<Byte> octet = Arbitraries.frequencyOf(
            Tuple.of(5, Arbitraries.just((byte)0)), Tuple.of(1, Arbitraries.bytes()));
        return octet.array(byte[].class).ofMinSize(1).ofMaxSize(300);
    }

    @Example
    void shouldDecodeSettingsAsTheyWere() {
        final UnsafeBuffer message = messages().get("settings");
        final SettingsMessage decoded = new SettingsMessage().wrap(message, 0);
        assertEquals(ExchangeFixture.fullSettings(), decoded.settings());
        assertEquals(77, decoded.receiverInstance());
    }

    @Property(tries = 300)
    void shouldDecodeWhatWasEncoded(
        @ForAll final long interval,
        @ForAll final long sum,
        @ForAll final int small,
        @ForAll final IntervalVerdict verdict,
        @ForAll final boolean flag) {
        final int count = small & Integer.MAX_VALUE;
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[1024]);
        IntervalAckMessage.encode(buffer, 0, interval, verdict);
        assertEquals(verdict, new IntervalAckMessage().wrap(buffer, 0).verdict());
        assertEquals(interval, new IntervalAckMessage().wrap(buffer, 0).intervalNumber());
        PingMessage.encode(buffer, 0, sum, flag);
        assertEquals(sum, new PingMessage().wrap(buffer, 0).token());
        assertEquals(flag, new PingMessage().wrap(buffer, 0).isAnswer());
        IntervalEndMessage.encode(buffer, 0, interval, count);
        assertEquals(count, new IntervalEndMessage().wrap(buffer, 0).messageCount());
        final PointDrops drops = new PointDrops(count, 1, 2, sum & Long.MAX_VALUE);
        DropsMessage.encode(buffer, 0, interval, drops);
        assertEquals(drops, new DropsMessage().wrap(buffer, 0).drops());
        begin(buffer, interval, sum, small & 0xffff, flag);
        IntervalBeginMessage.count(buffer, MessageType.IN_FLIGHT, count);
        final IntervalBeginMessage begin = new IntervalBeginMessage().wrap(buffer, 0);
        assertEquals(interval, begin.intervalNumber());
        assertEquals(small & 0xffff, begin.errorEstimate());
        assertEquals(flag, begin.isDamaged());
        assertEquals(ExchangeFixture.fullSettings().intervalNs(), begin.intervalNs());
        assertEquals(sum, begin.receiverInstance());
        assertEquals(ExchangeFixture.fullSettings().number(), begin.settingsNumber());
        assertEquals(1, begin.sketchCount());
        assertEquals(count, begin.inFlightCount());
        assertEquals(4, begin.flowCount());
        assertEquals(5, begin.witnessCount());
        SendTimesMessage.encodeEntry(buffer, 0, 2, sum, interval, 3);
        SendTimesMessage.encode(buffer, count, 1);
        final SendTimesMessage times = new SendTimesMessage().wrap(buffer, 0);
        assertEquals(count, times.firstIndex());
        assertEquals(sum, times.key(0));
        assertEquals(interval, times.sentNs(0));
        PassiveTimesMessage.encodeEntry(buffer, 0, sum, small >> 9);
        PassiveTimesMessage.encodeEntry(buffer, 1, ~sum, -1);
        PassiveTimesMessage.encode(buffer, count, 2, 3, interval);
        final PassiveTimesMessage passive = new PassiveTimesMessage().wrap(buffer, 0);
        assertEquals(count, passive.firstIndex());
        assertEquals(interval, passive.baseNs());
        assertEquals(3, passive.method());
        assertEquals(PassiveTimesMessage.shortDigest(sum), passive.digest(0));
        assertEquals(small >> 9, passive.distanceNs(0));
        assertEquals(PassiveTimesMessage.shortDigest(~sum), passive.digest(1));
        assertEquals(-1, passive.distanceNs(1));
        assertTrue(PassiveTimesMessage.isNear(small >> 8));
        assertEquals(sum == (int)sum << 8 >> 8, PassiveTimesMessage.isNear(sum));
        IntervalListMessage.encode(
            buffer, 0, MessageType.IN_FLIGHT, interval, ExchangeFixture.digests(sum, interval), 0);
        final IntervalListMessage list = new IntervalListMessage().wrap(buffer, 0);
        assertEquals(interval, list.intervalNumber());
        assertEquals(2, list.count());
        assertEquals(sum, list.digest(0));
        assertEquals(interval, list.digest(1));
        final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowSum.LENGTH_BYTES]);
        final UnsafeBuffer key = ExchangeFixture.key(new byte[] {9, 8, 7, 6}, new byte[] {1, 2, 3, 4}, 255, 65_535, 1);
        ExchangeFixture.encodeFlow(entry, 0, key, 1 + (long)count, sum, interval, 7);
        final FlowSum flow = new FlowSum().wrap(entry, 0);
        final UnsafeBuffer found = new UnsafeBuffer(new byte[key.capacity()]);
        flow.copyKey(found, 0);
        assertEquals(key, found);
        assertEquals(9, entry.getByte(8));
        assertEquals(1 + (long)count, flow.packets());
        assertEquals(sum, flow.timestampSumNs());
        assertEquals(interval, flow.digestSum());
        assertEquals(7, flow.bytes());
    }

    /** A count that no path can carry would go out as lost packets; sums that are modulo 2^64 may be anything. */
    @Example
    void shouldRefuseCountsOfAFlowThatCannotBe() {
        for (final long count : new long[] {Long.MIN_VALUE, -5, 0, FlowSum.MAX_PACKETS + 1, Long.MAX_VALUE}) {
            assertEquals(ExchangeResult.VALUE, verifiedFlow(count, 0, 0, 100), "packets " + count);
        }
        for (final long bytes : new long[] {Long.MIN_VALUE, -1, FlowSum.MAX_BYTES + 1, Long.MAX_VALUE}) {
            assertEquals(ExchangeResult.VALUE, verifiedFlow(1, 0, 0, bytes), "bytes " + bytes);
        }
        for (final long sum : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
            assertEquals(ExchangeResult.ACCEPTED, verifiedFlow(1, sum, ~sum, 0));
            assertEquals(ExchangeResult.ACCEPTED, verifiedFlow(FlowSum.MAX_PACKETS, ~sum, sum, FlowSum.MAX_BYTES));
        }
        final long mostFlows = Integer.MAX_VALUE / FlowSum.LENGTH_BYTES;
        assertTrue(Math.multiplyExact(mostFlows, FlowSum.MAX_PACKETS) < 1L << 62);
    }

    private static ExchangeResult verifiedFlow(
        final long packets, final long timestampSumNs, final long digestSum, final long bytes) {
        final UnsafeBuffer flow = new UnsafeBuffer(new byte[FlowSum.LENGTH_BYTES]);
        ExchangeFixture.encodeFlow(flow, 0,
            ExchangeFixture.key(new byte[] {0, 0, 0, 1}, new byte[] {0, 0, 0, 2}, 17, 53, 53), packets, timestampSumNs, digestSum,
            bytes);
        final UnsafeBuffer message = message(b -> IntervalListMessage.encode(b, 0, MessageType.FLOW_SUMS, 9, flow, 0));
        return ExchangeVerifier.verify(message, 0, message.capacity());
    }

    @Example
    void shouldKnowQuestionsForTheTimeAndTheirAnswers() {
        final long token = PingMessage.timeToken(-2);
        final UnsafeBuffer question = message(b -> PingMessage.encode(b, 0, token, false));
        assertTrue(new PingMessage().wrap(question, 0).isForTime());
        assertFalse(new PingMessage().wrap(message(b -> PingMessage.encode(b, 0, 2, false)), 0).isForTime());
        final long latestNs = (1L << 62) - 1;
        final UnsafeBuffer answer = message(b -> PingMessage.encodeTimes(b, 0, token, 5, latestNs));
        assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(answer, 0, answer.capacity()));
        final PingMessage ping = new PingMessage().wrap(answer, 0);
        assertTrue(ping.isAnswer() && ping.hasTimes());
        assertEquals(token, ping.token());
        assertEquals(5, ping.receivedNs());
        assertEquals(latestNs, ping.sentNs());
        final PingMessage delay =
            new PingMessage().wrap(message(b -> PingMessage.encodeDelay(b, 0, token, latestNs, 5)), 0);
        assertTrue(delay.hasDelay() && delay.isForTime() && !delay.isAnswer() && !ping.hasDelay());
        assertEquals(List.of(5L, latestNs), List.of(delay.receivedNs(), delay.sentNs()));
        for (final long timeNs : new long[] {-1, latestNs + 1}) {
            final UnsafeBuffer wrong = message(b -> PingMessage.encodeTimes(b, 0, token, timeNs, 5));
            assertEquals(ExchangeResult.VALUE, ExchangeVerifier.verify(wrong, 0, wrong.capacity()), "received " + timeNs);
            final UnsafeBuffer other = message(b -> PingMessage.encodeTimes(b, 0, token, 5, timeNs));
            assertEquals(ExchangeResult.VALUE, ExchangeVerifier.verify(other, 0, other.capacity()), "sent " + timeNs);
        }
    }

    @Example
    void shouldKeepRefusalsPrintable() {
        final String hostile = "a\u001b[31m\u00e9".repeat(500);
        final UnsafeBuffer message = message(b -> RefusedMessage.encode(b, 0, ExchangeResult.VERSION, hostile));
        assertEquals(ExchangeResult.ACCEPTED, ExchangeVerifier.verify(message, 0, message.capacity()));
        final String text = new RefusedMessage().wrap(message, 0).text();
        assertTrue(text.startsWith("a?[31m?a"), text);
        assertEquals(RefusedMessage.MAX_TEXT_BYTES, text.length());
    }

    /** Calls every accessor of an accepted message. */
    public static void read(final UnsafeBuffer message) {
        switch (ExchangeHeader.type(message, 0)) {
            case HELLO -> assertTrue(new HelloMessage().wrap(message, 0).role() > 0);
            case SETTINGS -> assertTrue(new SettingsMessage().wrap(message, 0).settings().number() >= 1);
            case SETTINGS_ACK -> new SettingsAckMessage().wrap(message, 0).fromInterval();
            case INTERVAL_BEGIN -> assertTrue(new IntervalBeginMessage().wrap(message, 0).witnessCount() >= 0);
            case DROPS -> assertTrue(new DropsMessage().wrap(message, 0).drops().kernelDrops() >= 0);
            case CELLS -> readCells(new CellsMessage().wrap(message, 0));
            case IN_FLIGHT -> {
                final IntervalListMessage digests = new IntervalListMessage().wrap(message, 0);
                digests.digest(digests.count() - 1);
            }
            case FLOW_SUMS, WITNESS -> {
                final IntervalListMessage flows = new IntervalListMessage().wrap(message, 0);
                final FlowSum last = flows.flow(flows.count() - 1, new FlowSum());
                last.copyKey(new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]), 0);
                assertTrue(last.packets() > 0);
            }
            case INTERVAL_END -> assertTrue(new IntervalEndMessage().wrap(message, 0).messageCount() >= 0);
            case INTERVAL_ACK -> assertTrue(new IntervalAckMessage().wrap(message, 0).verdict() != null);
            case SEND_TIMES -> {
                final SendTimesMessage times = new SendTimesMessage().wrap(message, 0);
                assertTrue(times.method(times.count() - 1) >= 1);
            }
            case PASSIVE_TIMES -> {
                final PassiveTimesMessage times = new PassiveTimesMessage().wrap(message, 0);
                assertTrue(times.method() >= 1 && times.digest(times.count() - 1) >= 0);
                assertTrue(PassiveTimesMessage.isNear(times.distanceNs(times.count() - 1)));
            }
            case PING -> new PingMessage().wrap(message, 0).token();
            case REFUSED -> assertTrue(new RefusedMessage().wrap(message, 0).text().length() <= RefusedMessage.MAX_TEXT_BYTES);
            case SYNOPSIS_REQUEST -> {
                final SynopsisRequestMessage asked = new SynopsisRequestMessage().wrap(message, 0);
                final SynopsisRequest request = new SynopsisRequest(Math.min(64, asked.totalCount()));
                assertTrue(!asked.read(request) || request.count() <= asked.totalCount());
            }
            case SYNOPSIS -> {
                final SynopsisMessage piece = new SynopsisMessage().wrap(message, 0);
                assertTrue(piece.imageOffset() + (long)piece.payloadBytes() <= piece.imageBytes());
                final SynopsisAssembler assembler = new SynopsisAssembler(MOST_IMAGE_BYTES);
                assembler.expect();
                assertTrue(!assembler.add(piece) || piece.imageOffset() == 0 && piece.imageBytes() <= MOST_IMAGE_BYTES);
            }
            default -> throw new AssertionError("a type that is not read here");
        }
    }

    private static void readCells(final CellsMessage cells) {
        assertTrue(cells.decodedBytes() <= ExchangeHeader.MAX_PAYLOAD_BYTES);
        assertTrue(cells.imageOffset() + (long)cells.decodedBytes() <= cells.imageBytes());
        if (cells.imageBytes() <= MOST_IMAGE_BYTES) {
            cells.decode(new UnsafeBuffer(new byte[cells.imageBytes()]));
        }
    }
}
