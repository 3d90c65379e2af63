package io.flowlag.rli.receiver;

import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import io.flowlag.rli.reference.TimestampMethod;
import io.flowlag.rli.sender.ReferenceSource;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** From the sender's octets to estimates, with an attacker in between who forges, replays and truncates. */
class ForgedReferencesTest {
    private static final long START_NS = 1_767_225_600_000_000_000L;
    private static final long GAP_NS = 10_000_000L;
    private static final long DELAY_NS = 5_000_000L;
    private static final long SOCKET_NS = 30_000L;
    private static final int GAPS = 500;
    private static final byte[] KEY = "a key of at least 16 octets".getBytes();
    private static final ReferenceSession SESSION = ReferenceSession.authenticated(7, KEY);

    private final Samples samples = new Samples();
    private final RliReceiver receiver = new RliReceiver(new ReceiverSettingsBuilder().significantDigits(2).build(), samples);
    private final ReferenceVerifier verifier = new ReferenceVerifier(List.of(SESSION), 200_000_000L, 1_000_000L);
    private final ReferenceSource source = new ReferenceSource(SESSION, ErrorEstimate.of(1000, true));
    private final ReferenceSource forger =
        new ReferenceSource(ReferenceSession.authenticated(7, new byte[32]), ErrorEstimate.of(1000, true));
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);

    private ReferenceVerdict arrive(final int lengthBytes, final long arrivalNs) {
        final ReferenceVerdict verdict = verifier.from(0, 0).verify(buffer, 0, lengthBytes, lengthBytes, arrivalNs);
        if (verdict == ReferenceVerdict.ACCEPTED) {
            final int stream = verifier.sessionIndex();
            receiver.stream(stream).onReference(
                verifier.decoder().sequenceNumber(), verifier.decoder().stampNs(), arrivalNs, lengthBytes + 46);
            if (verifier.decoder().hasFollowUp()) {
                receiver.stream(stream).onSendTime(
                    verifier.decoder().followUpSequenceNumber(), verifier.decoder().followUpSentNs());
            }
        }
        return verdict;
    }

    @Test
    void shouldEstimateAsIfNobodyWereThere() {
        byte[] recorded = new byte[0];
        for (int i = 0; i < GAPS; i++) {
            final long sentNs = START_NS + i * GAP_NS;
            final long arrivalNs = sentNs + DELAY_NS;
            int lengthBytes = source.encode(buffer, 0, sentNs - SOCKET_NS);
            source.onObserved(source.onSent(), sentNs, TimestampMethod.SOFTWARE_LOCAL);
            assertEquals(ReferenceVerdict.ACCEPTED, arrive(lengthBytes, arrivalNs));
            if (i == 3) {
                recorded = Arrays.copyOf(buffer.byteArray(), lengthBytes);
            }
            assertEquals(ReferenceVerdict.REPLAYED, arrive(lengthBytes, arrivalNs + 1));
            assertEquals(ReferenceVerdict.TOO_SHORT, arrive(100, arrivalNs + 2));
            lengthBytes = forger.encode(buffer, 0, sentNs + 1_000_000);
            forger.onSent();
            assertEquals(ReferenceVerdict.BAD_MAC, arrive(lengthBytes, arrivalNs + 3));
            if (i > 30) {
                buffer.putBytes(0, recorded);
                assertEquals(ReferenceVerdict.LATE, arrive(recorded.length, arrivalNs + 4));
            }
            receiver.stream(0).onPacket(1, 1, 0, 0, 1000, arrivalNs + GAP_NS / 2);
        }
        receiver.onEnd();

        assertEquals(GAPS, receiver.counter(ReceiverCounter.REFERENCES));
        assertEquals(GAPS, verifier.count(ReferenceVerdict.ACCEPTED));
        assertEquals(GAPS, verifier.count(ReferenceVerdict.BAD_MAC));
        assertEquals(GAPS - 1, receiver.counter(ReceiverCounter.ESTIMATED));
        assertTrue(samples.delaysNs().stream().allMatch(delayNs -> delayNs == DELAY_NS));
        assertEquals(SOCKET_NS, receiver.stream(0).stampCorrectionNs());
        Identities.assertHold(receiver);
    }

    /** A thousand forged packets for each reference: most are refused unseen, and no reference is. */
    @Test
    void shouldVerifyReferencesAndFewOthersInAFlood() {
        final int forged = 1000;
        for (int i = 0; i < GAPS; i++) {
            final long sentNs = START_NS + i * GAP_NS;
            final int lengthBytes = source.encode(buffer, 0, sentNs);
            source.onSent();
            assertEquals(ReferenceVerdict.ACCEPTED, arrive(lengthBytes, sentNs + DELAY_NS));
            buffer.putByte(20, (byte)(buffer.getByte(20) ^ 1));
            for (int j = 0; j < forged; j++) {
                assertTrue(arrive(lengthBytes, sentNs + DELAY_NS + j) != ReferenceVerdict.ACCEPTED);
            }
        }
        final long seconds = GAPS * GAP_NS / 1_000_000_000L;
        assertEquals(1000 * (1 + seconds), verifier.count(ReferenceVerdict.BAD_MAC), 20);
        assertEquals((long)GAPS * forged, verifier.count(ReferenceVerdict.BAD_MAC) + verifier.count(ReferenceVerdict.UNCHECKED));
        final long afterNs = START_NS + GAPS * GAP_NS + 2_000_000_000L;
        final int lengthBytes = forger.encode(buffer, 0, afterNs);
        assertEquals(ReferenceVerdict.BAD_MAC, arrive(lengthBytes, afterNs + DELAY_NS), "the allowance is whole again");
        assertEquals(ReferenceVerdict.BAD_MAC, arrive(lengthBytes, START_NS), "and after the clock was set back");
    }
}
