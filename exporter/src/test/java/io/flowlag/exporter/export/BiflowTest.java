package io.flowlag.exporter.export;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowPairs;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both directions in one record (RFC 5103), from packets to what a collector reads. */
class BiflowTest {
    private static final long MS = 1_000_000;
    private static final long SECOND = 1000 * MS;
    private static final long NOON = 1_700_000_000 * SECOND;
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int RST = 4;
    private static final int ACK = 16;
    private static final int LENGTH_BYTES = 100;

    @TempDir
    private Path directory;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final List<UnsafeBuffer> records = new ArrayList<>();
    private final Counters counters = new Counters();
    private FlowCache cache = cache(new FlowCacheSettings.Timeouts(60 * SECOND, 15 * SECOND, SECOND, 0), 64, true);

    private FlowCache cache(final FlowCacheSettings.Timeouts timeouts, final int maxFlows, final boolean isKept) {
        final FlowCacheSettings plain = FlowCacheSettings.of(maxFlows);
        return new FlowCache(
            new FlowCacheSettings(maxFlows, FlowDelay.SKETCH_LENGTH_BYTES, FlowAdditions.of(
                new ConfigLoader().text("test", "metering: {biflow: on, tcp: on}\n").conclude().metering()), timeouts, 0,
                plain.key(), plain.snapshots(), 0, 1),
            new FlowPairs((record, offset, lengthBytes) -> {
                if (isKept) {
                    final UnsafeBuffer copy = new UnsafeBuffer(new byte[lengthBytes]);
                    copy.putBytes(0, record, offset, lengthBytes);
                    records.add(copy);
                }
            }), counters);
    }

    private void see(final long ms, final int from, final int to, final int bits) {
        cache.expire(NOON + ms * MS, Integer.MAX_VALUE);
        count(ms, from, to, bits);
    }

    private void count(final long ms, final int from, final int to, final int bits) {
        PacketDescriptor.timestampNs(descriptor, 0, NOON + ms * MS);
        PacketDescriptor.sourceLow(descriptor, 0, 0x0A00_0000L + from);
        PacketDescriptor.destinationLow(descriptor, 0, 0x0A00_0000L + to);
        PacketDescriptor.sourcePort(descriptor, 0, 1000 + from);
        PacketDescriptor.destinationPort(descriptor, 0, 1000 + to);
        PacketDescriptor.protocol(descriptor, 0, bits == 0 ? 17 : 6);
        PacketDescriptor.ipVersion(descriptor, 0, 4);
        PacketDescriptor.ipLengthBytes(descriptor, 0, LENGTH_BYTES);
        PacketDescriptor.ttl(descriptor, 0, 60 + from);
        PacketDescriptor.tcpControlBits(descriptor, 0, bits);
        PacketDescriptor.segmentCount(descriptor, 0, 1);
        PacketDescriptor.flags(descriptor, 0, 0);
        cache.update(descriptor, 0);
    }

    private void end() {
        while (cache.flush(16)) {
            // goes on to the end
        }
    }

    /** Each record as packets of one direction and of the other, and why it ended. */
    private List<String> ended() {
        final List<String> texts = new ArrayList<>();
        for (final UnsafeBuffer record : records) {
            final int bytes = FlowEntry.entryLengthBytes(record, 0, record.capacity());
            texts.add(text(record, 0) + (bytes == record.capacity() ? "" : "+" + text(record, bytes)) + " " +
                FlowEntry.endReason(record, 0));
        }
        records.clear();
        return texts;
    }

    private static String text(final DirectBuffer record, final int offset) {
        return (FlowEntry.sourcePort(record, offset) - 1000) + ">" + (FlowEntry.destinationPort(record, offset) - 1000) + ":" +
            FlowEntry.packetCount(record, offset);
    }

    @Test
    void shouldSendEachDirectionsOwnValuesInOneRecord() throws IOException {
        see(0, 1, 2, SYN);
        see(3, 2, 1, SYN | ACK);
        see(4, 1, 2, ACK);
        end();
        final UnsafeBuffer record = records.get(0);
        final int half = record.capacity() / 2;
        FlowDelay.estimator(record, FlowEntry.BASE_LENGTH_BYTES, FlowDelay.ESTIMATOR_INTERPOLATED);
        DelayCounters.record(record, FlowEntry.BASE_LENGTH_BYTES, 5_000);
        FlowDelay.estimator(record, half + FlowEntry.BASE_LENGTH_BYTES, FlowDelay.ESTIMATOR_INTERPOLATED);
        DelayCounters.record(record, half + FlowEntry.BASE_LENGTH_BYTES, 7_000);

        final Map<String, List<String>> read = IpfixRecords.exported(directory.resolve("one.ipfix"), records).get(0);
        assertEquals(List.of("a000001"), read.get("sourceIPv4Address"));
        assertEquals(List.of("1"), read.get("biflowDirection"));
        assertEquals(List.of("2"), read.get("packetDeltaCount"));
        assertEquals(List.of("1"), read.get("reversePacketDeltaCount"));
        assertEquals(List.of("200"), read.get("octetDeltaCount"));
        assertEquals(List.of("100"), read.get("reverseOctetDeltaCount"));
        assertEquals(List.of(Integer.toString(SYN | ACK)), read.get("reverseTcpControlBits"));
        assertEquals(List.of(Long.toString(NOON)), read.get("flowStartNanoseconds"));
        assertEquals(List.of(Long.toString(NOON + 3 * MS)), read.get("reverseFlowStartNanoseconds"));
        assertEquals(List.of("61"), read.get("minimumTTL"));
        assertEquals(List.of("62"), read.get("reverseMinimumTTL"));
        assertEquals(List.of("5000"), read.get("flowlagDelayMeanNanoseconds"));
        assertEquals(List.of("7000"), read.get("reverseFlowlagDelayMeanNanoseconds"));
        assertEquals(List.of("7"), read.get("reversePathDelayMeanDeltaMicroseconds"));
        for (final String ofBoth : List.of("FlowId", "FlowEndReason", "ProtocolIdentifier", "SourceIPv4Address")) {
            assertFalse(read.containsKey("reverse" + ofBoth), ofBoth);
        }
    }

    /** The template's reverse elements and the record, octet by octet. */
    @Test
    void shouldWriteTheOctetsOfRfc5103() throws IOException {
        see(0, 1, 2, SYN);
        see(3, 2, 1, SYN | ACK);
        see(4, 1, 2, ACK);
        end();
        final Path file = directory.resolve("golden.ipfix");
        IpfixRecords.exported(file, records, Profile.CLASSIC);
        final String hex = HexFormat.of().formatHex(Files.readAllBytes(file));

        final String reverse = String.join("", List.of(
            "80050001", "00007279", "80060002", "00007279", "800a0004", "00007279", "800e0004", "00007279", "80020008",
            "00007279", "80010008", "00007279", "80980008", "00007279", "80990008", "00007279"));
        assertTrue(hex.contains("00ef0001" + reverse), hex);
        final String start = "0000018bcfe56800";
        final String afterReverse = "0000018bcfe56803";
        final String last = "0000018bcfe56804";
        assertTrue(hex.endsWith("0a000001" + "0a000002" + "03e9" + "03ea" + "06" + "00" + "0012" + "00000000" + "00000000" +
            "0000000000000002" + "00000000000000c8" + start + last + "04" + "0000000000000001" + "01" +
            "00" + "0012" + "00000000" + "00000000" + "0000000000000001" + "0000000000000064" + afterReverse + afterReverse),
            hex);
    }

    @Test
    void shouldEndBothDirectionsWhenBothAreSilent() {
        see(0, 1, 2, 0);
        for (int ms = 10; ms < 40_000; ms += 1000) {
            see(ms, 2, 1, 0);
        }
        assertEquals(List.of(), ended());
        see(39_500, 1, 2, 0);
        cache.expire(NOON + 54_000 * MS, 100);
        assertEquals(List.of(), ended());
        cache.expire(NOON + 55_000 * MS, 100);
        assertEquals(List.of("1>2:2+2>1:40 1"), ended());
        assertEquals(1, counters.get(CounterId.RECORDS_BIFLOW));
        assertEquals(1, counters.get(CounterId.RECORDS_MADE));
        assertEquals(2, counters.get(CounterId.FLOWS_ENDED_IDLE));
        assertEquals(0, cache.size());
    }

    @Test
    void shouldEndBothWithTheActiveTimeoutOfTheFirst() {
        for (int ms = 0; ms < 61_000; ms += 500) {
            see(ms, 1, 2, 0);
            see(ms + 100, 2, 1, 0);
        }
        assertEquals(List.of("1>2:120+2>1:120 2"), ended());
    }

    @Test
    void shouldWaitForTheOtherEndOfAConnection() {
        see(0, 1, 2, SYN);
        see(1, 2, 1, SYN | ACK);
        see(2, 1, 2, FIN | ACK);
        see(8_000, 2, 1, ACK);
        assertEquals(List.of(), ended());
        see(8_001, 2, 1, FIN | ACK);
        see(8_002, 1, 2, ACK);
        cache.expire(NOON + 9_100 * MS, 100);
        assertEquals(List.of("1>2:3+2>1:3 3"), ended());
    }

    @Test
    void shouldEndBothAfterAReset() {
        see(0, 1, 2, SYN);
        see(1, 2, 1, SYN | ACK);
        see(2, 1, 2, RST);
        cache.expire(NOON + 1_100 * MS, 100);
        assertEquals(List.of("1>2:2+2>1:1 3"), ended());
    }

    @Test
    void shouldBeginANewRecordForANewConnectionOfThePorts() {
        see(0, 1, 2, SYN);
        see(1, 2, 1, SYN | ACK | FIN);
        see(2, 1, 2, FIN | ACK);
        see(300, 1, 2, SYN);
        see(301, 2, 1, SYN | ACK);
        assertEquals(List.of("1>2:2+2>1:1 3"), ended());
        end();
        assertEquals(List.of("1>2:1+2>1:1 4"), ended());
    }

    /** However late the wheel is. */
    @Test
    void shouldNotJoinAFlowThatWasOver() {
        count(0, 1, 2, 0);
        count(15_001, 2, 1, 0);
        assertEquals(List.of("1>2:1 1"), ended());
        end();
        assertEquals(List.of("2>1:1 4"), ended());
    }

    @Test
    void shouldLeaveAloneWhatHasOneDirection() throws IOException {
        see(0, 1, 2, 0);
        see(1, 3, 3, 0);
        end();
        final List<Map<String, List<String>>> read = IpfixRecords.exported(directory.resolve("lone.ipfix"), records);
        assertEquals(List.of("1>2:1 4", "3>3:1 4"), ended());
        read.forEach((record) -> assertTrue(record.keySet().stream().noneMatch((name) ->
            name.startsWith("reverse") || "biflowDirection".equals(name)), record.keySet().toString()));
    }

    /** A connection that began before its record does not say who began it. */
    @ParameterizedTest
    @CsvSource({"16, 0", "18, 1", "0, 1"})
    void shouldSayWhetherTheInitiatorIsKnown(final int bits, final String direction) throws IOException {
        see(0, 2, 1, bits);
        see(1, 1, 2, bits);
        end();
        assertEquals(List.of(direction),
            IpfixRecords.exported(directory.resolve("who.ipfix"), records).get(0).get("biflowDirection"));
    }

    /** Every packet is in one record, each half has the other's ends, and the earlier is first, also where flows are evicted. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldAccountForEveryPacket(final long seed) {
        cache = cache(new FlowCacheSettings.Timeouts(2 * SECOND, SECOND, 100 * MS, 0), 16, true);
        final SplittableRandom random = new SplittableRandom(seed);
        final int packets = 20_000;
        long ms = 0;
        for (int i = 0; i < packets; i++) {
            ms += random.nextInt(40);
            final int[] bits = {0, 0, SYN, SYN | ACK, ACK, ACK, FIN | ACK, RST};
            see(ms, 1 + random.nextInt(5), 1 + random.nextInt(5), bits[random.nextInt(bits.length)]);
        }
        end();
        long counted = 0;
        long biflows = 0;
        for (final UnsafeBuffer record : records) {
            final int half = FlowEntry.entryLengthBytes(record, 0, record.capacity());
            counted += FlowEntry.recordPacketCount(record, 0, record.capacity());
            assertEquals(LENGTH_BYTES * FlowEntry.recordPacketCount(record, 0, record.capacity()),
                FlowEntry.recordOctetCount(record, 0, record.capacity()));
            if (half < record.capacity()) {
                biflows++;
                assertEquals(FlowEntry.sourceLow(record, 0), FlowEntry.destinationLow(record, half));
                assertEquals(FlowEntry.destinationPort(record, 0), FlowEntry.sourcePort(record, half));
                assertEquals(FlowEntry.protocol(record, 0), FlowEntry.protocol(record, half));
                assertEquals(FlowEntry.endReason(record, 0), FlowEntry.endReason(record, half));
                assertTrue(FlowEntry.startNs(record, 0) <= FlowEntry.startNs(record, half));
            }
        }
        assertEquals(packets, counted, "seed " + seed);
        assertEquals(biflows, counters.get(CounterId.RECORDS_BIFLOW));
        assertEquals(records.size(), counters.get(CounterId.RECORDS_MADE));
        assertEquals(records.size() + biflows, counters.get(CounterId.FLOWS_CREATED));
        assertTrue(biflows > 1000 && counters.get(CounterId.FLOWS_ENDED_LACK_OF_RESOURCES) > 0);
    }

    @Test
    void shouldAllocateNothing() {
        cache = cache(new FlowCacheSettings.Timeouts(60 * SECOND, 15 * SECOND, SECOND, 0), 64, false);
        final ThreadMXBean thread = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final long leastBytes = LongStream.range(0, 20).map((round) -> {
            final long before = thread.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 5_000; i++) {
                see((round * 5_000 + i) * 10, 1 + i % 40, 1 + (i + 7 * (i % 2)) % 40, i % 3 == 0 ? FIN : SYN);
                see((round * 5_000 + i) * 10, 1 + (i + 7 * (i % 2)) % 40, 1 + i % 40, SYN | ACK);
            }
            return thread.getCurrentThreadAllocatedBytes() - before;
        }).min().getAsLong();
        assertEquals(0, leastBytes);
        assertTrue(counters.get(CounterId.RECORDS_BIFLOW) > 10_000);
    }

    /** Also where both directions have every group. */
    @ParameterizedTest
    @ValueSource(strings = {"CLASSIC", "STANDARD", "FULL"})
    void shouldNeverHaveMoreFieldsThanWiresharkReads(final Profile profile) {
        final long all = (long)Presence.ALL << Integer.SIZE | Presence.ALL;
        final long left = FlowRecordEncoder.fitting(profile, all);
        assertTrue(FlowRecordEncoder.fields(profile, left).size() + FlowRecordEncoder.reverseFields(profile, left).size() <=
            FlowRecordEncoder.MOST_FIELDS);
        assertEquals(profile == Profile.FULL, left != all, "of the others none is left out");
        assertEquals(profile == Profile.FULL,
            FlowRecordEncoder.reverseFields(profile, left).contains(RecordField.DELAY_MEAN));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "threading: sharded | threading is sharded",
        "segment: {role: receiver}, lds: {enabled: on} | lds.enabled"})
    void shouldRefuseWhatKeepsDirectionsApart(final String keys, final String why) {
        final String text = "metering: {biflow: on}\n" + keys.replace("}, ", "}\n") + "\n";
        final String message = assertThrows(
            ConfigurationException.class, () -> new ConfigLoader().text("test", text).conclude()).getMessage();
        assertTrue(message.contains("metering.biflow") && message.contains(why), message);
    }
}
