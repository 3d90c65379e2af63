package io.flowlag.rli.reference;

import io.flowlag.rli.Allocation;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

import static io.flowlag.rli.reference.ReferenceVerdict.ACCEPTED;
import static io.flowlag.rli.reference.ReferenceVerdict.BAD_EXTENSION;
import static io.flowlag.rli.reference.ReferenceVerdict.BAD_EXTENSION_MAC;
import static io.flowlag.rli.reference.ReferenceVerdict.BAD_MAC;
import static io.flowlag.rli.reference.ReferenceVerdict.EARLY;
import static io.flowlag.rli.reference.ReferenceVerdict.LATE;
import static io.flowlag.rli.reference.ReferenceVerdict.REPLAYED;
import static io.flowlag.rli.reference.ReferenceVerdict.TOO_SHORT;
import static io.flowlag.rli.reference.ReferenceVerdict.UNKNOWN_SESSION;
import static io.flowlag.rli.reference.ReferenceVerdict.WRONG_SOURCE;
import static io.flowlag.rli.reference.ReferenceVerdict.WRONG_TIMESTAMP_FORMAT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class ReferenceVerifierTest {
    private static final long NOW_NS = 1_767_225_600_000_000_000L;
    private static final long MAXIMUM_DELAY_NS = 200_000_000L;
    private static final long MAXIMUM_ADVANCE_NS = 1_000_000L;
    private static final long DELAY_NS = 5_000_000L;
    private static final int OPEN = 7;
    private static final int SIGNED = 8;
    private static final int ADDRESSED = 9;
    /** The only octet that no HMAC covers; it is never read. */
    private static final int FLAGS_OF_TLV_HMAC_OFFSET = 132;
    private static final long ADDRESS = 0x0A000001L;

    private final byte[] key = new byte[32];
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
    private final ReferenceEncoder encoder = new ReferenceEncoder();
    private final ReferenceMac mac = new ReferenceMac(key);
    private final ReferenceVerifier verifier = new ReferenceVerifier(
        sessions(List.of(key)), MAXIMUM_DELAY_NS, MAXIMUM_ADVANCE_NS);

    private static List<ReferenceSession> sessions(final List<byte[]> keys) {
        return List.of(
            ReferenceSession.unauthenticated(OPEN),
            ReferenceSession.unauthenticated(SIGNED).withKeys(keys),
            ReferenceSession.unauthenticated(ADDRESSED).from(0, ADDRESS));
    }

    private ReferenceEncoder encode(final int ssid, final int sequenceNumber) {
        return encoder.wrap(buffer, 0, ssid == SIGNED).ssid(ssid).sequenceNumber(sequenceNumber)
            .stampNs(NOW_NS + sequenceNumber).errorEstimate(ErrorEstimate.of(1000, true));
    }

    private ReferenceVerdict verify() {
        return verify(encoder.encodedLength());
    }

    private ReferenceVerdict verify(final int lengthBytes) {
        return verifier.from(0, ADDRESS).verify(buffer, 0, lengthBytes, lengthBytes, NOW_NS + DELAY_NS);
    }

    @Test
    void shouldAcceptEachSession() {
        encode(OPEN, 0);
        assertEquals(ACCEPTED, verify());
        assertEquals(0, verifier.sessionIndex());
        encode(SIGNED, 0).sign(mac);
        assertEquals(ACCEPTED, verify());
        assertEquals(1, verifier.sessionIndex());
        encode(ADDRESSED, 0);
        assertEquals(ACCEPTED, verify());
        assertEquals(2, verifier.sessionIndex());
        assertEquals(3, verifier.count(ACCEPTED));
    }

    @Test
    void shouldRefuseACutPacketAtEachLength() {
        encode(SIGNED, 0).followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL).sign(mac);
        final int lengthBytes = encoder.encodedLength();
        for (int cut = 0; cut < 112; cut++) {
            assertEquals(TOO_SHORT, verify(cut), "length " + cut);
        }
        for (int cut = 113; cut < lengthBytes; cut++) {
            assertEquals(cut == 132 ? BAD_EXTENSION_MAC : BAD_EXTENSION, verify(cut), "length " + cut);
        }
        assertEquals(ACCEPTED, verify(lengthBytes));
    }

    @Test
    void shouldRefuseEachChangedBitOfASignedPacket() {
        encode(SIGNED, 0).followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL).sign(mac);
        final int lengthBytes = encoder.encodedLength();
        for (int bit = 0; bit < lengthBytes * 8; bit++) {
            if (bit / 8 == FLAGS_OF_TLV_HMAC_OFFSET) {
                continue;
            }
            buffer.putByte(bit / 8, (byte)(buffer.getByte(bit / 8) ^ 1 << bit % 8));
            assertNotEquals(ACCEPTED, verify(lengthBytes), "bit " + bit);
            buffer.putByte(bit / 8, (byte)(buffer.getByte(bit / 8) ^ 1 << bit % 8));
        }
        assertEquals(ACCEPTED, verify(lengthBytes));
    }

    @Test
    void shouldRefuseAForgedPacket() {
        encode(SIGNED, 0).sign(new ReferenceMac("another key of 24 octets".getBytes()));
        assertEquals(BAD_MAC, verify());
        encode(OPEN, 0);
        buffer.putShort(14, (short)(SIGNED << 8));
        assertEquals(UNKNOWN_SESSION, verify());
        encode(SIGNED, 0);
        assertEquals(BAD_MAC, verify());
        encode(ADDRESSED, 0);
        assertEquals(WRONG_SOURCE, verifier.from(0, ADDRESS + 1).verify(buffer, 0, 44, 44, NOW_NS));
        assertEquals(WRONG_SOURCE, verifier.from(1, ADDRESS).verify(buffer, 0, 44, 44, NOW_NS));
    }

    @Test
    void shouldAcceptTheNextKeyBesideTheCurrentOneAndNoRemovedOne() {
        final byte[] next = "the next key of 27 octets..".getBytes(StandardCharsets.US_ASCII);
        final ReferenceMac nextMac = new ReferenceMac(next);
        encode(SIGNED, 0).sign(nextMac);
        assertEquals(BAD_MAC, verify());
        verifier.renew(sessions(List.of(key, next)));
        encode(SIGNED, 0).sign(mac);
        assertEquals(ACCEPTED, verify());
        encode(SIGNED, 1).followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL).sign(nextMac);
        assertEquals(ACCEPTED, verify());
        assertEquals(REPLAYED, verify(), "whatever the key, a number counts once");
        verifier.renew(sessions(List.of(next)));
        encode(SIGNED, 2).sign(mac);
        assertEquals(BAD_MAC, verify());
        encode(SIGNED, 2).sign(nextMac);
        assertEquals(ACCEPTED, verify());
        encode(OPEN, 0);
        assertEquals(ACCEPTED, verify());
    }

    @Test
    void shouldRefuseAnUnsignedFollowUpOfASignedPacket() {
        encode(SIGNED, 0).sign(mac).followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
        assertEquals(BAD_EXTENSION_MAC, verify());
        encode(SIGNED, 0).followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL).sign(mac)
            .followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
        assertEquals(BAD_EXTENSION_MAC, verify());
        encode(SIGNED, 0).sign(mac).extraPadding(20).extraPadding(0);
        assertEquals(ACCEPTED, verify());
    }

    @Test
    void shouldRefuseMalformedExtensions() {
        encode(OPEN, 0).followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL)
            .followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
        assertEquals(BAD_EXTENSION, verify());
        encode(OPEN, 0).followUp(0, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
        buffer.putByte(47, (byte)12);
        assertEquals(BAD_EXTENSION, verify());
        encode(OPEN, 0);
        for (int i = 0; i < 100; i++) {
            encoder.extraPadding(0);
        }
        assertEquals(BAD_EXTENSION, verify());
        encode(OPEN, 0);
        buffer.putShort(12, (short)0x0040);
        assertEquals(WRONG_TIMESTAMP_FORMAT, verify());
    }

    @Test
    void shouldRefuseWhatIsReplayed() {
        for (int i = 0; i < SequenceWindow.WIDTH + 976; i++) {
            encode(SIGNED, i).sign(mac);
            assertEquals(ACCEPTED, verify());
        }
        for (int i = 0; i < SequenceWindow.WIDTH + 976; i++) {
            encode(SIGNED, i).sign(mac);
            assertEquals(i < 976 ? LATE : REPLAYED, verify(), "sequence number " + i);
        }
        encode(SIGNED, SequenceWindow.WIDTH + 1976).sign(mac);
        assertEquals(ACCEPTED, verify());
    }

    @Test
    void shouldRefuseAReplayFromBeforeTheSenderRestarted() {
        encode(SIGNED, 5000).sign(mac);
        final byte[] recorded = Arrays.copyOf(buffer.byteArray(), 112);
        assertEquals(ACCEPTED, verify());
        encode(SIGNED, 0).stampNs(NOW_NS + 400_000_000L).sign(mac);
        assertEquals(ACCEPTED, verifier.from(0, 0).verify(buffer, 0, 112, 112, NOW_NS + 401_000_000L));

        buffer.putBytes(0, recorded);
        assertEquals(LATE, verifier.from(0, 0).verify(buffer, 0, 112, 112, NOW_NS + 402_000_000L));
    }

    @Test
    void shouldRefuseWhatIsLateOrEarly() {
        encode(OPEN, 0);
        assertEquals(LATE, verifier.from(0, 0).verify(buffer, 0, 44, 44, NOW_NS + MAXIMUM_DELAY_NS + 1));
        assertEquals(EARLY, verifier.from(0, 0).verify(buffer, 0, 44, 44, NOW_NS - MAXIMUM_ADVANCE_NS - 1));
        assertEquals(ACCEPTED, verifier.from(0, 0).verify(buffer, 0, 44, 44, NOW_NS - MAXIMUM_ADVANCE_NS));
    }

    @Property(tries = 2000)
    void shouldNeverThrowAndAlwaysCount(
        @ForAll @Size(max = 200) final byte[] octets, @ForAll @IntRange(min = 0, max = 3) final int ssid) {
        final UnsafeBuffer hostile = new UnsafeBuffer(octets);
        if (octets.length >= 28 && ssid > 0) {
            hostile.putShort(ssid == 2 ? 26 : 14, (short)(OPEN + ssid - 1 << 8));
        }
        final long before = total();
        verifier.from(0, 0).verify(hostile, 0, octets.length, octets.length, NOW_NS);
        assertEquals(before + 1, total());
    }

    private long total() {
        return Arrays.stream(ReferenceVerdict.values()).mapToLong(verifier::count).sum();
    }

    @Test
    void shouldRefuseImpossibleSettings() {
        assertThrows(IllegalArgumentException.class, () -> ReferenceSession.unauthenticated(0));
        assertThrows(IllegalArgumentException.class, () -> ReferenceSession.unauthenticated(65536));
        assertThrows(IllegalArgumentException.class, () -> new ReferenceVerifier(
            List.of(ReferenceSession.unauthenticated(1), ReferenceSession.unauthenticated(1)), 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new ReferenceVerifier(List.of(), 0, 0));
    }

    @Test
    void shouldAllocateNothing() {
        final int[] sequenceNumber = new int[1];
        Allocation.assertNone(20_000, 20_000, () -> {
            encode(OPEN, ++sequenceNumber[0]).followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
            verify();
            verify(40);
            encode(SIGNED, sequenceNumber[0]).followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL).sign(mac);
            verify();
            verify();
        });
        assertEquals(2L * sequenceNumber[0], verifier.count(ACCEPTED));
        assertEquals(sequenceNumber[0], verifier.count(REPLAYED));
    }
}
