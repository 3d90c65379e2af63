package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Keys of several segments that their receivers change while packets pass, as a restarted receiver does. */
class DigestSwitchTest {
    private static final long START_NS = 1_000;
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final DigestSwitch changing = new DigestSwitch();
    private final DigestSwitch other = new DigestSwitch();
    private final SegmentHashes hashes = new SegmentHashes(List.of(changing, other));

    private long hashAt(final int segment, final long timestampNs) {
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        return hashes.of(segment, descriptor, 0);
    }

    private long hashBy(final long key) {
        final DigestSwitch fixed = new DigestSwitch();
        fixed.change(new SipHash(key, key), Long.MIN_VALUE);
        return new SegmentHashes(List.of(fixed)).of(0, descriptor, 0);
    }

    /** A second change before the first holds takes back the first; packets between them are of no agreement. */
    @Test
    void shouldUseTheLastKeyFromItsTimeWhereTwoChangeInAShortTime() {
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.timestampNs(descriptor, 0, START_NS);
        assertFalse(hashes.hasKey(0, descriptor, 0));
        other.change(new SipHash(9, 9), Long.MIN_VALUE);
        changing.change(new SipHash(1, 1), START_NS);
        assertEquals(hashBy(1), hashAt(0, START_NS));
        changing.change(new SipHash(2, 2), START_NS + 20);
        assertEquals(hashBy(1), hashAt(0, START_NS + 10), "until the new key holds");
        changing.change(new SipHash(3, 3), START_NS + 30);
        assertEquals(hashBy(3), hashAt(0, START_NS + 30));
        changing.change(new SipHash(4, 4), START_NS + 40);
        changing.change(new SipHash(5, 5), START_NS + 50);
        assertEquals(hashBy(5), hashAt(0, START_NS + 50), "also if nothing looked at the key between");
        assertEquals(hashBy(9), hashAt(1, START_NS + 50), "another segment keeps its key");
    }
}
