package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The fast path gives the same octets as the path through all layers. */
class PlainPacketTest {
    private static final int PACKETS_OF_EACH_CAPTURE = 30;
    private static final SipHash KEY = new SipHash(1, 2);
    private static final SipHash OTHER_KEY = new SipHash(3, 4);
    /** Of two segments, and of one that has none. */
    private static final List<DigestSwitch> KEYS = List.of(new DigestSwitch(), new DigestSwitch(), new DigestSwitch());
    private static final int MUTANTS_OF_EACH_PACKET = 6;
    private static final int DIGEST_FLAGS = PacketDescriptor.FLAG_DIGEST | PacketDescriptor.FLAG_DIGEST_SHORT;

    private final List<Pair> pairs = new ArrayList<>();
    private long plainCount;

    static {
        KEYS.get(0).change(KEY, Long.MIN_VALUE);
        KEYS.get(1).change(OTHER_KEY, Decoding.TIMESTAMP_NS);
    }

    PlainPacketTest() {
        for (final boolean innerTunnels : new boolean[]{false, true}) {
            pairs.add(new Pair(innerTunnels, -1));
            pairs.add(new Pair(innerTunnels, 0));
            pairs.add(new Pair(innerTunnels, 32));
        }
    }

    /** A decoder with the fast path, and one without. */
    private static final class Pair {
        private final SegmentHashes hashes = new SegmentHashes(KEYS);

        private final Counters counters = new Counters();
        private final Counters plainCounters = new Counters();
        private final PacketDecoder layers;
        private final PacketDecoder plain;
        private final PacketDecoder other;
        private final PacketDecoder keyed;
        private final boolean hasDigests;

        Pair(final boolean innerTunnels, final int digestPayloadBytes) {
            layers = new PacketDecoder(context(innerTunnels, digestPayloadBytes).plain(false), counters);
            plain = new PacketDecoder(context(innerTunnels, digestPayloadBytes), plainCounters);
            hasDigests = digestPayloadBytes >= 0;
            final PacketDecoder.Context context = context(innerTunnels, digestPayloadBytes);
            other = new PacketDecoder(hasDigests ? context.digest(OTHER_KEY) : context, new Counters());
            keyed = new PacketDecoder(context(innerTunnels, digestPayloadBytes).digest(null).segmentKeys(KEYS), new Counters());
        }

        private static PacketDecoder.Context context(final boolean innerTunnels, final int digestPayloadBytes) {
            // The fragment table has a random key: two tables forget different entries.
            final PacketDecoder.Context context =
                new PacketDecoder.Context().innerTunnels(innerTunnels).observationPoint(3).fragmentPorts(false).tcp(true)
                    .mac(true);
            return digestPayloadBytes < 0 ? context :
                context.digest(KEY).digestPayloadBytes(digestPayloadBytes);
        }

        /** By the keys of two segments a packet has the digests and flow hashes that it has by each key alone. */
        private void tellSegments(final CapturedPacket packet, final UnsafeBuffer expected, final UnsafeBuffer another) {
            for (final int[] segments : new int[][] {{-1, 0}, {1, -1}, {1, 0}, {2, 0}, {-1, -1}}) {
                final UnsafeBuffer actual = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
                assertEquals(PacketDecoder.DECODED, keyed.decode(packet, actual, 0));
                keyed.digest(packet, segments[0], segments[1], actual, 0);
                final boolean isArriving = segments[1] == 0;
                final boolean isEntering = segments[0] == 1;
                final UnsafeBuffer first = isArriving ? expected : another;
                final int flags = PacketDescriptor.flags(actual, 0);
                final int wanted = !isArriving && !isEntering ? 0 : PacketDescriptor.flags(first, 0);
                assertEquals(wanted & DIGEST_FLAGS, flags & DIGEST_FLAGS);
                if ((flags & PacketDescriptor.FLAG_DIGEST) == 0) {
                    continue;
                }
                assertEquals(PacketDescriptor.digest(first, 0), PacketDescriptor.digest(actual, 0));
                assertEquals(isArriving && isEntering, (flags & PacketDescriptor.FLAG_SENDER_DIGEST) != 0);
                if (isArriving && isEntering) {
                    assertEquals(PacketDescriptor.digest(another, 0), PacketDescriptor.segmentFlowHash(actual, 0));
                    assertEquals(PacketDescriptor.segmentFlowHash(another, 0), hashes.of(1, actual, 0));
                } else if ((flags & PacketDescriptor.FLAG_FLOW_HASH_LEFT) == 0) {
                    assertEquals(PacketDescriptor.segmentFlowHash(first, 0), PacketDescriptor.segmentFlowHash(actual, 0));
                }
                assertEquals(PacketDescriptor.segmentFlowHash(first, 0), hashes.of(isArriving ? 0 : 1, actual, 0));
                final boolean isFragment = (flags & PacketDescriptor.FLAG_FRAGMENT) != 0;
                assertEquals(isArriving && !isFragment, (flags & PacketDescriptor.FLAG_FLOW_HASH_LEFT) != 0);
            }
        }

        /** The buffer holds only the captured octets: reading beyond them throws. */
        int decode(final byte[] captured, final int wireLengthBytes, final int linkType, final int vlanTag) {
            final CapturedPacket packet = new CapturedPacket(new UnsafeBuffer(captured), linkType, 7)
                .set(0, captured.length, wireLengthBytes, Decoding.TIMESTAMP_NS);
            packet.vlanTag(vlanTag);
            final UnsafeBuffer expected = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
            final UnsafeBuffer actual = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
            final int result = layers.decode(packet, expected, 0);
            assertEquals(result, plain.decode(packet, actual, 0));
            assertArrayEquals(expected.byteArray(), actual.byteArray());
            if (result == PacketDecoder.DECODED && hasDigests) {
                final UnsafeBuffer another = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
                other.decode(packet, another, 0);
                tellSegments(packet, expected, another);
            }
            if (result == PacketDecoder.DECODED) {
                final int payloadBytes = Math.max(0, layers.udpPayloadLengthBytes());
                assertEquals(payloadBytes, Math.max(0, plain.udpPayloadLengthBytes()));
                assertEquals(payloadBytes == 0 ? 0 : layers.udpPayloadOffset(), payloadBytes == 0 ? 0 : plain.udpPayloadOffset());
            }
            return result;
        }

        void compareCounters() {
            for (int i = 0; i < CounterId.count(); i++) {
                assertEquals(counters.get(CounterId.of(i)), plainCounters.get(CounterId.of(i)), CounterId.of(i).label());
            }
        }
    }

    /** If the flow hash is skipped, it can be computed from the descriptor; all other fields are the same. */
    private static void compareLeft(final byte[] captured, final int wireLengthBytes) {
        final CapturedPacket packet = new CapturedPacket(new UnsafeBuffer(captured), LinkType.ETHERNET, 7)
            .set(0, captured.length, wireLengthBytes, 1);
        packet.vlanTag(0);
        final UnsafeBuffer expected = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        final UnsafeBuffer actual = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        final PacketDecoder whole = new PacketDecoder(Pair.context(false, 32), new Counters());
        final PacketDecoder left = new PacketDecoder(Pair.context(false, 32).flowHashLeft(true), new Counters());
        assertEquals(whole.decode(packet, expected, 0), left.decode(packet, actual, 0));
        final int flags = PacketDescriptor.flags(actual, 0);
        if ((flags & PacketDescriptor.FLAG_FLOW_HASH_LEFT) != 0) {
            assertEquals(0, PacketDescriptor.segmentFlowHash(actual, 0));
            PacketDescriptor.segmentFlowHash(actual, 0, new SegmentFlowHash(new SipHash(1, 2)).hash(actual, 0));
            PacketDescriptor.flags(actual, 0, flags & ~PacketDescriptor.FLAG_FLOW_HASH_LEFT);
        }
        assertArrayEquals(expected.byteArray(), actual.byteArray());
    }

    private void compare(final byte[] packet, final int wireLengthBytes, final int linkType, final int vlanTag) {
        int result = 0;
        for (final Pair pair : pairs) {
            result = pair.decode(packet, wireLengthBytes, linkType, vlanTag);
        }
        plainCount += result == PacketDecoder.DECODED ? 1 : 0;
    }

    @Test
    void shouldGiveTheSameOfRealPacketsAndTheirMutants() {
        final Random random = new Random(1);
        for (final Map<String, String> row : SharedData.manifest()) {
            play(SharedData.capture(row.get("file")), random);
        }
        assertTrue(plainCount > 3000, plainCount + " packets");
        pairs.forEach(Pair::compareCounters);
    }

    private void play(final Path capture, final Random random) {
        final PacketHandler handler = captured -> {
            final byte[] packet = new byte[captured.capturedLengthBytes()];
            captured.buffer().getBytes(captured.offset(), packet);
            compare(packet, captured.wireLengthBytes(), captured.linkType(), captured.vlanTag());
            for (int i = 0; i < MUTANTS_OF_EACH_PACKET; i++) {
                compare(HostilePacketTest.mutant(packet, random), captured.wireLengthBytes(), captured.linkType(),
                    captured.vlanTag());
            }
        };
        try (PacketSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            source.poll(handler, PACKETS_OF_EACH_CAPTURE);
        } catch (final CaptureException ex) {
            assertTrue(ex.kind() == CaptureException.Kind.NO_INPUT || ex.kind() == CaptureException.Kind.DAMAGED);
        }
    }

    @Property(edgeCases = EdgeCasesMode.NONE, tries = 500)
    void shouldGiveTheSameOfEveryLength(
        @ForAll @IntRange(max = 70) final int payloadBytes, @ForAll @IntRange(max = 12) final int cutBytes,
        @ForAll final boolean isTcp, @ForAll final int vlanTag, @ForAll final long seed) {
        final Random random = new Random(seed);
        final byte[] content = new byte[payloadBytes];
        random.nextBytes(content);
        final byte[] frame =
            ethernet(0x0800, isTcp ? ipv4(6, tcp(1, 2, 0x1FF, content)) : ipv4(17, udp(3, 65_535, content)));
        final byte[] captured = cut(frame, frame.length - cutBytes);
        compare(captured, frame.length, LinkType.ETHERNET, vlanTag);
        compareLeft(captured, frame.length);
        compareLeft(HostilePacketTest.mutant(frame, random), frame.length);
        compare(HostilePacketTest.mutant(frame, random), frame.length, LinkType.ETHERNET, vlanTag);
        pairs.forEach(Pair::compareCounters);
    }
}
