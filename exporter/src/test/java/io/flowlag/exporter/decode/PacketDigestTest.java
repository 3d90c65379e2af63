package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Digests and segment flow hashes: the vectors of {@code docs/digest.md}, and which changes of a packet affect them. */
class PacketDigestTest {
    private static final SipHash HASH = new SipHash(0x0706050403020100L, 0x0f0e0d0c0b0a0908L);
    private static final int FIRST_FRAGMENT = 0x2000;
    private static final int MIDDLE_FRAGMENT = 0x2003;
    private static final int LAST_FRAGMENT = 5;
    private static final int DO_NOT_FRAGMENT = 0x4000;

    /** The identity of a packet as two measurement points would compare it. */
    private record Identity(long digest, long flowHash) {
    }

    /** An IP packet, and the index of its payload. */
    private record Sample(byte[] packet, int payloadIndex, int coveredBytes, int checksumIndex, int checksumBytes) {
        boolean isIpv4() {
            return packet[0] >> 4 == 4;
        }

        boolean isChecksum(final int index) {
            return index >= checksumIndex && index < checksumIndex + checksumBytes;
        }
    }

    private static Decoding decoding() {
        return new Decoding(new PacketDecoder.Context().digest(HASH));
    }

    private static Identity identity(final int linkType, final byte[] frame) {
        final Decoding decoding = new Decoding(new PacketDecoder.Context().digest(HASH).fragmentPorts(false));
        decoding.decode(linkType, frame);
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST));
        return new Identity(
            PacketDescriptor.digest(decoding.descriptor, 0), PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
    }

    private static Identity identity(final byte[] packet) {
        return identity(LinkType.RAW, packet);
    }

    private static Path docs() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("docs/digest-vectors.csv"))) {
            folder = folder.getParent();
        }
        return folder.resolve("docs");
    }

    @TestFactory
    Stream<DynamicTest> shouldGiveTheValuesOfEachVector() throws IOException {
        final List<String> lines = Files.readAllLines(docs().resolve("digest-vectors.csv"));
        return lines.stream().skip(1).map(line -> line.split(",")).map(vector -> DynamicTest.dynamicTest(vector[0], () -> {
            final byte[] digestInput = hex(vector[2]);
            final byte[] flowHashInput = hex(vector[4]);
            assertEquals(vector[3], hashOf(digestInput), "digest of the canonical form");
            assertEquals(vector[5], hashOf(flowHashInput), "flow hash of the canonical form");
            final Identity identity = identity(hex(vector[1]));
            assertEquals(vector[3], String.format("%016x", identity.digest));
            assertEquals(vector[5], String.format("%016x", identity.flowHash));
        }));
    }

    private static String hashOf(final byte[] octets) {
        return String.format("%016x", HASH.hash(new UnsafeBuffer(octets), 0, octets.length));
    }

    @Test
    void shouldShowItsExampleInTheDocumentation() throws IOException {
        final String page = Files.readString(docs().resolve("digest.md")).replaceAll("\\s", "");
        final String line = Files.readAllLines(docs().resolve("digest-vectors.csv")).get(1);
        for (final String value : Arrays.asList(line.split(",")).subList(1, 6)) {
            assertTrue(page.contains(value), value);
        }
    }

    @Provide
    Arbitrary<Sample> samples() {
        final Arbitrary<byte[]> payloads = Arbitraries.bytes().array(byte[].class).ofMinSize(0).ofMaxSize(60);
        final Arbitrary<Integer> fragments =
            Arbitraries.of(0, DO_NOT_FRAGMENT, FIRST_FRAGMENT, MIDDLE_FRAGMENT, LAST_FRAGMENT);
        final Arbitrary<Integer> protocols = Arbitraries.of(1, 2, 6, 17, 33, 47, 50, 58, 89, 132, 136);
        return payloads.flatMap(payload -> fragments.flatMap(fragment -> protocols.flatMap(protocol ->
            Arbitraries.of(4, 6).map(version -> sample(version, protocol, fragment, payload)))));
    }

    private static Sample sample(final int version, final int protocol, final int fragment, final byte[] payload) {
        final boolean isLater = (fragment & 0x1FFF) != 0;
        final boolean isFragment = (fragment & 0x3FFF) != 0;
        final byte[] transport = isLater ? payload : switch (protocol) {
            case 6 -> tcp(1000, 2000, 0x10, payload);
            case 17, 136 -> udp(1000, 2000, payload);
            case 132 -> sctp(1000, 2000, payload);
            case 1, 58 -> icmp(8, 0, payload);
            case 33 -> join(hex("03e807d0040000ff 0102030405060708"), payload);
            default -> payload;
        };
        final int headerBytes = transport.length - payload.length;
        final int covered = headerBytes + Math.min(payload.length, 32);
        final int checksum = isLater ? -1 : switch (protocol) {
            case 6 -> 16;
            case 17, 136, 33 -> 6;
            case 132 -> 8;
            case 1, 58 -> 2;
            default -> -1;
        };
        final int checksumBytes = checksum < 0 ? 0 : protocol == 132 ? 4 : 2;
        if (version == 4) {
            return new Sample(ipv4(0x1234, fragment, protocol, transport), 20, covered, 20 + checksum, checksumBytes);
        }
        if (!isFragment) {
            return new Sample(ipv6(protocol, transport), 40, covered, 40 + checksum, checksumBytes);
        }
        final int offsetAndMore = (fragment & 0x1FFF) << 3 | (fragment >> 13 & 1);
        return new Sample(ipv6(44, ipv6Fragment(protocol, offsetAndMore, 0x12345678, transport)), 48, covered,
            48 + checksum, checksumBytes);
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void shouldNotSeeWhatRoutersChange(
        @ForAll("samples") final Sample sample,
        @ForAll @IntRange(max = 255) final int hopLimit,
        @ForAll @IntRange(max = 255) final int trafficClass,
        @ForAll @IntRange(max = 0xFFFF) final int any16Bits) {
        final byte[] changed = sample.packet.clone();
        if (sample.isIpv4()) {
            changed[1] = (byte)trafficClass;
            changed[6] ^= (byte)0x40;
            changed[8] = (byte)hopLimit;
            changed[10] = (byte)(any16Bits >> 8);
            changed[11] = (byte)any16Bits;
        } else {
            changed[0] = (byte)(0x60 | trafficClass >> 4);
            changed[1] = (byte)(trafficClass << 4 | any16Bits & 0xF);
            changed[2] = (byte)(any16Bits >> 8);
            changed[3] = (byte)any16Bits;
            changed[7] = (byte)hopLimit;
        }
        for (int i = 0; i < sample.checksumBytes; i++) {
            changed[sample.checksumIndex + i] = (byte)(any16Bits >> i);
        }
        assertEquals(identity(sample.packet), identity(changed));
    }

    @Property(edgeCases = EdgeCasesMode.NONE)
    void shouldNotSeeTheLinkLayer(
        @ForAll("samples") final Sample sample,
        @ForAll @IntRange(max = 0xFFFF) final int tag,
        @ForAll @IntRange(max = 30) final int paddingBytes) {
        final int type = sample.isIpv4() ? 0x0800 : 0x86DD;
        final byte[] padded = join(sample.packet, payload(paddingBytes));
        final Identity identity = identity(sample.packet);
        assertEquals(identity, identity(LinkType.ETHERNET, ethernet(type, padded)));
        assertEquals(identity, identity(LinkType.ETHERNET, ethernet(0x8100, vlan(tag, type, padded))));
        assertEquals(identity, identity(LinkType.ETHERNET, ethernet(0x8847, mpls(tag, false, mpls(16, true, padded)))));
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldSeeAnyChangeOfACoveredOctetAndNoneBehind(
        @ForAll("samples") final Sample sample, @ForAll @IntRange(min = 1, max = 255) final int difference) {
        final long digest = identity(sample.packet).digest;
        final int addresses = sample.isIpv4() ? 12 : 8;
        final int addressesEnd = sample.isIpv4() ? 20 : 40;
        for (int i = 0; i < sample.packet.length; i++) {
            final byte[] changed = with(sample.packet, i, sample.packet[i] ^ difference);
            final int payloadIndex = i - sample.payloadIndex;
            final boolean isIdentification = sample.isIpv4() ? i == 4 || i == 5 : sample.payloadIndex == 48 && i >= 44;
            if (i >= addresses && i < addressesEnd || isIdentification && payloadIndex < 0) {
                assertNotEquals(digest, identity(changed).digest, "octet " + i);
            } else if (payloadIndex >= 0 && payloadIndex < sample.coveredBytes && !sample.isChecksum(i)) {
                assertNotEquals(digest, identity(changed).digest, "octet " + i);
            } else if (payloadIndex >= sample.coveredBytes) {
                assertEquals(digest, identity(changed).digest, "octet " + i);
            }
        }
    }

    @Test
    void shouldSeeProtocolAndFragmentOffset() {
        final byte[] packet = ipv4(1, 3, 50, payload(16));
        assertNotEquals(identity(packet).digest, identity(with(packet, 9, 51)).digest);
        assertNotEquals(identity(packet).digest, identity(with(packet, 7, 4)).digest);
    }

    @Test
    void shouldHashTheFlowOfEveryFragmentWithPorts0() {
        final Decoding decoding = decoding();
        decoding.ip(ipv4(7, FIRST_FRAGMENT, 17, udp(1000, 2000, payload(16))));
        final long first = PacketDescriptor.segmentFlowHash(decoding.descriptor, 0);
        assertEquals(1000, PacketDescriptor.sourcePort(decoding.descriptor, 0));
        decoding.ip(ipv4(7, LAST_FRAGMENT, 17, payload(16)));
        assertEquals(1000, PacketDescriptor.sourcePort(decoding.descriptor, 0));
        assertEquals(first, PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
        decoding.ip(ipv4(7, 0, 17, udp(1000, 2000, payload(16))));
        assertNotEquals(first, PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
    }

    @Test
    void shouldHashAddressesProtocolAndPortsOnly() {
        final byte[] packet = ipv4(6, tcp(1000, 2000, 0x12, payload(4)));
        final long flowHash = identity(packet).flowHash;
        for (final int unseen : new int[] {1, 4, 8, 11, 24, 33, 36, 40}) {
            assertEquals(flowHash, identity(with(packet, unseen, packet[unseen] ^ 1)).flowHash, "octet " + unseen);
        }
        for (final int seen : new int[] {9, 12, 15, 16, 19, 20, 21, 22, 23}) {
            assertNotEquals(flowHash, identity(with(packet, seen, packet[seen] ^ 1)).flowHash, "octet " + seen);
        }
    }

    @Test
    void shouldSayThatTheCaptureIsTooShort() {
        final byte[] packet = ipv4(17, udp(1000, 2000, payload(40)));
        final Decoding decoding = decoding();
        decoding.decode(LinkType.RAW, cut(packet, 60), packet.length);
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST));
        for (int i = 20; i < 60; i++) {
            decoding.decode(LinkType.RAW, cut(packet, i), packet.length);
            assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST_SHORT));
            assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST));
            assertEquals(0, PacketDescriptor.digest(decoding.descriptor, 0));
            assertEquals(0, PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
        }
        assertEquals(40, decoding.count(CounterId.DIGEST_SHORT));
    }

    @Test
    void shouldCoverFewerPayloadOctetsIfTold() {
        final byte[] packet = ipv4(17, udp(1000, 2000, payload(40)));
        final Decoding decoding = new Decoding(new PacketDecoder.Context().digest(HASH).digestPayloadBytes(8));
        decoding.ip(packet);
        final long digest = PacketDescriptor.digest(decoding.descriptor, 0);
        decoding.decode(LinkType.RAW, cut(packet, 36), packet.length);
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST));
        assertEquals(digest, PacketDescriptor.digest(decoding.descriptor, 0));
        decoding.decode(LinkType.RAW, cut(packet, 35), packet.length);
        assertTrue(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST_SHORT));
    }

    @Test
    void shouldNotComputeDigestsUnlessTold() {
        final Decoding decoding = new Decoding();
        decoding.ip(ipv4(17, udp(1000, 2000, payload(4))));
        assertFalse(decoding.hasFlag(PacketDescriptor.FLAG_DIGEST));
        assertEquals(0, PacketDescriptor.digest(decoding.descriptor, 0));
        assertEquals(0, PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
    }

    @Test
    void shouldDependOnTheKey() {
        final byte[] packet = ipv4(17, udp(1000, 2000, payload(4)));
        final Decoding other = new Decoding(new PacketDecoder.Context().digest(new SipHash(1, 2)));
        other.ip(packet);
        assertNotEquals(identity(packet).digest, PacketDescriptor.digest(other.descriptor, 0));
        assertNotEquals(identity(packet).flowHash, PacketDescriptor.segmentFlowHash(other.descriptor, 0));
    }

    @Test
    void shouldIdentifyTheInnerPacketWhereThatIsMetered() {
        final byte[] inner = ipv4(17, udp(1000, 2000, payload(40)));
        final Decoding decoding = new Decoding(new PacketDecoder.Context().innerTunnels(true).digest(HASH));
        decoding.ip(ipv6(4, inner));
        assertEquals(identity(inner).digest, PacketDescriptor.digest(decoding.descriptor, 0));
        assertEquals(identity(inner).flowHash, PacketDescriptor.segmentFlowHash(decoding.descriptor, 0));
    }
}
