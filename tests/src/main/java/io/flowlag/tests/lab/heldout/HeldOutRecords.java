package io.flowlag.tests.lab.heldout;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.MessageStreamReader;
import io.flowlag.ipfix.element.FlowElements;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The flows of a {@link HeldOutTrace} in an IPFIX file. A flow with several records has the packet-weighted mean of their means,
 * and likewise of bounds. It has a mean, a bound or a loss only if each of its records has one.
 */
final class HeldOutRecords {
    private static final int INTERPOLATED = 1;
    private static final int LEFT_REFERENCE = 2;
    private static final int SKETCH = 3;
    private static final int JOINT = 4;
    private static final int EXACT_LOSS = 1;

    private final HeldOutTrace trace;
    /** NaN in all of them: absent. */
    final Quantity mean;
    final Quantity references;
    final Quantity sketches;
    final Quantity joint;
    final Quantity bound;
    final double[] lost;
    private final long[] packets;
    private long count;

    /** The mean of a quantity over the packets of a flow. */
    static final class Quantity {
        private final double[] sum;
        private final long[] packets;

        private Quantity(final int flows) {
            sum = new double[flows];
            packets = new long[flows];
        }

        private void add(final int flow, final long count, final double value) {
            if (!Double.isNaN(value)) {
                sum[flow] += count * value;
                packets[flow] += count;
            }
        }

        private double of(final int flow, final long count) {
            return count > 0 && packets[flow] == count ? sum[flow] / count : Double.NaN;
        }
    }

    HeldOutRecords(final HeldOutTrace trace, final Path file) throws IOException {
        this.trace = trace;
        final int flows = trace.flows();
        mean = new Quantity(flows);
        references = new Quantity(flows);
        sketches = new Quantity(flows);
        joint = new Quantity(flows);
        bound = new Quantity(flows);
        lost = new double[flows];
        packets = new long[flows];
        Arrays.fill(lost, Double.NaN);
        final CollectingProcess process = new CollectingProcess(FlowElements.registry(
            FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER), CollectorLimits.DEFAULTS,
                new CounterSet<>(CollectorCounter.class), this::onRecord);
        try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20);
            MessageStreamReader reader = new MessageStreamReader(process, in, file.toString())) {
            boolean isMore = true;
            while (isMore) {
                isMore = reader.readMessage(0);
            }
            if (reader.damage() != null) {
                throw new IOException(file + " " + reader.damage());
            }
        }
    }

    private void onRecord(final CollectedRecord record) {
        final int address = record.indexOf("sourceIPv4Address");
        final int port = record.indexOf("sourceTransportPort");
        if (record.isOptions() || address < 0 || port < 0 || record.unsigned(port) < HeldOutTrace.FIRST_PORT) {
            return;
        }
        final int flow = trace.flowOf(record.ipv4Address(address), (int)record.unsigned(port));
        if (flow < 0) {
            throw new IllegalStateException("a record of a flow that was not sent");
        }
        count++;
        final long recordPackets = record.unsigned(record.indexOf("packetDeltaCount"));
        packets[flow] += recordPackets;
        final int estimator = (int)number(record, "flowlagDelayEstimator");
        final double best = number(record, "flowlagDelayMeanNanoseconds");
        final double interpolated = number(record, "flowlagDelayInterpolatedMeanNanoseconds");
        final double sketch = number(record, "flowlagDelaySketchMeanNanoseconds");
        final boolean isReferences = estimator == INTERPOLATED || estimator == LEFT_REFERENCE;
        mean.add(flow, recordPackets, best);
        references.add(flow, recordPackets, Double.isNaN(interpolated) && isReferences ? best : interpolated);
        sketches.add(flow, recordPackets, Double.isNaN(sketch) && estimator == SKETCH ? best : sketch);
        joint.add(flow, recordPackets, estimator == JOINT ? best : Double.NaN);
        bound.add(flow, recordPackets, number(record, "flowlagDelayErrorBoundNanoseconds"));
        final double recordLost =
            number(record, "flowlagLossKind") == EXACT_LOSS ? number(record, "flowlagLostPacketDeltaCount") : Double.NaN;
        lost[flow] = packets[flow] == recordPackets && Double.isNaN(lost[flow]) ? recordLost : lost[flow] + recordLost;
    }

    private static double number(final CollectedRecord record, final String element) {
        final int index = record.indexOf(element);
        return index < 0 ? Double.NaN : record.signed(index);
    }

    /** {@return how many flow records there were} */
    long count() {
        return count;
    }

    /** {@return a quantity of a flow; NaN if a record of it has none} */
    double of(final Quantity quantity, final int flow) {
        return quantity.of(flow, packets[flow]);
    }
}
