package io.flowlag.exporter.capture.filter;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketFilter;
import io.flowlag.exporter.fuzz.RealCaptures;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Expressions compiled by libpcap, run by this filter and by libpcap on the same packets. */
class BpfFilterTest {
    private static final long MAX_CAPTURE_LENGTH_BYTES = 1 << 18;
    private static final int MAX_PACKETS_PER_CAPTURE = 60;
    private static final int LEAST_PAIRS_WITH_CAPTURES = 100_000;
    private static final int SNAP_LENGTH_BYTES = 262_144;

    private static final String[] EXPRESSIONS = {
        "", "ip", "ip6", "arp", "tcp", "udp", "icmp", "icmp6", "sctp", "igmp", "port 53", "src port 80 or dst port 443",
        "portrange 1000-2000", "net 10.0.0.0/8", "not net 192.168.0.0/16", "host 10.0.0.1 or host 10.0.0.2",
        "ip6 net 2001:db8::/32", "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[6:2] & 0x3fff != 0", "ip[8] < 32", "less 100",
        "greater 500", "len > 60 and len < 1000", "ip[2:2] > 576", "(ip[2:2] - ((ip[0] & 0xf) << 2)) != 0", "ip proto 47",
        "tcp[((tcp[12] & 0xf0) >> 2):4] = 0x47455420", "udp[8:4] / 3 > 100000", "ip[0] % 7 = 6", "ip[12:4] ^ ip[16:4] > 1000",
        "udp and (ip[1] << 3) >= 8", "ip[4:2] * 3 - 1 > 30000", "ip6[6] = 58", "ip[0] / (ip[1] + 1) > 3", "tcp[13] | 1 = 3",
        "vlan", "vlan 42", "vlan and ip", "vlan 100 and vlan 200 and udp", "not vlan", "mpls", "pppoes and ip",
        "ether proto 0x88cc", "ether host 02:00:00:00:00:01", "ether broadcast or ether multicast", "ip multicast",
        "geneve", "greater 40 and udp port 4789 or tcp port 179", "link[0] != 0", "inbound", "src host 2001:db8::1",
    };

    @BeforeEach
    void needLibpcap() {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || BpfCompiler.isAvailable(), "libpcap is not installed");
    }

    /** A packet of a link type. */
    private record Packet(int linkType, byte[] octets, int wireLengthBytes) {
    }

    @Test
    void shouldAgreeWithLibpcapOnBuiltInPackets() {
        assertTrue(compareAll(builtInPackets()) > 2_000);
    }

    @Test
    void shouldAgreeWithLibpcapOnRealCaptures() throws IOException {
        final List<Path> files = RealCaptures.files();
        assumeTrue(!files.isEmpty(), "no ../shared/data beside the checkout");
        final List<Packet> packets = new ArrayList<>();
        for (final Path file : files.stream().filter(BpfFilterTest::isSmallCapture).toList()) {
            addPackets(Files.readAllBytes(file), packets);
        }
        assertTrue(compareAll(packets) > LEAST_PAIRS_WITH_CAPTURES);
    }

    @Test
    void shouldFindWhatAnExpressionSays() {
        final byte[] dns = ethernet(0x0800, ipv4(17, 53));
        final byte[] tagged = ethernet(0x8100, join(new byte[] {0, 42, 8, 0}, ipv4(17, 53)));
        assertTrue(matches("udp port 53", dns));
        assertFalse(matches("tcp port 53", dns));
        assertFalse(matches("udp port 53", tagged));
        assertTrue(matches("vlan 42 and udp port 53", tagged));
        assertFalse(matches("vlan 41", tagged));
        assertFalse(matches("udp port 53", Arrays.copyOf(dns, 34)), "ports are cut off");
    }

    @Test
    void shouldReturnTheSnapLength() {
        final UnsafeBuffer packet = new UnsafeBuffer(ethernet(0x0800, ipv4(17, 53)));
        final BpfFilter filter = new BpfFilter(BpfCompiler.compile("udp", LinkType.ETHERNET, 96));
        assertEquals(96, filter.run(packet, 0, packet.capacity(), packet.capacity()));
    }

    @Test
    void shouldLookAtThePacketWhereverItIsInTheBuffer() {
        final byte[] frame = ethernet(0x0800, ipv4(17, 53));
        final UnsafeBuffer buffer = new UnsafeBuffer(join(new byte[1_000], frame));
        final BpfFilter filter = new BpfFilter(BpfCompiler.compile("udp port 53", LinkType.ETHERNET, SNAP_LENGTH_BYTES));
        assertTrue(filter.matches(new CapturedPacket(buffer, 1, 0).set(1_000, frame.length, frame.length, 0)));
        assertFalse(filter.matches(new CapturedPacket(buffer, 1, 0).set(0, frame.length, frame.length, 0)));
    }

    @Test
    void shouldNameAnExpressionThatIsWrong() {
        final CaptureException e = assertThrows(CaptureException.class,
            () -> BpfCompiler.compile("port fifty", LinkType.ETHERNET, SNAP_LENGTH_BYTES));
        assertEquals(CaptureException.Kind.BAD_FILTER, e.kind());
        assertTrue(e.getMessage().startsWith("filter 'port fifty': "), e.getMessage());
    }

    @Test
    void shouldRefuseExpressionsThatNeedLoops() {
        final CaptureException e = assertThrows(CaptureException.class,
            () -> BpfCompiler.compile("ip6 protochain 6", LinkType.RAW, SNAP_LENGTH_BYTES));
        assertEquals(CaptureException.Kind.BAD_FILTER, e.kind());
        assertTrue(e.getMessage().contains("jumps back"), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"inbound", "udp and outbound"})
    void shouldRefuseToAskCapturedPacketsForWhatOnlyTheKernelKnows(final String expression) {
        final CaptureException e = assertThrows(CaptureException.class,
            () -> BpfCompiler.compile(expression, LinkType.ETHERNET, SNAP_LENGTH_BYTES));
        assertEquals(CaptureException.Kind.BAD_FILTER, e.kind());
        assertTrue(e.getMessage().contains("only the kernel knows"), e.getMessage());
    }

    @Test
    void shouldSupplyFiltersForEveryLinkTypeThatAnExpressionHasASenseFor() {
        final List<String> told = new ArrayList<>();
        final BpfFilterSupplier ether = new BpfFilterSupplier("ether host 02:00:00:00:00:01", told::add);
        final byte[] packet = ipv4(17, 53);
        assertTrue(matches(ether.filterFor(LinkType.ETHERNET), ethernet(0x0800, packet)));
        assertEquals(List.of(), told);
        assertFalse(matches(ether.filterFor(LinkType.RAW), packet));
        assertFalse(matches(ether.filterFor(LinkType.RAW), packet));
        assertEquals(1, told.size(), told::toString);
        assertTrue(told.get(0).endsWith("; packets of link type 101 are filtered, all of them"), told::toString);
        final BpfFilterSupplier udp = new BpfFilterSupplier("udp", (line) -> { });
        assertTrue(matches(udp.filterFor(LinkType.ETHERNET), ethernet(0x0800, packet)));
        assertTrue(matches(udp.filterFor(LinkType.RAW), packet));
        assertTrue(matches(udp.filterFor(LinkType.RAW_OPENBSD), packet));
        assertTrue(matches(udp.filterFor(LinkType.IPV4), packet));
        assertTrue(matches(udp.filterFor(LinkType.LINUX_SLL), join(new byte[14], new byte[] {8, 0}, packet)));
        assertTrue(matches(udp.filterFor(LinkType.LINUX_SLL2), join(new byte[] {8, 0}, new byte[18], packet)));
        assertTrue(matches(udp.filterFor(LinkType.PPP), join(new byte[] {(byte) 0xff, 3, 0, 0x21}, packet)));
        assertFalse(matches(udp.filterFor(147), packet), "a link type that libpcap does not know");
        assertEquals(CaptureException.Kind.BAD_FILTER,
            assertThrows(CaptureException.class, () -> new BpfFilterSupplier("udp udp", (line) -> { })).kind());
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        final com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        final UnsafeBuffer octets = new UnsafeBuffer(ethernet(0x0800, ipv4(17, 53)));
        final CapturedPacket packet = new CapturedPacket(octets, 1, 0).set(0, octets.capacity(), octets.capacity(), 0);
        final BpfFilter filter =
            new BpfFilter(BpfCompiler.compile("udp port 53 or tcp[13] & 2 != 0", LinkType.ETHERNET, SNAP_LENGTH_BYTES));
        assertEquals(20_000, countMatches(filter, packet, 20_000));
        final long beforeBytes = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        final int count = countMatches(filter, packet, 20_000);
        final long allocatedBytes = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - beforeBytes;
        assertEquals(20_000, count);
        assertEquals(0, allocatedBytes);
    }

    private static int countMatches(final BpfFilter filter, final CapturedPacket packet, final int times) {
        int count = 0;
        for (int i = 0; i < times; i++) {
            count += filter.matches(packet) ? 1 : 0;
        }
        return count;
    }

    /** Runs every expression on every packet of a link type that it can be compiled for; returns the number of pairs. */
    private static int compareAll(final List<Packet> packets) {
        int pairs = 0;
        for (final int linkType : packets.stream().mapToInt(Packet::linkType).distinct().toArray()) {
            for (final String expression : EXPRESSIONS) {
                final BpfProgram program = compileOrNull(expression, linkType);
                if (program != null) {
                    pairs += compare(expression, program, packets, linkType);
                }
            }
        }
        return pairs;
    }

    private static BpfProgram compileOrNull(final String expression, final int linkType) {
        try {
            return BpfCompiler.compile(expression, linkType, SNAP_LENGTH_BYTES);
        } catch (final CaptureException ex) {
            assertEquals(CaptureException.Kind.BAD_FILTER, ex.kind());
            return null;
        }
    }

    private static int compare(
        final String expression, final BpfProgram program, final List<Packet> packets, final int linkType) {
        final BpfFilter filter = new BpfFilter(program);
        final NativeFilter witness = new NativeFilter(program);
        final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
        int count = 0;
        for (final Packet packet : packets) {
            if (packet.linkType == linkType) {
                buffer.wrap(packet.octets);
                assertEquals(witness.run(packet.octets, packet.wireLengthBytes),
                    filter.run(buffer, 0, packet.octets.length, packet.wireLengthBytes), expression);
                count++;
            }
        }
        return count;
    }

    private static boolean matches(final String expression, final byte[] octets) {
        return matches(new BpfFilter(BpfCompiler.compile(expression, LinkType.ETHERNET, SNAP_LENGTH_BYTES)), octets);
    }

    private static boolean matches(final PacketFilter filter, final byte[] octets) {
        return filter.matches(new CapturedPacket(new UnsafeBuffer(octets), 1, 0).set(0, octets.length, octets.length, 0));
    }

    /** Packets of several kinds, whole and cut at every length. */
    private static List<Packet> builtInPackets() {
        final byte[] ipv6 = join(new byte[] {0x60, 0, 0, 0, 0, 8, 17, 64}, new byte[32], new byte[] {0, 53, 0, 53, 0, 8, 0, 0});
        final byte[][] frames = {
            ethernet(0x0800, ipv4(17, 53)), ethernet(0x0800, ipv4(6, 80)), ethernet(0x0800, ipv4(132, 443)),
            ethernet(0x86dd, ipv6), ethernet(0x0806, new byte[28]),
            ethernet(0x8100, join(new byte[] {0, 42, 8, 0}, ipv4(17, 4789))),
            ethernet(0x88a8, join(new byte[] {0, 100, (byte) 0x81, 0, 0, (byte) 200, 8, 0}, ipv4(17, 1500))),
            ethernet(0x8847, join(new byte[] {0, 1, 1, 64}, ipv4(6, 179))),
        };
        final List<Packet> packets = new ArrayList<>();
        for (final byte[] frame : frames) {
            for (int length = 0; length <= frame.length; length++) {
                packets.add(new Packet(LinkType.ETHERNET, Arrays.copyOf(frame, length), frame.length));
                packets.add(new Packet(LinkType.RAW, Arrays.copyOfRange(frame, Math.min(14, length), length), frame.length));
            }
        }
        return packets;
    }

    private static byte[] ipv4(final int protocol, final int port) {
        return ByteBuffer.allocate(64).put((byte) 0x45).put((byte) 4).putShort((short) 64).putInt(0x12344000)
            .put((byte) 64).put((byte) protocol).putShort((short) 0).putInt(0x0a000001).putInt(0x0a000002)
            .putShort((short) port).putShort((short) 53).putInt(0x01020304).putInt(0x05060708).putShort((short) 0x5002)
            .array();
    }

    private static byte[] ethernet(final int type, final byte[] payload) {
        return join(new byte[] {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, (byte) (type >>> 8), (byte) type}, payload);
    }

    private static byte[] join(final byte[]... parts) {
        final ByteBuffer joined = ByteBuffer.allocate(Stream.of(parts).mapToInt(part -> part.length).sum());
        Stream.of(parts).forEach(joined::put);
        return joined.array();
    }

    private static boolean isSmallCapture(final Path file) {
        final String name = file.toString().toLowerCase(Locale.ROOT);
        try {
            return (name.endsWith(".pcap") || name.endsWith(".cap")) && Files.size(file) <= MAX_CAPTURE_LENGTH_BYTES;
        } catch (final IOException ex) {
            throw new java.io.UncheckedIOException(ex);
        }
    }

    /** The first packets of a pcap file; none of any other. */
    private static void addPackets(final byte[] file, final List<Packet> packets) {
        final ByteBuffer buffer = ByteBuffer.wrap(file);
        if (file.length < 24) {
            return;
        }
        final int magic = buffer.getInt(0);
        if (magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1) {
            buffer.order(ByteOrder.LITTLE_ENDIAN);
        } else if (magic != 0xa1b2c3d4 && magic != 0xa1b23c4d) {
            return;
        }
        final int linkType = buffer.getInt(20) & 0xffff;
        buffer.position(24);
        for (int i = 0; i < MAX_PACKETS_PER_CAPTURE && buffer.remaining() >= 16; i++) {
            final int length = buffer.getInt(buffer.position() + 8);
            final int wireLength = buffer.getInt(buffer.position() + 12);
            buffer.position(buffer.position() + 16);
            if (length < 0 || length > buffer.remaining()) {
                return;
            }
            final byte[] octets = new byte[length];
            buffer.get(octets);
            packets.add(new Packet(linkType, octets, wireLength));
        }
    }
}
