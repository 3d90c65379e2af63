package io.flowlag.exporter.fuzz;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceDecoder;
import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.ReferenceMac;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.ReferenceVerdict;
import io.flowlag.rli.reference.ReferenceVerifier;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Reference packets: a payload behind which nothing may be read, of sessions with and without a key. Half of the mutants with a
 * key are signed anew, or none would come beyond its HMAC.
 */
final class ReferenceTarget implements FuzzTarget {
    private static final long NOW_NS = 1_767_225_600_000_000_000L;
    private static final long MAXIMUM_DELAY_NS = 200_000_000L;
    private static final int OPEN = 7;
    private static final int SIGNED = 8;
    private static final int ADDRESSED = 9;
    private static final long ADDRESS = 0x0A000001L;
    private static final int SSID_OFFSET = 26;
    private static final int HMAC_OFFSET = 96;
    private static final int SIGNED_BYTES = 112;
    private static final int MAX_BYTES = 512;

    private final byte[] key = new byte[32];
    private final ReferenceMac mac = new ReferenceMac(key);
    private final UnsafeBuffer signed = new UnsafeBuffer(0, 0);
    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final CheckedBuffer payload = new CheckedBuffer(0, 0);
    private final ReferenceVerifier verifier = new ReferenceVerifier(List.of(ReferenceSession.unauthenticated(OPEN),
        ReferenceSession.authenticated(SIGNED, key), ReferenceSession.unauthenticated(ADDRESSED).from(0, ADDRESS)),
        MAXIMUM_DELAY_NS, MAXIMUM_DELAY_NS);
    private long taken;
    private long accepted;

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("reference"));
        for (final int ssid : new int[] {OPEN, SIGNED, ADDRESSED}) {
            for (int extensions = 0; extensions < 4; extensions++) {
                seeds.add(packet(ssid, extensions));
            }
        }
        return seeds;
    }

    private byte[] packet(final int ssid, final int extensions) {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[MAX_BYTES]);
        final ReferenceEncoder encoder = new ReferenceEncoder().wrap(buffer, 0, ssid == SIGNED).ssid(ssid)
            .sequenceNumber(extensions).stampNs(NOW_NS).errorEstimate(ErrorEstimate.of(1000, true));
        if ((extensions & 1) != 0) {
            encoder.followUp(1, NOW_NS, TimestampMethod.SOFTWARE_LOCAL);
        }
        if (ssid == SIGNED) {
            encoder.sign(mac);
        }
        if ((extensions & 2) != 0) {
            encoder.extraPadding(40);
        }
        final byte[] packet = new byte[encoder.encodedLength()];
        buffer.getBytes(0, packet);
        return packet;
    }

    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        final boolean isSigned = lengthBytes >= SIGNED_BYTES && octets[SSID_OFFSET] == 0 && octets[SSID_OFFSET + 1] == SIGNED;
        if (isSigned && random.nextBoolean()) {
            signed.wrap(octets, 0, lengthBytes);
            mac.begin().update(signed, 0, HMAC_OFFSET).write(signed, HMAC_OFFSET);
        }
        return lengthBytes;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        memory.wrap(payload, octets, 0, length);
        taken++;
        final ReferenceVerdict verdict = verifier.from(0, ADDRESS).verify(payload, 0, length, length, NOW_NS + 1_000_000);
        if (verdict != ReferenceVerdict.ACCEPTED) {
            return verdict.ordinal();
        }
        accepted++;
        final ReferenceDecoder decoder = verifier.decoder();
        if (verifier.sessionIndex() < 0 || verifier.sessionIndex() > 2) {
            throw new AssertionError("session " + verifier.sessionIndex());
        }
        final long delayNs = NOW_NS + 1_000_000 - decoder.stampNs();
        if (delayNs > MAXIMUM_DELAY_NS || delayNs < -MAXIMUM_DELAY_NS) {
            throw new AssertionError("delay " + delayNs);
        }
        long answer = 100 + verifier.sessionIndex();
        if (decoder.hasFollowUp()) {
            answer += 10;
            decoder.followUpSequenceNumber();
            decoder.followUpSentNs();
        }
        return answer;
    }

    @Override
    public void check() {
        long counted = 0;
        for (final ReferenceVerdict verdict : ReferenceVerdict.values()) {
            counted += verifier.count(verdict);
        }
        if (counted != taken || verifier.count(ReferenceVerdict.ACCEPTED) != accepted) {
            throw new AssertionError(taken + " taken, " + counted + " counted, " + accepted + " accepted");
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 0;
    }
}
