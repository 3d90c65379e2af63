package io.flowlag.exporter.runtime.demo;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.export.FlowElements;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.CollectorServer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The demo's collector: receives IPFIX over UDP on loopback on its own thread and sums the records of each flow. The rows may be
 * read once {@link #awaitRecords} has returned.
 */
final class DemoCollector implements AutoCloseable {
    private static final int JOINT_ESTIMATOR = 4;
    private static final int EXACT_LOSS = 1;
    private static final long POLL_WAIT_MS = 20;
    private static final long JOIN_TIMEOUT_MS = 2_000;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final Map<Key, Row> rows = new HashMap<>();
    private final CollectorServer server;
    private final InetSocketAddress address;
    private final Thread thread;
    private volatile boolean isStopped;
    private volatile long flowRecordCount;
    private volatile long optionsRecordCount;

    /** A flow key as text. */
    record Key(String source, String destination, int protocol, int sourcePort, int destinationPort) {
        /** {@return the protocol as text} */
        String protocolName() {
            return switch (protocol) {
                case 1 -> "icmp";
                case 6 -> "tcp";
                case 17 -> "udp";
                case 58 -> "icmp6";
                default -> Integer.toString(protocol);
            };
        }
    }

    /** The sums of a flow's records. Lost packets are null unless every record has an exact count. */
    record Row(
        Key key, long packets, long octets, long startNs, long endNs, long delaySamples, long delaySumNs, Long errorBoundNs,
        long sketchPackets, long sketchSumNs, long jointPackets, long jointSumNs, Long exactLostPackets) {
        private Row plus(final Row other) {
            return new Row(key, packets + other.packets, octets + other.octets,
                Math.min(startNs, other.startNs), Math.max(endNs, other.endNs), delaySamples + other.delaySamples,
                delaySumNs + other.delaySumNs, null, sketchPackets + other.sketchPackets, sketchSumNs + other.sketchSumNs,
                jointPackets + other.jointPackets, jointSumNs + other.jointSumNs,
                exactLostPackets == null || other.exactLostPackets == null ? null : exactLostPackets + other.exactLostPackets);
        }

        /** {@return the mean estimated delay, ns; only with samples} */
        double meanDelayNs() {
            return (double)delaySumNs / delaySamples;
        }

        /** {@return the mean delay by sketches, ns; only with packets of it} */
        double sketchMeanNs() {
            return (double)sketchSumNs / sketchPackets;
        }

        /** {@return the mean delay by references and sketches together, ns; only with packets of it} */
        double jointMeanNs() {
            return (double)jointSumNs / jointPackets;
        }
    }

    private DemoCollector(final int enterpriseNumber) throws IOException {
        server = new CollectorServer(new CollectingProcess(
            FlowElements.registry(enterpriseNumber), CollectorLimits.DEFAULTS, counters, this::onRecord));
        address = server.listenUdp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        thread = new Thread(this::serve, "demo-collector");
        thread.setDaemon(true);
    }

    /**
     * Starts a collector on a free port.
     *
     * @param enterpriseNumber of the exporter's own elements.
     * @throws IOException if no port is available.
     */
    static DemoCollector start(final int enterpriseNumber) throws IOException {
        final DemoCollector collector = new DemoCollector(enterpriseNumber);
        collector.thread.start();
        return collector;
    }

    InetSocketAddress address() {
        return address;
    }

    /**
     * Waits until all flow records sent have been received, then stops.
     *
     * @param timeoutNs longest wait.
     * @return whether all were received.
     */
    boolean awaitRecords(final long count, final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        while (flowRecordCount < count && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(PAUSE_NS);
        }
        stop();
        return flowRecordCount >= count;
    }

    /** {@return the flows, those with the most octets first} */
    List<Row> rows() {
        final List<Row> sorted = new ArrayList<>(rows.values());
        sorted.sort(Comparator.comparingLong(Row::octets).reversed().thenComparing((row) -> row.key().toString()));
        return sorted;
    }

    long recordCount() {
        return flowRecordCount;
    }

    long optionsRecordCount() {
        return optionsRecordCount;
    }

    long missingCount() {
        return counters.get(CollectorCounter.RECORDS_LOST);
    }

    @Override
    public void close() throws IOException {
        stop();
        server.close();
    }

    private void stop() {
        isStopped = true;
        try {
            thread.join(JOIN_TIMEOUT_MS);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    private void serve() {
        try {
            while (!isStopped) {
                server.poll(System.nanoTime(), POLL_WAIT_MS);
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void onRecord(final CollectedRecord record) {
        if (record.isOptions()) {
            optionsRecordCount++;
            return;
        }
        final boolean isIpv6 = record.indexOf("sourceIPv6Address") >= 0;
        final Key key = new Key(
            address(record, isIpv6 ? "sourceIPv6Address" : "sourceIPv4Address"),
            address(record, isIpv6 ? "destinationIPv6Address" : "destinationIPv4Address"),
            (int)record.unsigned(record.indexOf("protocolIdentifier")),
            (int)record.unsigned(record.indexOf("sourceTransportPort")),
            (int)record.unsigned(record.indexOf("destinationTransportPort")));
        final long packets = record.unsigned(record.indexOf("packetDeltaCount"));
        final Long sketchMeanNs = signed(record, "flowlagDelaySketchMeanNanoseconds", null);
        final boolean isJoint = signed(record, "flowlagDelayEstimator", 0L) == JOINT_ESTIMATOR;
        final Row row = new Row(
            key,
            packets,
            record.unsigned(record.indexOf("octetDeltaCount")),
            record.timestampNs(record.indexOf("flowStartNanoseconds")),
            record.timestampNs(record.indexOf("flowEndNanoseconds")),
            signed(record, "flowlagDelaySampleCount", 0L),
            signed(record, "flowlagDelaySumNanoseconds", 0L),
            signed(record, "flowlagDelayErrorBoundNanoseconds", null),
            sketchMeanNs == null ? 0 : packets,
            sketchMeanNs == null ? 0 : packets * sketchMeanNs,
            isJoint ? packets : 0,
            isJoint ? packets * signed(record, "flowlagDelayMeanNanoseconds", 0L) : 0,
            signed(record, "flowlagLossKind", 0L) == EXACT_LOSS ? signed(record, "flowlagLostPacketDeltaCount", null) : null);
        rows.merge(key, row, Row::plus);
        flowRecordCount++;
    }

    private static Long signed(final CollectedRecord record, final String elementName, final Long otherwise) {
        final int index = record.indexOf(elementName);
        return index < 0 ? otherwise : Long.valueOf(record.signed(index));
    }

    private static String address(final CollectedRecord record, final String elementName) {
        final int index = record.indexOf(elementName);
        final byte[] octets = new byte[record.fieldLengthBytes(index)];
        record.buffer().getBytes(record.fieldOffset(index), octets);
        try {
            return InetAddress.getByAddress(octets).getHostAddress();
        } catch (final IOException ex) {
            throw new IllegalStateException("an address of " + octets.length + " octets", ex);
        }
    }
}
