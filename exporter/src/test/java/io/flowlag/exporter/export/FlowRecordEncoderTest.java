package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowRecordEncoderTest {
    private static final int UDP = 17;
    private static final int ICMP = 1;
    private static final int LENGTH_BYTES = FlowEntry.BASE_LENGTH_BYTES + FlowDelay.SKETCH_LENGTH_BYTES;
    private static final int DELAY_OFFSET = FlowEntry.BASE_LENGTH_BYTES;
    private static final long START_NS = 1_700_000_000_123_456_789L;
    private static final long NOW_MS = 1_700_000_100_000L;

    @TempDir
    private Path directory;

    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[LENGTH_BYTES]);
    private final Counters counters = new Counters();
    private final ElementRegistry registry = FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER);

    private void flow(final int ipVersion, final int protocol, final int flags) {
        entry.setMemory(0, LENGTH_BYTES, (byte)0);
        FlowEntry.sourceLow(entry, 0, 0x0A000001L);
        FlowEntry.destinationLow(entry, 0, 0x0A000002L);
        FlowEntry.sourcePort(entry, 0, 4000);
        FlowEntry.destinationPort(entry, 0, 53);
        FlowEntry.protocol(entry, 0, protocol);
        FlowEntry.ipVersion(entry, 0, ipVersion);
        FlowEntry.flags(entry, 0, flags);
        FlowEntry.vlanId(entry, 0, 7);
        FlowEntry.interfaceId(entry, 0, 3);
        FlowEntry.packetCount(entry, 0, 2);
        FlowEntry.octetCount(entry, 0, 200);
        FlowEntry.startNs(entry, 0, START_NS);
        FlowEntry.endNs(entry, 0, START_NS + 1);
        FlowEntry.endReason(entry, 0, 1);
        FlowEntry.flowId(entry, 0, 99);
        FlowEntry.minimumLengthBytes(entry, 0, -1);
    }

    private void delay(final long delayNs) {
        DelayCounters.record(entry, DELAY_OFFSET, delayNs);
        FlowDelay.estimator(entry, DELAY_OFFSET, FlowDelay.ESTIMATOR_INTERPOLATED);
    }

    /** What a collector reads of the flows that the steps encode. */
    private List<Map<String, String>> records(final Profile profile, final int maxTemplates, final Runnable... flows)
        throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        final TemplateCatalog catalog = new TemplateCatalog(registry, maxTemplates);
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        final FlowRecordEncoder encoder = new FlowRecordEncoder(registry, catalog, profile, new boolean[1], false, counters);
        session.doWork(NOW_MS);
        for (final Runnable flow : flows) {
            flow.run();
            assertTrue(encoder.encode(session, entry, 0, LENGTH_BYTES, NOW_MS) >= 0);
        }
        session.flush(NOW_MS);
        session.close();

        return IpfixRecords.flows(file).stream().map(FlowRecordEncoderTest::single).toList();
    }

    /** Of an element that is there more than once, the last value. */
    private static Map<String, String> single(final Map<String, List<String>> record) {
        final Map<String, String> fields = new TreeMap<>();
        record.forEach((name, values) -> fields.put(name, values.get(values.size() - 1)));
        return fields;
    }

    @Test
    void shouldSayTheEarliestMillisecondThereIsWhereAFlowIsOfBefore1970() throws IOException {
        final Map<String, String> record = records(Profile.FULL, 64, () -> {
            flow(4, UDP, 0);
            FlowEntry.startNs(entry, 0, -1_500_000_000L);
            FlowEntry.endNs(entry, 0, -1);
        }).get(0);

        assertEquals("0", record.get("flowStartMilliseconds"));
        assertEquals("0", record.get("flowEndMilliseconds"));
    }

    @Test
    void shouldWriteEveryFieldInItsPlace() throws IOException {
        final Map<String, String> record = records(Profile.FULL, 64, () -> flow(4, UDP, FlowEntry.FLAG_VLAN)).get(0);

        assertEquals("a000001", record.get("sourceIPv4Address"));
        assertEquals("a000002", record.get("destinationIPv4Address"));
        assertEquals("4000", record.get("sourceTransportPort"));
        assertEquals("53", record.get("destinationTransportPort"));
        assertEquals("17", record.get("protocolIdentifier"));
        assertEquals("7", record.get("vlanId"));
        assertEquals("3", record.get("ingressInterface"));
        assertEquals("0", record.get("egressInterface"));
        assertEquals("2", record.get("packetDeltaCount"));
        assertEquals("200", record.get("octetDeltaCount"));
        assertEquals("1700000000123000000", record.get("flowStartMilliseconds"));
        assertEquals(Long.toString(START_NS), record.get("flowStartNanoseconds"));
        assertEquals(Long.toString(START_NS + 1), record.get("flowEndNanoseconds"));
        assertEquals("1", record.get("flowEndReason"));
        assertEquals("99", record.get("flowId"));
        assertEquals("4294967295", record.get("minimumIpTotalLength"));
        assertFalse(record.containsKey("icmpTypeCodeIPv4"));
        assertFalse(record.containsKey("flowlagDelaySampleCount"));
    }

    @Test
    void shouldLeaveOutWhatWasNotMeasuredOrDoesNotFit() throws IOException {
        final List<Map<String, String>> records = records(Profile.FULL, 64, () -> {
            flow(6, UDP, 0);
            delay(1_500);
            delay(2_500);
        }, () -> {
            flow(4, UDP, 0);
            delay(-1_000);
        });

        assertEquals("2", records.get(0).get("pathDelayMeanDeltaMicroseconds"));
        assertEquals("2", records.get(0).get("pathDelayMinDeltaMicroseconds"));
        assertEquals("3", records.get(0).get("pathDelayMaxDeltaMicroseconds"));
        assertEquals("4", records.get(0).get("pathDelaySumDeltaMicroseconds"));
        assertEquals("2000", records.get(0).get("flowlagDelayMeanNanoseconds"));
        assertEquals("8500000.0", records.get(0).get("flowlagDelaySquareSum"));
        assertEquals("707", records.get(0).get("flowlagDelayStandardDeviationNanoseconds"));
        assertFalse(records.get(1).containsKey("pathDelayMeanDeltaMicroseconds"));
        assertFalse(records.get(1).containsKey("pathDelaySumDeltaMicroseconds"));
        assertEquals("-1000", records.get(1).get("flowlagDelayMeanNanoseconds"));
        assertFalse(records.get(1).containsKey("flowlagDelayStandardDeviationNanoseconds"), "one delay has none");
    }

    @Test
    void shouldSayHowSureTheMeanIsAndOfWhichSegment() throws IOException {
        final Map<String, String> record = records(Profile.FULL, 64, () -> {
            flow(4, UDP, 0);
            delay(5_000);
            FlowDelay.errorBoundNs(entry, DELAY_OFFSET, 700);
            FlowDelay.clockErrorNs(entry, DELAY_OFFSET, 11);
            FlowDelay.segmentId(entry, DELAY_OFFSET, -1);
        }).get(0);

        assertEquals("1", record.get("flowlagDelayEstimator"));
        assertEquals("700", record.get("flowlagDelayErrorBoundNanoseconds"));
        assertEquals("11", record.get("flowlagClockErrorBoundNanoseconds"));
        assertEquals("4294967295", record.get("flowlagSegmentId"));
        assertFalse(record.containsKey("flowlagDelayInterpolatedMeanNanoseconds"));
        assertFalse(record.containsKey("flowlagLostPacketDeltaCount"));
    }

    @Test
    void shouldPreferMatchedPacketsAndKeepTheInterpolatedMeanBesideThem() throws IOException {
        final Map<String, String> record = records(Profile.FULL, 64, () -> {
            flow(4, UDP, 0);
            delay(5_000);
            FlowDelay.errorBoundNs(entry, DELAY_OFFSET, 700);
            FlowDelay.estimator(entry, DELAY_OFFSET, FlowDelay.ESTIMATOR_MATCHED);
            DelayCounters.record(entry, FlowDelay.matchedOffset(DELAY_OFFSET), 4_000);
            DelayCounters.record(entry, FlowDelay.matchedOffset(DELAY_OFFSET), 6_000);
            FlowDelay.loss(entry, DELAY_OFFSET, 3, 1, FlowDelay.LOSS_EXACT);
        }).get(0);

        assertEquals("6", record.get("flowlagDelayEstimator"));
        assertEquals("1", record.get("flowlagDelaySampleCount"), "of the references, which matching never overwrites");
        assertEquals("5000", record.get("flowlagDelaySumNanoseconds"));
        assertEquals("4000", record.get("flowlagDelayMinimumNanoseconds"));
        assertEquals("1414", record.get("flowlagDelayStandardDeviationNanoseconds"), "of the matched packets");
        assertEquals("10", record.get("pathDelaySumDeltaMicroseconds"));
        assertEquals("5000", record.get("flowlagDelayInterpolatedMeanNanoseconds"));
        assertEquals("3", record.get("flowlagLostPacketDeltaCount"));
        assertEquals("1", record.get("flowlagLossKind"));
        assertEquals("1", record.get("flowlagUnexpectedPacketDeltaCount"));
        assertEquals("700", record.get("flowlagDelayErrorBoundNanoseconds"));
    }

    @Test
    void shouldGiveTheJointMeanWithItsBoundAndBothParentsBesideIt() throws IOException {
        final int sketch = FlowDelay.sketchOffset(DELAY_OFFSET);
        final Runnable joint = () -> {
            flow(4, UDP, 0);
            delay(4_000);
            delay(8_000);
            FlowSketch.mean(entry, sketch, 7_000, 2, 3, 2);
            FlowSketch.jointMean(entry, sketch, 5_500, 2);
            FlowDelay.addFlags(entry, DELAY_OFFSET, FlowDelay.FLAG_SKETCH);
            FlowDelay.estimator(entry, DELAY_OFFSET, FlowDelay.ESTIMATOR_JOINT);
            FlowDelay.errorBoundNs(entry, DELAY_OFFSET, 300);
        };
        final List<Map<String, String>> records = records(Profile.FULL, 64, joint, () -> {
            joint.run();
            DelayCounters.clear(entry, DELAY_OFFSET);
            FlowDelay.clearErrorBound(entry, DELAY_OFFSET);
        });

        final Map<String, String> record = records.get(0);
        assertEquals("4", record.get("flowlagDelayEstimator"));
        assertEquals("5500", record.get("flowlagDelayMeanNanoseconds"));
        assertEquals("6", record.get("pathDelayMeanDeltaMicroseconds"));
        assertEquals("11", record.get("pathDelaySumDeltaMicroseconds"));
        assertEquals("300", record.get("flowlagDelayErrorBoundNanoseconds"));
        assertEquals("6000", record.get("flowlagDelayInterpolatedMeanNanoseconds"));
        assertEquals("7000", record.get("flowlagDelaySketchMeanNanoseconds"));
        assertEquals("2", record.get("flowlagDelaySampleCount"));
        for (final String other : List.of("flowlagDelayStandardDeviationNanoseconds", "flowlagDelayMinimumNanoseconds",
            "flowlagDelayMaximumNanoseconds", "pathDelayMinDeltaMicroseconds", "pathDelayMaxDeltaMicroseconds")) {
            assertFalse(record.containsKey(other), other + " would be another estimator's");
        }
        final Map<String, String> withoutReferences = records.get(1);
        assertEquals("5500", withoutReferences.get("flowlagDelayMeanNanoseconds"));
        assertFalse(withoutReferences.containsKey("flowlagDelayInterpolatedMeanNanoseconds"));
        assertFalse(withoutReferences.containsKey("flowlagDelaySampleCount"));
        assertFalse(withoutReferences.containsKey("flowlagDelayErrorBoundNanoseconds"));
    }

    @Test
    void shouldSayHowManyPacketsAreBehindTheMeanOfEachEstimator() throws IOException {
        final int sketch = FlowDelay.sketchOffset(DELAY_OFFSET);
        final int[] estimators = {
            FlowDelay.ESTIMATOR_INTERPOLATED, FlowDelay.ESTIMATOR_LEFT, FlowDelay.ESTIMATOR_SKETCH, FlowDelay.ESTIMATOR_JOINT,
            FlowDelay.ESTIMATOR_FLOW_SUMS, FlowDelay.ESTIMATOR_MATCHED};
        for (final int estimator : estimators) {
            for (int packets = 1; packets <= 2; packets++) {
                final int measured = packets;
                final Map<String, String> record = records(Profile.FULL, 64, () -> {
                    flow(4, UDP, 0);
                    for (int i = 0; i < measured; i++) {
                        delay(6_000);
                        DelayCounters.record(entry, FlowDelay.matchedOffset(DELAY_OFFSET), 6_000);
                    }
                    FlowSketch.mean(entry, sketch, 6_000, 5, 3, measured);
                    FlowSketch.jointMean(entry, sketch, 6_000, measured);
                    FlowDelay.estimator(entry, DELAY_OFFSET, estimator);
                }).get(0);

                final String name = "estimator " + estimator;
                assertEquals(Integer.toString(measured), record.get("flowlagDelayPacketDeltaCount"), name);
                assertEquals(measured == 2 ? "12" : null, record.get("pathDelaySumDeltaMicroseconds"), name);
                assertEquals("6000", record.get("flowlagDelayMeanNanoseconds"), name);
                final boolean isOfSinglePackets = estimator < FlowDelay.ESTIMATOR_SKETCH ||
                    estimator == FlowDelay.ESTIMATOR_MATCHED;
                for (final String extreme : List.of("Minimum", "Maximum")) {
                    assertEquals(isOfSinglePackets ? "6000" : null, record.get("flowlagDelay" + extreme + "Nanoseconds"), name);
                }
            }
        }
    }

    /** As between two processes: there are no delays of single packets, and yet the sum is known. */
    @Test
    void shouldTellTheSumOfExactFlowSums() throws IOException {
        for (int measured = 1; measured <= 2; measured++) {
            final int packets = measured;
            final Map<String, String> record = records(Profile.FULL, 64, () -> {
                flow(4, UDP, 0);
                FlowSketch.mean(entry, FlowDelay.sketchOffset(DELAY_OFFSET), 6_000, packets, 0, packets);
                FlowDelay.estimator(entry, DELAY_OFFSET, FlowDelay.ESTIMATOR_FLOW_SUMS);
            }).get(0);

            assertEquals("6000", record.get("flowlagDelayMeanNanoseconds"));
            assertEquals(Integer.toString(packets), record.get("flowlagDelayPacketDeltaCount"));
            assertEquals(packets == 2 ? "12" : null, record.get("pathDelaySumDeltaMicroseconds"));
            assertFalse(record.containsKey("flowlagDelaySampleCount"));
            assertFalse(record.containsKey("flowlagDelayStandardDeviationNanoseconds"));
        }
    }

    @Test
    void shouldNotSayHowManyPacketsAreBehindAMeanThatIsNotThere() throws IOException {
        assertFalse(records(Profile.FULL, 64, () -> flow(4, UDP, 0)).get(0).containsKey("flowlagDelayPacketDeltaCount"));
    }

    @Test
    void shouldSendOnlyWhatTheProfileHas() throws IOException {
        final Runnable delayed = () -> {
            flow(4, UDP, 0);
            delay(5_000);
        };
        final Map<String, String> classic = records(Profile.CLASSIC, 64, delayed).get(0);
        final Map<String, String> standard = records(Profile.STANDARD, 64, delayed).get(0);

        assertFalse(classic.containsKey("pathDelayMeanDeltaMicroseconds"));
        assertFalse(classic.containsKey("flowStartNanoseconds"));
        assertEquals("5", standard.get("pathDelayMeanDeltaMicroseconds"));
        assertFalse(standard.containsKey("flowlagDelayMeanNanoseconds"));
    }

    /** More combinations of groups than templates: whatever is left out, the mean with its bound and coverage is not. */
    @ParameterizedTest
    @ValueSource(ints = {16, 64})
    void shouldKeepEveryMeanWhenThereAreTooManyTemplates(final int maxTemplates) throws IOException {
        final Random random = new Random(maxTemplates);
        final int sketch = FlowDelay.sketchOffset(DELAY_OFFSET);
        final Runnable[] flows = new Runnable[2_000];
        for (int i = 0; i < flows.length; i++) {
            final int bits = random.nextInt();
            flows[i] = () -> {
                flow((bits & 1) == 0 ? 4 : 6, (bits & 2) == 0 ? UDP : ICMP, (bits & 4) == 0 ? 0 : FlowEntry.FLAG_VLAN);
                if ((bits & 8) == 0) {
                    delay((bits & 16) == 0 ? 5_000 : -5_000);
                }
                FlowSketch.mean(entry, sketch, 7_000, 2, 3, 2);
                FlowSketch.jointMean(entry, sketch, (bits & 32) == 0 ? 5_500 : -5_500, 1 + (bits >> 6 & 1));
                FlowDelay.addFlags(entry, DELAY_OFFSET, (bits & 128) == 0 ? 0 : FlowDelay.FLAG_SKETCH);
                FlowDelay.estimator(entry, DELAY_OFFSET, FlowDelay.ESTIMATOR_JOINT);
                if ((bits & 256) == 0) {
                    FlowDelay.errorBoundNs(entry, DELAY_OFFSET, 300);
                }
                if ((bits & 512) == 0) {
                    FlowDelay.loss(entry, DELAY_OFFSET, 3, 1, FlowDelay.LOSS_EXACT);
                } else if ((bits & 1024) == 0) {
                    FlowDelay.lossBound(entry, DELAY_OFFSET, 3);
                }
            };
        }
        final List<Map<String, String>> records = records(Profile.FULL, maxTemplates, flows);

        assertTrue(counters.get(CounterId.RECORDS_WITHOUT_GROUP) > 0);
        for (int i = 0; i < flows.length; i++) {
            flows[i].run();
            final Map<String, String> record = records.get(i);
            assertEquals(Long.toString(FlowDelay.meanNs(entry, DELAY_OFFSET)), record.get("flowlagDelayMeanNanoseconds"));
            assertEquals(
                Long.toString(FlowDelay.meanPackets(entry, DELAY_OFFSET)), record.get("flowlagDelayPacketDeltaCount"));
            assertEquals("4", record.get("flowlagDelayEstimator"));
            assertEquals(FlowDelay.has(entry, DELAY_OFFSET, FlowDelay.FLAG_ERROR_BOUND) ? "300" : null,
                record.get("flowlagDelayErrorBoundNanoseconds"));
        }
    }

    @Test
    void shouldLeaveOutGroupsAndCountWhenThereAreTooManyTemplates() throws IOException {
        final List<Map<String, String>> records = records(
            Profile.FULL,
            2,
            () -> flow(4, ICMP, FlowEntry.FLAG_VLAN),
            () -> flow(6, UDP, FlowEntry.FLAG_VLAN),
            () -> flow(4, UDP, 0));

        assertEquals(3, records.size());
        assertFalse(records.get(0).containsKey("vlanId"));
        assertFalse(records.get(0).containsKey("icmpTypeCodeIPv4"));
        assertEquals("0:a000001", records.get(1).get("sourceIPv6Address"));
        assertEquals("200", records.get(1).get("octetDeltaCount"));
        assertEquals(2, counters.get(CounterId.RECORDS_WITHOUT_GROUP));
    }
}
