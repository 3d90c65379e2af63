package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.decode.DecodedReference;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.SegmentSwitch;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.TimestampMethod;
import io.flowlag.rli.sender.ReferenceSource;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReferenceRecognizerTest {
    private static final int PORT = 8620;
    private static final int UDP = 17;
    private static final int TCP = 6;
    private static final int HEADERS_BYTES = 14 + 20 + 8;
    private static final long NOW_NS = 1_700_000_000_000_000_000L;
    private static final long MAXIMUM_DELAY_NS = 200_000_000;

    private final Counters counters = new Counters();
    private final PacketDecoder decoder = new PacketDecoder(new PacketDecoder.Context(), counters);
    private final List<ReferenceSession> sessions =
        List.of(ReferenceSession.unauthenticated(1), ReferenceSession.unauthenticated(2));
    private final ReferenceRecognizer recognizer =
        new ReferenceRecognizer(PORT, sessions, MAXIMUM_DELAY_NS, MAXIMUM_DELAY_NS, 2, counters);
    private final ReferenceSource source = new ReferenceSource(sessions.get(1), 0);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final UnsafeBuffer frame = new UnsafeBuffer(new byte[512]);

    private int encode(final int protocol, final int destinationPort, final long stampNs) {
        return headers(protocol, destinationPort, source.encode(frame, HEADERS_BYTES, stampNs));
    }

    private int headers(final int protocol, final int destinationPort, final int lengthBytes) {
        frame.putShort(12, (short)0x0800, ByteOrder.BIG_ENDIAN);
        frame.putByte(14, (byte)0x45);
        frame.putShort(16, (short)(28 + lengthBytes), ByteOrder.BIG_ENDIAN);
        frame.putByte(23, (byte)protocol);
        frame.putInt(26, 0xC0000201, ByteOrder.BIG_ENDIAN);
        frame.putShort(34, (short)PORT, ByteOrder.BIG_ENDIAN);
        frame.putShort(36, (short)destinationPort, ByteOrder.BIG_ENDIAN);
        frame.putShort(38, (short)(8 + lengthBytes), ByteOrder.BIG_ENDIAN);
        return HEADERS_BYTES + lengthBytes;
    }

    private boolean recognize(final int lengthBytes, final long arrivalNs, final int point) {
        return recognize(lengthBytes, lengthBytes, arrivalNs, point);
    }

    private boolean recognize(final int capturedBytes, final int lengthBytes, final long arrivalNs, final int point) {
        assertEquals(PacketDecoder.DECODED, decoder.decode(
            new CapturedPacket(frame, LinkType.ETHERNET, 0).set(0, capturedBytes, lengthBytes, arrivalNs), descriptor, 0));
        return recognizer.recognize(decoder, frame, descriptor, 0, point);
    }

    @Test
    void shouldUseNewKeysAtEachPoint() {
        final ReferenceSession signed = ReferenceSession.authenticated(3, new byte[16]);
        final ReferenceSession renewed = signed.withKeys(List.of(new byte[] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
        final ReferenceSource signing = new ReferenceSource(renewed, 0);
        final ReferenceRecognizer keyed =
            new ReferenceRecognizer(PORT, List.of(signed), MAXIMUM_DELAY_NS, MAXIMUM_DELAY_NS, 2, counters);
        for (final int expected : new int[] {0, 2}) {
            int recognized = 0;
            for (int point = 0; point < 2; point++) {
                final int lengthBytes = headers(UDP, PORT, signing.encode(frame, HEADERS_BYTES, NOW_NS));
                assertEquals(PacketDecoder.DECODED, decoder.decode(new CapturedPacket(frame, LinkType.ETHERNET, 0)
                    .set(0, lengthBytes, lengthBytes, NOW_NS + 7), descriptor, 0));
                recognized += keyed.recognize(decoder, frame, descriptor, 0, point) ? 1 : 0;
            }
            assertEquals(expected, recognized);
            keyed.renew(List.of(renewed));
        }
    }

    /** Three segments expect references of one session on one port, two by their keys, and one without from another source. */
    @Test
    void shouldTellSegmentsOfOneSessionApartByKeyOrSource() {
        final ReferenceSession first = ReferenceSession.authenticated(3, new byte[16]);
        final ReferenceSession second = first.withKeys(List.of(new byte[] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
        final ReferenceSession third = ReferenceSession.unauthenticated(3).from(0, 0xC0000201L);
        final ReferenceSession elsewhere = ReferenceSession.unauthenticated(3).from(0, 0xC0000202L);
        final ReferenceRecognizer several = new SegmentRecognizer(
            Stream.of(first, elsewhere, second, third).map((each) ->
                new SegmentRecognizer.Expected(PORT, null, List.of(each), MAXIMUM_DELAY_NS)).toList(), 1,
            new SegmentSwitch(new PacketSegments(new ConfigLoader().conclude().segments())), false, counters);
        int segment = 0;
        for (final ReferenceSession each : List.of(first, elsewhere, second, third)) {
            final ReferenceSource signing = new ReferenceSource(each, 0);
            for (int i = 0; i < 3; i++) {
                final int lengthBytes = headers(UDP, PORT, signing.encode(frame, HEADERS_BYTES, NOW_NS + i));
                frame.putInt(26, each == elsewhere ? 0xC0000202 : 0xC0000201, ByteOrder.BIG_ENDIAN);
                final CapturedPacket packet =
                    new CapturedPacket(frame, LinkType.ETHERNET, 0).set(0, lengthBytes, lengthBytes, NOW_NS + 7);
                assertEquals(PacketDecoder.DECODED, decoder.decode(packet, descriptor, 0));
                assertTrue(several.recognize(decoder, packet, descriptor, 0, 0));
                assertEquals(segment, DecodedReference.segmentIndex(descriptor, 0));
                signing.onSent();
            }
            segment++;
        }
        assertEquals(0, counters.get(CounterId.REFERENCES_BAD_MAC) + counters.get(CounterId.REFERENCES_WRONG_SOURCE));
    }

    @Test
    void shouldSayWhatAReferenceSays() {
        final int first = source.onSent();
        source.onObserved(first, NOW_NS - 5, TimestampMethod.SOFTWARE_LOCAL);
        assertTrue(recognize(encode(UDP, PORT, NOW_NS), NOW_NS + 7, 0));
        assertEquals(PacketDescriptor.KIND_REFERENCE, PacketDescriptor.kind(descriptor, 0));
        assertEquals(1, DecodedReference.streamIndex(descriptor, 0));
        assertEquals(first + 1, DecodedReference.sequenceNumber(descriptor, 0));
        assertEquals(NOW_NS, DecodedReference.stampNs(descriptor, 0), 1);
        assertEquals(NOW_NS + 7, PacketDescriptor.timestampNs(descriptor, 0));
        assertTrue(DecodedReference.hasFollowUp(descriptor, 0));
        assertEquals(first, DecodedReference.followUpSequenceNumber(descriptor, 0));
        assertEquals(NOW_NS - 5, DecodedReference.followUpSentNs(descriptor, 0), 1);
    }

    @Test
    void shouldLetOtherPacketsBe() {
        assertFalse(recognize(encode(UDP, PORT + 1, NOW_NS), NOW_NS, 0));
        assertFalse(recognize(encode(TCP, PORT, NOW_NS), NOW_NS, 0));
        assertEquals(0, counters.get(CounterId.REFERENCES_TOO_SHORT));
        assertEquals(PORT, PacketDescriptor.destinationPort(descriptor, 0), "the descriptor of a packet stays");
    }

    /** References of several sizes, of which the snap length leaves all fields. */
    @ParameterizedTest
    @ValueSource(ints = {0x45, 0x46})
    void shouldTakeAReferenceOfWhichNothingButPaddingIsCutOff(final int versionAndLength) {
        final int optionBytes = 4 * (versionAndLength & 0xF) - 20;
        final int payloadOffset = HEADERS_BYTES + optionBytes;
        final ReferenceEncoder encoder = new ReferenceEncoder().wrap(frame, payloadOffset, false).ssid(2).stampNs(NOW_NS);
        encoder.followUp(1, NOW_NS - 5, TimestampMethod.SOFTWARE_LOCAL).extraPadding(300);
        final int lengthBytes = headers(UDP, PORT, encoder.encodedLength() + optionBytes);
        frame.putByte(14, (byte)versionAndLength);
        frame.putShort(payloadOffset - 8, (short)PORT, ByteOrder.BIG_ENDIAN);
        frame.putShort(payloadOffset - 6, (short)PORT, ByteOrder.BIG_ENDIAN);
        frame.putShort(payloadOffset - 4, (short)(8 + encoder.encodedLength()), ByteOrder.BIG_ENDIAN);

        assertFalse(recognize(payloadOffset + 63, lengthBytes, NOW_NS, 0));
        assertTrue(recognize(payloadOffset + 64 + 50, lengthBytes, NOW_NS, 0));
        assertEquals(1, DecodedReference.followUpSequenceNumber(descriptor, 0));
        frame.putShort(payloadOffset + 64 + 2, (short)301, ByteOrder.BIG_ENDIAN);
        assertFalse(recognize(payloadOffset + 64 + 50, lengthBytes, NOW_NS, 1), "longer than the datagram");
        assertEquals(2, counters.get(CounterId.REFERENCES_BAD_EXTENSION));
    }

    @Test
    void shouldCountEachRefusalAndLeaveThePacketARegularOne() {
        final int lengthBytes = encode(UDP, PORT, NOW_NS);
        assertFalse(recognize(HEADERS_BYTES + 20, NOW_NS, 0));
        assertEquals(1, counters.get(CounterId.REFERENCES_TOO_SHORT));
        assertFalse(recognize(lengthBytes, NOW_NS + MAXIMUM_DELAY_NS + 1000, 0));
        assertEquals(1, counters.get(CounterId.REFERENCES_LATE));
        assertFalse(recognize(lengthBytes, NOW_NS - MAXIMUM_DELAY_NS - 1000, 0));
        assertEquals(1, counters.get(CounterId.REFERENCES_EARLY));
        assertTrue(PacketDescriptor.kind(descriptor, 0) != PacketDescriptor.KIND_REFERENCE);
        assertEquals(UDP, PacketDescriptor.protocol(descriptor, 0));
    }

    @Test
    void shouldTakeAReferenceOnceAtEachPoint() {
        final int lengthBytes = encode(UDP, PORT, NOW_NS);
        assertTrue(recognize(lengthBytes, NOW_NS, 0));
        assertTrue(recognize(lengthBytes, NOW_NS + 1, 1), "it passes the other point too");
        assertFalse(recognize(lengthBytes, NOW_NS + 2, 0));
        assertFalse(recognize(lengthBytes, NOW_NS + 3, 1));
        assertEquals(2, counters.get(CounterId.REFERENCES_REPLAYED));
    }
}
