package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettingsBuilder;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TcpRecordTest {
    private static final int SYN = 2;
    private static final int ACK = 16;

    @TempDir
    private Path directory;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<UnsafeBuffer> entries = new ArrayList<>();
    private final FlowCache cache = new FlowCache(
        new FlowCacheSettingsBuilder().maxFlows(16).stateLengthBytes(64).additions(true, false).build(), this::copy,
        new Counters());

    private void copy(final DirectBuffer entry, final int offset, final int length) {
        final UnsafeBuffer copy = new UnsafeBuffer(new byte[length]);
        copy.putBytes(0, entry, offset, length);
        entries.add(copy);
    }

    private void see(final long ns, final int host, final int[] numbers, final int bits, final int payloadBytes) {
        describe(ns, host, numbers, bits, payloadBytes);
        cache.update(descriptor, 0);
    }

    private void describe(final long ns, final int host, final int[] numbers, final int bits, final int payloadBytes) {
        descriptor.setMemory(0, descriptor.capacity(), (byte)0);
        PacketDescriptor.timestampNs(descriptor, 0, ns);
        PacketDescriptor.sourceLow(descriptor, 0, host);
        PacketDescriptor.destinationLow(descriptor, 0, 3 - host);
        PacketDescriptor.protocol(descriptor, 0, bits == 0 ? 17 : 6);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.tcpControlBits(descriptor, 0, bits);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.flags(descriptor, 0, bits == 0 ? 0 : PacketDescriptor.FLAG_TCP);
        PacketDescriptor.tcp(descriptor, 0, numbers[0], numbers[1], payloadBytes);
    }

    private static String text(final Map<String, List<String>> record) {
        return record.entrySet().stream().filter((each) -> each.getKey().startsWith("flowlagTcp"))
            .sorted(Map.Entry.comparingByKey())
            .map((each) -> each.getKey().substring(10) + "=" + each.getValue().get(0)).collect(Collectors.joining(" "));
    }

    @Test
    void shouldSendWhatIsKnownAndNothingElse() throws IOException {
        see(0, 1, new int[] {100, 0}, SYN, 0);
        see(3_000, 2, new int[] {500, 101}, SYN | ACK, 0);
        see(5_000, 1, new int[] {101, 501}, ACK, 0);
        see(6_000, 1, new int[] {101, 501}, ACK, 10);
        see(7_500, 2, new int[] {501, 111}, ACK, 0);
        see(8_000, 1, new int[] {101, 501}, ACK, 10);
        see(9_000, 1, new int[] {0, 0}, 0, 10);
        while (cache.flush(16)) {
            // goes on to the end
        }

        final String counts = "RetransmittedOctetDeltaCount=%d RetransmittedPacketDeltaCount=%d";
        assertEquals(List.of(
            "HandshakeNanoseconds=5000 OutOfOrderPacketDeltaCount=0 " + counts.formatted(10, 1) +
                " RoundTripDeltaCount=1 RoundTripMaximumNanoseconds=1500 RoundTripMeanNanoseconds=1500" +
                " RoundTripMinimumNanoseconds=1500 SynRoundTripNanoseconds=3000 ZeroWindowPacketDeltaCount=0",
            "OutOfOrderPacketDeltaCount=0 " + counts.formatted(0, 0) +
                " SynRoundTripNanoseconds=2000 ZeroWindowPacketDeltaCount=0",
            ""), IpfixRecords.exported(directory.resolve("tcp.ipfix"), entries).stream().map(TcpRecordTest::text).toList());
    }

    @Test
    void shouldSendMacAddressesWhereTheyAreKnown() throws IOException {
        final FlowCache both = new FlowCache(
            new FlowCacheSettingsBuilder().maxFlows(16).additions(true, true).build(), this::copy, new Counters());
        describe(7_000, 1, new int[] {101, 501}, ACK, 10);
        PacketDescriptor.flags(descriptor, 0, PacketDescriptor.FLAG_MAC | PacketDescriptor.FLAG_TCP);
        for (int i = 0; i < 12; i++) {
            descriptor.putByte(96 + i, (byte)(0xA0 + i));
        }
        both.update(descriptor, 0);
        describe(8_000, 2, new int[] {501, 111}, ACK, 0);
        both.update(descriptor, 0);
        while (both.flush(16)) {
            // goes on to the end
        }
        final List<Map<String, List<String>>> records = IpfixRecords.exported(directory.resolve("mac.ipfix"), entries);
        assertEquals(List.of(Long.toString(0xA6A7_A8A9_AAABL)), records.get(0).get("sourceMacAddress"));
        assertEquals(List.of(Long.toString(0xA0A1_A2A3_A4A5L)), records.get(0).get("destinationMacAddress"));
        assertEquals(List.of("1000"), records.get(0).get("flowlagTcpRoundTripMeanNanoseconds"));
        assertFalse(records.get(1).containsKey("sourceMacAddress"));
        assertTrue(records.get(1).containsKey("flowlagTcpZeroWindowPacketDeltaCount"));
    }

    @Test
    void shouldNeverHaveMoreFieldsThanWiresharkReads() {
        final int all = Presence.ALL;
        for (final int absent : new int[] {0, Presence.IPV6, Presence.ICMP | Presence.VLAN, Presence.TCP}) {
            final int presence = all & ~absent;
            final long left = FlowRecordEncoder.fitting(Profile.FULL, presence);
            assertTrue(FlowRecordEncoder.fields(Profile.FULL, left).size() <= FlowRecordEncoder.MOST_FIELDS);
            assertTrue(FlowRecordEncoder.fields(Profile.FULL, left).contains(RecordField.DELAY_MEAN));
        }
        assertEquals(Presence.TCP, FlowRecordEncoder.fitting(Profile.FULL, Presence.TCP));
    }
}
