package io.flowlag.exporter.runtime.demo;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.CollectorServer;
import io.flowlag.ipfix.element.FlowElements;

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
    }

    /** Packets that have a delay by one estimator, and the sum of their delays. */
    record Sum(long packets, long sumNs) {
        private Sum plus(final Sum other) {
            return new Sum(packets + other.packets, sumNs + other.sumNs);
        }

        /** {@return the mean delay, ns; not a number without packets} */
        double meanNs() {
            return packets == 0 ? Double.NaN : (double)sumNs / packets;
        }
    }

    /** The sums of a flow's records. Lost packets are null unless every record has an exact count. */
    record Row(
        Key key, long packets, long octets, Sum references, Sum sketches, Sum joint, Long errorBoundNs, Long exactLostPackets) {
        private Row plus(final Row other) {
            return new Row(key, packets + other.packets, octets + other.octets, references.plus(other.references),
                sketches.plus(other.sketches), joint.plus(other.joint), null,
                exactLostPackets == null || other.exactLostPackets == null ? null : exactLostPackets + other.exactLostPackets);
        }
    }

    private DemoCollector(final int enterpriseNumber) throws IOException {
        server = new CollectorServer(new CollectingProcess(
            FlowElements.registry(enterpriseNumber), CollectorLimits.DEFAULTS, counters, this::onRecord));
        address = server.listenUdp(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        thread = new Thread(this::serve, "demo-collector");
        thread.setDaemon(true);
    }

    /** Starts a collector on a free port; throws an {@link IOException} if there is none. */
    static DemoCollector start(final int enterpriseNumber) throws IOException {
        final DemoCollector collector = new DemoCollector(enterpriseNumber);
        collector.thread.start();
        return collector;
    }

    InetSocketAddress address() {
        return address;
    }

    /** Waits until so many flow records have been received, or for the timeout, then stops. Returns whether they were. */
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
            key, packets, record.unsigned(record.indexOf("octetDeltaCount")),
            new Sum(signed(record, "flowlagDelaySampleCount", 0L), signed(record, "flowlagDelaySumNanoseconds", 0L)),
            sketchMeanNs == null ? new Sum(0, 0) : new Sum(packets, packets * sketchMeanNs),
            isJoint ? new Sum(packets, packets * signed(record, "flowlagDelayMeanNanoseconds", 0L)) : new Sum(0, 0),
            signed(record, "flowlagDelayErrorBoundNanoseconds", null),
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
