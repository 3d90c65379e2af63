package io.flowlag.rli.reference;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HexFormat;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The golden octets were made by another program: Python's struct and hmac. */
class ReferenceCodecTest {
    private static final long STAMP_NS = 1_767_225_600_123_456_789L;
    private static final int SEQUENCE_NUMBER = 0x01020304;
    private static final int SSID = 0xBEEF;
    private static final int ERROR_ESTIMATE = 0x8391;
    private static final int OFFSET = 6;

    private static final String FOLLOW_UP =
        "8007001001020303ed0037801f59540002000000";
    private static final String UNAUTHENTICATED =
        "01020304ed0037801f9add388391beef" + "00".repeat(28);
    private static final String AUTHENTICATED =
        "01020304" + "00".repeat(12) + "ed0037801f9add388391beef" + "00".repeat(68) + "464da7f33e1717fbd6f3a938935ae60a";
    private static final String TLV_HMAC =
        "800800104b0e95de1a507c09674825cc08ff6451";

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);
    private final ReferenceEncoder encoder = new ReferenceEncoder();

    private static byte[] key() {
        final byte[] key = new byte[32];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte)i;
        }
        return key;
    }

    private ReferenceEncoder encode(final boolean authenticated) {
        buffer.setMemory(0, buffer.capacity(), (byte)0x5A);
        return encoder.wrap(buffer, OFFSET, authenticated).sequenceNumber(SEQUENCE_NUMBER).stampNs(STAMP_NS)
            .errorEstimate(ERROR_ESTIMATE).ssid(SSID);
    }

    private String octets() {
        final byte[] packet = new byte[encoder.encodedLength()];
        buffer.getBytes(OFFSET, packet);
        return HexFormat.of().formatHex(packet);
    }

    @Test
    void shouldMatchTheGoldenOctets() {
        encode(false);
        assertEquals(44, encoder.encodedLength());
        assertEquals(UNAUTHENTICATED, octets());

        encode(false).followUp(SEQUENCE_NUMBER - 1, STAMP_NS - 1_000_000, TimestampMethod.SOFTWARE_LOCAL);
        assertEquals(64, encoder.encodedLength());
        assertEquals(UNAUTHENTICATED + FOLLOW_UP, octets());

        encode(true).sign(new ReferenceMac(key()));
        assertEquals(112, encoder.encodedLength());
        assertEquals(AUTHENTICATED, octets());

        encode(true).followUp(SEQUENCE_NUMBER - 1, STAMP_NS - 1_000_000, TimestampMethod.SOFTWARE_LOCAL)
            .sign(new ReferenceMac(key())).extraPadding(3);
        assertEquals(159, encoder.encodedLength());
        assertEquals(AUTHENTICATED + FOLLOW_UP + TLV_HMAC + "80010003000000", octets());
        assertEquals(152, ReferenceEncoder.maximumLengthBytes(true));
        assertEquals(64, ReferenceEncoder.maximumLengthBytes(false));
    }

    @Property(tries = 500)
    void shouldDecodeWhatItEncoded(
        @ForAll final boolean authenticated, @ForAll final int sequenceNumber,
        @ForAll @LongRange(min = 0, max = 4_000_000_000_000_000_000L) final long stampNs,
        @ForAll @IntRange(min = 1, max = 0xFFFF) final int ssid, @ForAll final boolean hasFollowUp,
        @ForAll @LongRange(min = -1_000_000_000L, max = 1_000_000_000L) final long aheadNs,
        @ForAll @IntRange(min = -1, max = 100) final int paddingBytes) {
        encoder.wrap(buffer, OFFSET, authenticated).sequenceNumber(sequenceNumber).stampNs(stampNs)
            .errorEstimate(ERROR_ESTIMATE).ssid(ssid);
        if (hasFollowUp) {
            encoder.followUp(sequenceNumber - 7, stampNs + aheadNs, TimestampMethod.HARDWARE_ASSIST);
        }
        if (authenticated) {
            encoder.sign(new ReferenceMac(key()));
        }
        if (paddingBytes >= 0) {
            encoder.extraPadding(paddingBytes);
        }
        final ReferenceVerifier verifier = new ReferenceVerifier(
            List.of(authenticated ?
                ReferenceSession.authenticated(ssid, key()) : ReferenceSession.unauthenticated(ssid)),
            1_000_000_000L, 0);

        assertEquals(
            ReferenceVerdict.ACCEPTED, verifier.verify(
                buffer, OFFSET, encoder.encodedLength(), encoder.encodedLength(), stampNs + 1));
        final ReferenceDecoder decoder = verifier.decoder();
        assertEquals(0, verifier.sessionIndex());
        assertEquals(sequenceNumber, decoder.sequenceNumber());
        assertEquals(stampNs, decoder.stampNs());
        assertEquals(ssid, decoder.ssid());
        assertEquals(ERROR_ESTIMATE, decoder.errorEstimate());
        assertEquals(hasFollowUp, decoder.hasFollowUp());
        if (hasFollowUp) {
            assertEquals(sequenceNumber - 7, decoder.followUpSequenceNumber());
            assertEquals(stampNs + aheadNs, decoder.followUpSentNs());
            assertEquals(TimestampMethod.HARDWARE_ASSIST.code(), decoder.followUpMethod());
        }
    }

    @Test
    void shouldTakeAnEmptyFollowUpForNone() {
        encode(false).followUp(0, 0, TimestampMethod.SOFTWARE_LOCAL);
        buffer.putLong(OFFSET + 52, 0);
        final ReferenceVerifier verifier =
            new ReferenceVerifier(List.of(ReferenceSession.unauthenticated(SSID)), 1_000_000_000L, 0);

        assertEquals(
            ReferenceVerdict.ACCEPTED, verifier.verify(
                buffer, OFFSET, encoder.encodedLength(), encoder.encodedLength(), STAMP_NS));
        assertFalse(verifier.decoder().hasFollowUp());
        assertTrue(ErrorEstimate.isSynchronized(verifier.decoder().errorEstimate()));
    }
}
