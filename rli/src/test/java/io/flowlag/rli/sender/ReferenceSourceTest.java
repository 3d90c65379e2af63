package io.flowlag.rli.sender;

import io.flowlag.rli.Allocation;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReferenceSourceTest {
    private static final long START_NS = 1_767_225_600_000_000_000L;
    private static final ReferenceSession SESSION = ReferenceSession.authenticated(7, new byte[32]);

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);
    private final ReferenceSource source = new ReferenceSource(SESSION, ErrorEstimate.of(1000, true));
    private final ReferenceVerifier verifier = new ReferenceVerifier(List.of(SESSION), 1_000_000_000L, 0);

    private void encode() {
        final int lengthBytes = source.encode(buffer, 0, START_NS + source.nextSequenceNumber());
        assertEquals(
            ReferenceVerdict.ACCEPTED,
            verifier.from(0, 0).verify(buffer, 0, lengthBytes, lengthBytes, START_NS + source.nextSequenceNumber() + 1));
    }

    @Test
    void shouldCarryEachObservedSendTimeOnce() {
        encode();
        assertFalse(verifier.decoder().hasFollowUp());
        assertEquals(0, source.onSent());
        source.onObserved(0, START_NS + 50, TimestampMethod.SOFTWARE_LOCAL);
        encode();
        assertEquals(0, verifier.decoder().followUpSequenceNumber());
        assertEquals(START_NS + 50, verifier.decoder().followUpSentNs());
        assertEquals(1, source.onSent());
        encode();
        assertFalse(verifier.decoder().hasFollowUp());
    }

    @Test
    void shouldSignWithTheFirstKeyOfItsSessionAndCountOn() {
        encode();
        source.onSent();
        final ReferenceSession newer = SESSION.withKeys(List.of(new byte[] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
            SESSION.keys().get(0)));
        verifier.renew(List.of(newer));
        encode();
        source.renew(newer);
        verifier.renew(List.of(newer.withKeys(newer.keys().subList(0, 1))));
        source.onSent();
        encode();
        assertEquals(2, verifier.decoder().sequenceNumber());
    }

    @Test
    void shouldUseANumberAgainThatWasNotSent() {
        source.onObserved(41, START_NS, TimestampMethod.SOFTWARE_LOCAL);
        source.encode(buffer, 0, START_NS);
        source.encode(buffer, 0, START_NS);
        encode();
        assertEquals(0, verifier.decoder().sequenceNumber());
        assertEquals(41, verifier.decoder().followUpSequenceNumber());
    }

    @Test
    void shouldNotForgetATimeObservedWhileAPacketIsUnderWay() {
        source.encode(buffer, 0, START_NS);
        source.onObserved(41, START_NS, TimestampMethod.SOFTWARE_LOCAL);
        source.onSent();
        encode();
        assertTrue(verifier.decoder().hasFollowUp());
    }

    @Test
    void shouldForgetTheOldestWhenTooManyWait() {
        for (int i = 0; i < 100; i++) {
            source.onObserved(i, START_NS, TimestampMethod.SOFTWARE_LOCAL);
        }
        encode();
        assertEquals(36, verifier.decoder().followUpSequenceNumber());
        assertEquals(36, source.forgottenCount());
    }

    @Test
    void shouldForgetWhatIsStaleButTheNewest() {
        for (int i = 0; i < 10; i++) {
            source.onObserved(i, START_NS - 500_000_000 + i * 50_000_000L, TimestampMethod.SOFTWARE_LOCAL);
        }
        encode();
        assertEquals(8, verifier.decoder().followUpSequenceNumber());
        assertEquals(8, source.forgottenCount());
        source.onSent();
        source.onSent();
        source.onObserved(10, START_NS - 500_000_000, TimestampMethod.SOFTWARE_LOCAL);
        encode();
        assertEquals(9, verifier.decoder().followUpSequenceNumber());
    }

    @Test
    void shouldBeLongerWithASendTime() {
        assertEquals(112, source.encode(buffer, 0, START_NS));
        source.onObserved(0, START_NS, TimestampMethod.SOFTWARE_LOCAL);
        assertEquals(152, source.encode(buffer, 0, START_NS));
    }

    @Test
    void shouldAllocateNothing() {
        Allocation.assertNone(20_000, 20_000, () -> {
            source.encode(buffer, 0, START_NS);
            source.onObserved(source.onSent(), START_NS, TimestampMethod.SOFTWARE_LOCAL);
        });
    }
}
