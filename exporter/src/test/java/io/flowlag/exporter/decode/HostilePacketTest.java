package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

import static io.flowlag.exporter.decode.Frames.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** For any octets the decoder returns a result, and reads only the captured ones (the buffer would throw). */
class HostilePacketTest {
    private static final int[] LINK_TYPES = {
        LinkType.ETHERNET, LinkType.RAW, LinkType.RAW_BSD, LinkType.RAW_OPENBSD, LinkType.NULL, LinkType.LOOP, LinkType.IPV4,
        LinkType.IPV6, LinkType.LINUX_SLL, LinkType.LINUX_SLL2, LinkType.PPP, LinkType.PPP_HDLC, LinkType.CISCO_HDLC, 105};
    private static final int PACKETS_OF_EACH_CAPTURE = 15;
    private static final int MUTANTS_OF_EACH_PACKET = 20;

    private final Decoding decoding = new Decoding(everything());

    private static PacketDecoder.Context everything() {
        return new PacketDecoder.Context()
            .innerTunnels(true).jumboLengths(true).digest(new SipHash(1, 2)).fragmentTableEntries(16);
    }

    /** Packets of every kind that the decoder supports, without a link header. */
    static List<byte[]> goodPackets() {
        return Stream.of(
            TunnelTest.tunnelsOfIpv4(), TunnelTest.tunnelsOfIpv6(), TunnelTest.brokenTunnels(),
            Stream.of(
                ipv4(7, 0x2000, 6, tcp(1, 2, 2, payload(20))),
                ipv4(7, 3, 6, payload(20)),
                ipv4(132, sctp(1, 2, payload(20))),
                ipv6(0, extension(43, extension(60, extension(51, header("3a 04 0000 00000001 00000002",
                    join(new byte[12], icmp(128, 0, payload(9)))))))),
                header("60000000 0000 00 40" + SOURCE_IPV6 + DESTINATION_IPV6 + "1100 c204 00011170", payload(30)),
                ipv6(44, ipv6Fragment(17, 1, 9, udp(1, 2, payload(20)))),
                ipv6(44, ipv6Fragment(17, 9, 9, payload(20))))).flatMap(packet -> packet).toList();
    }

    /** The same in Ethernet frames too. */
    @Provide
    Arbitrary<byte[]> goodFrames() {
        return Arbitraries.of(goodPackets()).flatMap(packet -> {
            final int type = packet[0] >> 4 == 4 ? 0x0800 : 0x86DD;
            return Arbitraries.of(
                packet,
                ethernet(type, packet),
                ethernet(0x8100, vlan(1, 0x8847, mpls(1, false, mpls(2, true, packet)))),
                ethernet(0x8847, mpls(1, true, join(new byte[4], ethernet(type, packet)))),
                ethernet(0x8864, pppoe(type == 0x0800 ? 0x21 : 0x57, packet)),
                ethernet(90, join(hex("aaaa03000000"), hex(String.format("%04x", type)), packet)));
        });
    }

    @Property(edgeCases = EdgeCasesMode.NONE, tries = 3000)
    void shouldAnswerMutantsOfGoodPackets(
        @ForAll("goodFrames") final byte[] packet, @ForAll final long seed) {
        final Random random = new Random(seed);
        for (int i = 0; i < MUTANTS_OF_EACH_PACKET; i++) {
            final byte[] mutant = mutant(packet, random);
            final int linkType = random.nextInt(4) > 0 ? LinkType.ETHERNET + (random.nextBoolean() ? 0 : 100) :
                LINK_TYPES[random.nextInt(LINK_TYPES.length)];
            assertIsAnswer(decoding.result(linkType, mutant, wireLengthBytes(mutant, random)));
        }
    }

    @Property
    void shouldAnswerNoise(@ForAll final byte[] noise, @ForAll final int vlanTag) {
        decoding.vlanTag = vlanTag;
        for (final int linkType : LINK_TYPES) {
            assertIsAnswer(decoding.result(linkType, noise));
        }
    }

    @Test
    void shouldAnswerMutantsOfRealPackets() {
        final Random random = new Random(1);
        long packetCount = 0;
        for (final Map<String, String> row : SharedData.manifest()) {
            packetCount += mutate(SharedData.capture(row.get("file")), random);
        }
        assertTrue(packetCount > 3000, packetCount + " packets");
    }

    @Test
    void shouldCountEveryRealPacketWithInnerTunnelsAndDigests() {
        for (final Map<String, String> row : SharedData.manifest()) {
            final Counters counters = DecodedFlows.of(SharedData.capture(row.get("file")), everything()).counters;
            assertEquals(counters.get(CounterId.CAPTURED), counters.get(CounterId.DECODED) + counters.refused());
        }
    }

    private int mutate(final Path capture, final Random random) {
        final PacketHandler handler = captured -> {
            final byte[] packet = new byte[captured.capturedLengthBytes()];
            captured.buffer().getBytes(captured.offset(), packet);
            for (int i = 0; i < MUTANTS_OF_EACH_PACKET; i++) {
                final byte[] mutant = mutant(packet, random);
                assertIsAnswer(decoding.result(captured.linkType(), mutant, wireLengthBytes(mutant, random)));
            }
        };
        try (PacketSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            return Math.max(0, source.poll(handler, PACKETS_OF_EACH_CAPTURE));
        } catch (final CaptureException ex) {
            assertTrue(ex.kind() == CaptureException.Kind.NO_INPUT || ex.kind() == CaptureException.Kind.DAMAGED);
            return 0;
        }
    }

    /** Changes a few octets of the headers, and sometimes cuts the end off. */
    static byte[] mutant(final byte[] packet, final Random random) {
        final byte[] mutant = random.nextInt(3) == 0 ? cut(packet, random.nextInt(packet.length + 1)) : packet.clone();
        for (int i = random.nextInt(4); i > 0 && mutant.length > 0; i--) {
            mutant[random.nextInt(Math.min(mutant.length, 120))] = (byte)random.nextInt();
        }
        return mutant;
    }

    private static int wireLengthBytes(final byte[] captured, final Random random) {
        return random.nextInt(10) == 0 ? Integer.MAX_VALUE - random.nextInt(100) : captured.length + random.nextInt(9000);
    }

    private static void assertIsAnswer(final CounterId result) {
        assertTrue(result == CounterId.DECODED || result.isRefusal(), result.label());
    }

    @Test
    void shouldLeaveTheDescriptorAloneOnARefusal() {
        final UnsafeBuffer before = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        decoding.result(LinkType.RAW, hex("45"));
        decoding.result(LinkType.ETHERNET, ethernet(0x0806, new byte[28]));
        assertEquals(before, decoding.descriptor);
    }
}
