package io.flowlag.exporter.runtime.collect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import static io.flowlag.exporter.runtime.collect.IpfixFiles.FLOW_TEMPLATE;
import static io.flowlag.exporter.runtime.collect.IpfixFiles.flow;
import static io.flowlag.exporter.runtime.collect.IpfixFiles.set;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What each format makes of records. */
class FormatterTest {
    private static final int PEN = 32473;
    private static final String OPTIONS =
        set(3, "012c 0002 0001 0095 0004 0029 0008") + set(300, "00000007" + "00000000000003e8");

    private static final String[] CSV_SETS = {
        set(2, "0101 0001 0004 0001"), set(257, "0611"), set(2, "0102 0001 0052 ffff"), set(258, "04 612c2262"), set(257, "01"),
        OPTIONS};

    private static String format(final RecordFormatter formatter, final String... sets) {
        final ElementRegistry registry = ElementRegistry.iana();
        registry.add(element(5, "flowlagDelayMeanNanoseconds", DataType.SIGNED64));
        registry.add(element(4, "flowlagDelayStandardDeviationNanoseconds", DataType.UNSIGNED64));
        registry.add(element(14, "flowlagDelayErrorBoundNanoseconds", DataType.UNSIGNED64));
        registry.add(element(12, "flowlagDelayEstimator", DataType.UNSIGNED8));
        registry.add(element(19, "flowlagLostPacketDeltaCount", DataType.UNSIGNED64));
        registry.add(element(24, "flowlagLossKind", DataType.UNSIGNED8));
        registry.add(element(27, "flowlagDelayPacketDeltaCount", DataType.UNSIGNED64));
        registry.add(element(26, "flowlagDelayHistogram", DataType.OCTET_ARRAY));
        registry.add(element(8, "flowlagDelayP50Nanoseconds", DataType.SIGNED64));
        registry.add(element(9, "flowlagDelayP90Nanoseconds", DataType.SIGNED64));
        registry.add(element(11, "flowlagDelayP99Nanoseconds", DataType.SIGNED64));
        final StringBuilder text = new StringBuilder();
        final CollectingProcess process = new CollectingProcess(registry, CollectorLimits.DEFAULTS,
            new CounterSet<>(CollectorCounter.class),
            (final CollectedRecord record) -> formatter.append(record, text));
        final byte[] message = new IpfixFiles().message(0, sets).toBytes();
        assertTrue(process.onMessage(process.openSession(SessionKind.TCP, "192.0.2.9:4711"),
            new UnsafeBuffer(message), 0, message.length, 0).isAccepted());
        formatter.finish(text);
        return text.toString();
    }

    private static InformationElement element(final int elementId, final String name, final DataType type) {
        return new InformationElement(PEN, elementId, name, type, Semantics.DEFAULT, Units.NONE, "");
    }

    private static JsonNode json(final String... sets) throws Exception {
        return new ObjectMapper().readTree(format(new JsonFormatter(false), sets));
    }

    /** One record of one field. */
    private static String field(final int elementId, final String value) {
        final String digits = value.replace(" ", "");
        return set(2, String.format("0100 0001 %04x %04x", elementId, digits.length() / 2)) + set(256, digits);
    }

    private static String value(final int elementId, final String hex) throws Exception {
        final List<JsonNode> values = new ArrayList<>();
        json(field(elementId, hex)).elements().forEachRemaining(values::add);
        return values.get(values.size() - 1).toString();
    }

    @Test
    void shouldWriteAnObjectARecord() {
        assertEquals("{\"_start\":\"2026-11-21T08:00:00.000000000Z\",\"_end\":\"2026-11-21T08:00:01.500000000Z\"," +
            "\"sourceIPv4Address\":\"192.0.2.1\",\"destinationIPv4Address\":\"198.51.100.2\"," +
            "\"sourceTransportPort\":49153,\"destinationTransportPort\":53,\"protocolIdentifier\":17,\"packetDeltaCount\":5," +
            "\"octetDeltaCount\":500,\"flowStartMilliseconds\":1795248000000,\"flowEndMilliseconds\":1795248001500," +
            "\"flowEndReason\":1}\n",
            format(new JsonFormatter(false), set(2, FLOW_TEMPLATE), set(256, flow("c0000201", "c6336402", 5, 1500))));
    }

    @Test
    void shouldDecodeHistogramsOfDelays() {
        final String template = set(2, "0100 0002 801a ffff 00007ed9 0004 0001");
        assertEquals("{\"flowlagDelayHistogram\":{\"relativeError\":0.01,\"buckets\":[[993664,3],[1013738,200],[1076427,1]]}," +
            "\"protocolIdentifier\":17}\n" +
            "{\"flowlagDelayHistogram\":{\"relativeError\":0.019998,\"buckets\":[]},\"protocolIdentifier\":6}\n" +
            "{\"flowlagDelayHistogram\":\"0x02000000\",\"protocolIdentifier\":6}\n",
            format(new JsonFormatter(false), template,
                set(256, "09 010001e30690030301 11" + "04 01010000 06" + "04 02000000 06")));
        assertEquals("0x010001e30690030301", format(new CsvFormatter(false, List.of()), template, set(256,
            "09 010001e30690030301 11")).replaceAll("(?s).*(0x[0-9a-f]+).*", "$1"));
    }

    @Test
    void shouldWriteEveryTypeInItsOwnUnits() throws Exception {
        assertEquals("18446744073709551615", value(1, "ffffffffffffffff"));
        assertEquals("-2", value(434, "fffffffe"));
        assertEquals("1.5", value(320, "3ff8000000000000"));
        assertEquals("0.1", value(320, "3dcccccd"));
        assertEquals("null", value(320, "7ff8000000000000"));
        assertEquals("null", value(320, "7ff0000000000000"));
        assertEquals("true", value(276, "01"));
        assertEquals("false", value(276, "02"));
        assertEquals("null", value(276, "03"));
        assertEquals("\"00:1b:21:ab:cd:ef\"", value(56, "001b21abcdef"));
        assertEquals("\"2001:db8::1\"", value(27, "20010db8000000000000000000000001"));
        assertEquals("1795248000", value(150, String.format("%08x", IpfixFiles.START_MS / 1000)));
        assertEquals("1795248000123", value(152, String.format("%016x", IpfixFiles.START_MS + 123)));
        final long ntpSeconds = IpfixFiles.START_MS / 1000 + 2_208_988_800L;
        assertEquals("1795248000500000", value(154, String.format("%08x80000000", ntpSeconds)));
        assertEquals("1795248000500000000", value(156, String.format("%08x80000000", ntpSeconds)));
        assertEquals("\"0x00ff10\"", value(313, "00ff10"));
        assertEquals("\"eth\\u001B\\\"\\\\0\"", value(82, "657468 1b 22 5c 30"));
        assertEquals("\"0xc00002\"", value(8, "c00002"));
    }

    @Test
    void shouldNameUnknownElementsByNumber() throws Exception {
        final String template = set(2, "0100 0002 8063 0004 0000 7ed9 7fff 0002");
        assertEquals("{\"32473:99\":\"0xdeadbeef\",\"0:32767\":\"0x0102\"}",
            json(template, set(256, "deadbeef 0102")).toString());
    }

    @Test
    void shouldNumberRepeatedElements() throws Exception {
        assertEquals("{\"protocolIdentifier\":6,\"protocolIdentifier#2\":17,\"protocolIdentifier#3\":1}",
            json(set(2, "0100 0003 0004 0001 0004 0001 0004 0001"), set(256, "061101")).toString());
    }

    @Test
    void shouldMarkOptionsAndOrigin() {
        assertEquals("", format(new JsonFormatter(false), OPTIONS));
        assertEquals("{\"_options\":true,\"_exporter\":\"192.0.2.9:4711\",\"_domain\":1,\"_template\":300," +
            "\"_exportTime\":1795248000,\"_sequence\":0,\"observationDomainId\":7,\"exportedMessageTotalCount\":1000}\n",
            format(new JsonFormatter(true), OPTIONS));
    }

    @Test
    void shouldWriteOneHeaderAndNothingWhereARecordHasNoValue() {
        assertEquals("interfaceName,protocolIdentifier\n,6\n,17\n\"a,\"\"b\",\n,1\n",
            format(new CsvFormatter(false, List.of("interfaceName")), CSV_SETS));
    }

    @Test
    void shouldCountWhatCameAfterTheHeaderAndHasNoColumn() {
        final CsvFormatter formatter = new CsvFormatter(false, List.of());
        assertEquals("protocolIdentifier\n6\n17\n\n1\n", format(formatter, CSV_SETS));
        assertEquals("; 1 values had no column and were left out", formatter.remark());
    }

    @Test
    void shouldAlignTheTable() {
        final String[] lines = format(new TableFormatter(false, Listing.DEFAULT), set(2, FLOW_TEMPLATE), set(256,
            flow("c0000201", "c6336402", 5, 1500) + flow("0a000001", "cb007103", 1, 0)), OPTIONS).split("\n");
        assertEquals(3, lines.length);
        assertTrue(lines[0].startsWith("src        dst           proto  sport  dport"), lines[0]);
        assertFalse(lines[0].contains("mean_us"));
        assertTrue(lines[1].startsWith("192.0.2.1  198.51.100.2  UDP    49153     53"), lines[1]);
        assertTrue(lines[1].contains("2026-11-21 08:00:00.000"), lines[1]);
        assertTrue(lines[1].contains("1500.000  idle"), lines[1]);
        assertEquals(lines[1].indexOf("UDP"), lines[2].indexOf("UDP"));
        assertEquals(lines[0].indexOf("proto"), lines[1].indexOf("UDP"));
    }

    @Test
    void shouldShowDelaysWhereThereAreSome() {
        final String template = set(2, "0101 0008 0008 0004 8005 0008 00007ed9 8004 0008 00007ed9 800e 0008 00007ed9" +
            "800c 0001 00007ed9 8013 0008 00007ed9 8018 0001 00007ed9 801b 0008 00007ed9");
        final String record = "c0000201" + String.format("%016x%016x%016x", -12_345L, 99_900L, 1_000L) + "04" +
            "0000000000000003" + "02" + "0000000000000007";
        final String[] lines = format(new TableFormatter(false, Listing.DEFAULT), set(2, FLOW_TEMPLATE),
            set(256, flow("c0000201", "c6336402", 5, 1500)), template, set(257, record)).split("\n");
        assertEquals(3, lines.length);
        assertTrue(lines[0].matches(
            ".* mean_us +sd_us +bound_us +estimator +lost +loss_% +measured +p50_us +p90_us +p99_us +max_us"), lines[0]);
        assertTrue(lines[1].matches(".* idle( +-){11}"), lines[1]);
        assertTrue(lines[2].matches(".* -12\\.345 +99\\.900 +1\\.000 +joint +<=3 +- +7( +-){4}"), lines[2]);
        assertEquals(lines[0].length(), lines[1].length());
        assertEquals(lines[0].length(), lines[2].length());
    }

    @Test
    void shouldShowQuantiles() {
        final String template =
            set(2, "0102 0005 0008 0004 8005 0008 00007ed9 8008 0008 00007ed9 8009 0008 00007ed9 800b 0008 00007ed9");
        final String record = "c0000201" + String.format("%016x%016x%016x%016x", 5_000L, 4_000L, 9_000L, -1_500L);
        final String[] lines = format(new TableFormatter(false, Listing.DEFAULT), template, set(258, record)).split("\n");
        assertTrue(lines[1].matches(".* - +4\\.00 +9\\.00 +-1\\.50 +-"), lines[1]);
    }

    @Test
    void shouldShowIanasDelayWhereThereIsNoOther() {
        final String template = set(2, "0101 0002 0008 0004 0212 0004");
        final String text = format(new TableFormatter(false, Listing.DEFAULT), template, set(257, "c0000201 0000007b"));
        assertTrue(text.contains("  123.000  "), text);
    }

    @Test
    void shouldNotLetTextCommandTheTerminal() {
        final String options = set(3, "012c 0002 0001 0095 0004 0052 0004") + set(300, "00000007 1b5b324a");
        assertEquals("# observationDomainId=7 interfaceName=?[2J\n", format(new TableFormatter(true, Listing.DEFAULT), options));
    }

    @Test
    void shouldNotLetTextCommandTheTerminalByASingleCharacter() {
        final String options = set(3, "012c 0002 0001 0095 0004 0052 0004") + set(300, "00000007 c29b324a");
        assertEquals("# observationDomainId=7 interfaceName=?2J\n", format(new TableFormatter(true, Listing.DEFAULT), options));
    }

    private static String csv(final String hexOfName) {
        return format(new CsvFormatter(false, List.of()), field(82, hexOfName)).split("\n", 2)[1];
    }

    @Test
    void shouldEscapeEveryControlCharacterOfText() {
        for (int c = 0; c < 0xA0; c++) {
            final String hex = "61" + HexFormat.of().formatHex(Character.toString(c).getBytes(StandardCharsets.UTF_8)) + "62";
            if (Character.isISOControl(c)) {
                final String text = String.format("a\\u%04Xb", c);
                assertEquals(text + "\n", csv(hex));
                final String json = format(new JsonFormatter(false), field(82, hex));
                assertTrue(c < ' ' || json.equals("{\"interfaceName\":\"" + text + "\"}\n"), json);
                assertEquals(json.length() - 1, json.chars().takeWhile((each) -> !Character.isISOControl(each)).count());
            }
        }
    }

    @Test
    void shouldGiveSpreadsheetsNoFormula() {
        assertEquals("'=1+1\n", csv("3d312b31"));
        assertEquals("'+1\n", csv("2b31"));
        assertEquals("'-1\n", csv("2d31"));
        assertEquals("'@a\n", csv("4061"));
        assertEquals("'\\u0009=1\n", csv("093d31"));
        assertEquals("'\\u000D=1\n", csv("0d3d31"));
        assertEquals("'\uFF1D1\n", csv("efbc9d31"));
        assertEquals("\"'=\"\"a\"\"\"\n", csv("3d226122"));
        assertEquals("\"a;=1\"\n", csv("613b3d31"));
        assertEquals("a=1\n", csv("613d31"));
        assertEquals("-2\n", format(new CsvFormatter(false, List.of()), field(434, "fffffffe")).split("\n", 2)[1]);
    }
}
