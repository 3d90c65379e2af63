package io.flowlag.tests.system.station;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.station.schema.FlowMessage;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.schema.SegmentWindow;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a consumer with {@code read_committed} sees of messages, flow records and windows, compared with what an
 * {@link ExporterLoad} sent. Reads in a thread of its own.
 */
final class CommittedResults implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int DESTINATION_OFFSET = Integer.BYTES;

    /** What was found. */
    record Findings(long sent, long received, long flows, long doubledMessages, long doubledFlows, long missingFlows, long wrong,
        long lostByTcp, long lostByUdp, long untold, String example) {
        boolean isExact() {
            return doubledMessages + doubledFlows + missingFlows + wrong + untold == 0 && flows == received;
        }
    }

    private record Window(int exporter, int segment, long startMs) {
    }

    /** Sums of a window. */
    private static final class Sums {
        private long records;
        private long packets;
        private long octets;
    }

    private final ExporterLoad load;
    private final long windowMs;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String prefix;
    private final Thread thread;
    private final BitSet[] received = sets();
    private final BitSet[] committed = sets();
    private final long[] newest = new long[ExporterLoad.EXPORTERS];
    private final Map<Integer, Map<Long, Long>> nextSequences = new HashMap<>();
    private final long[] lostBySequence = new long[ExporterLoad.EXPORTERS];
    private final Map<Window, SegmentWindow> windows = new HashMap<>();
    private long doubledMessages;
    private long doubledFlows;
    private long wrong;
    private String example = "";
    private volatile boolean isOver;
    private volatile RuntimeException failure;

    CommittedResults(final String brokers, final String prefix, final ExporterLoad load, final long windowMs) {
        this.load = load;
        this.windowMs = windowMs;
        this.prefix = prefix;
        Arrays.fill(newest, -1);
        consumer = new KafkaConsumer<>(Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, brokers,
            ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed", ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest",
            ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 100, ConsumerConfig.RETRY_BACKOFF_MAX_MS_CONFIG, 100,
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false),
            new ByteArrayDeserializer(), new ByteArrayDeserializer());
        final List<TopicPartition> partitions = new ArrayList<>();
        for (final String topic : List.of("messages-v1", "flows-v1", "segments-v1")) {
            consumer.partitionsFor(prefix + topic).forEach((each) -> partitions.add(
                new TopicPartition(each.topic(), each.partition())));
        }
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        thread = new Thread(this::read, "committed");
        thread.start();
    }

    private static BitSet[] sets() {
        final BitSet[] sets = new BitSet[ExporterLoad.EXPORTERS];
        Arrays.setAll(sets, (exporter) -> new BitSet());
        return sets;
    }

    private void read() {
        try (consumer) {
            while (!isOver) {
                for (final ConsumerRecord<byte[], byte[]> each : consumer.poll(POLL)) {
                    synchronized (this) {
                        on(each.topic().substring(prefix.length()), each.value());
                    }
                }
            }
        } catch (final InvalidProtocolBufferException ex) {
            failure = new IllegalStateException(ex);
        } catch (final RuntimeException ex) {
            failure = ex;
        }
    }

    private void on(final String topic, final byte[] value) throws InvalidProtocolBufferException {
        switch (topic) {
            case "messages-v1" -> onMessage(RawMessage.parseFrom(value));
            case "flows-v1" -> onFlow(FlowMessage.parseFrom(value));
            default -> onWindow(SegmentWindow.parseFrom(value));
        }
    }

    private void onMessage(final RawMessage raw) {
        if (raw.getPayload().isEmpty()) {
            return;
        }
        final UnsafeBuffer message = new UnsafeBuffer(raw.getPayload().toByteArray());
        final int exporter = MessageHeader.observationDomainId(message, 0);
        int offset = MessageHeader.LENGTH_BYTES;
        while (SetHeader.setId(message, offset) == SetHeader.TEMPLATE_SET_ID) {
            offset += SetHeader.setLengthBytes(message, offset);
        }
        final long first = Integer.toUnsignedLong(message.getInt(
            offset + SetHeader.LENGTH_BYTES + DESTINATION_OFFSET, java.nio.ByteOrder.BIG_ENDIAN));
        for (int i = 0; i < ExporterLoad.RECORDS; i++) {
            doubledMessages += received[exporter].get((int)first + i) ? 1 : 0;
            received[exporter].set((int)first + i);
        }
        // A connection begins at 0; over UDP, where the numbers go on, so does the one session.
        final long sequence = MessageHeader.sequenceNumber(message, 0);
        final Long next = nextSequences.computeIfAbsent(exporter, (each) -> new HashMap<>())
            .put(raw.getConnection(), sequence + ExporterLoad.RECORDS);
        lostBySequence[exporter] += sequence - (next == null ? 0 : next);
    }

    private void onFlow(final FlowMessage flow) {
        final int exporter = flow.getObservationDomainId();
        final long number = number(flow.getDstAddr());
        doubledFlows += committed[exporter].get((int)number) ? 1 : 0;
        committed[exporter].set((int)number);
        newest[exporter] = Math.max(newest[exporter], number);
        if (flow.getPackets() != ExporterLoad.packets(number) || flow.getBytes() != ExporterLoad.octets(number) ||
            flow.getFlowlagSegmentId() != ExporterLoad.segment(number) || flow.getFlowlagDelayMeanNanoseconds() !=
            1_000_000 + number % 1000 || TimeUnit.NANOSECONDS.toMillis(flow.getTimeFlowEndNs()) != load.endMs(exporter, number)) {
            wrong++;
            example = flow.toString();
        }
    }

    private static long number(final ByteString address) {
        return Integer.toUnsignedLong(address.asReadOnlyByteBuffer().getInt(address.size() - Integer.BYTES));
    }

    private void onWindow(final SegmentWindow window) {
        final String[] parts = window.getSegment().split("[/-]");
        windows.put(new Window(Integer.parseInt(parts[1]), Integer.parseInt(parts[2]),
            TimeUnit.NANOSECONDS.toMillis(window.getStartNs())), window);
    }

    /** {@return whether a record is there that an exporter sent after it had sent so many} */
    synchronized boolean hasNewerThan(final long[] sent) {
        check();
        for (int i = 0; i < sent.length; i++) {
            if (newest[i] >= sent[i]) {
                return true;
            }
        }
        return false;
    }

    private void check() {
        if (failure != null) {
            throw failure;
        }
    }

    /** {@return what there is of the first records of each exporter} */
    synchronized Findings findings(final long[] sent) {
        check();
        long all = 0;
        long came = 0;
        long flows = 0;
        long missing = 0;
        long lostByTcp = 0;
        long lostByUdp = 0;
        long untold = 0;
        String what = example;
        for (int i = 0; i < sent.length; i++) {
            all += sent[i];
            final BitSet in = received[i].get(0, (int)sent[i]);
            final BitSet out = committed[i].get(0, (int)sent[i]);
            came += in.cardinality();
            flows += out.cardinality();
            in.andNot(out);
            missing += in.cardinality();
            if (!in.isEmpty()) {
                what = "exporter " + i + " lacks flow " + in.nextSetBit(0) + " and so on: " + in.cardinality();
            }
            if (ExporterLoad.isTcp(i)) {
                final long lost = tails(i, sent[i]);
                lostByTcp += lost;
                untold += sent[i] - received[i].get(0, (int)sent[i]).cardinality() - lost + lostBySequence[i];
            } else {
                lostByUdp += sent[i] - received[i].get(0, (int)sent[i]).cardinality();
                untold += Math.abs(received[i].length() - received[i].cardinality() - lostBySequence[i]);
            }
        }
        return new Findings(all, came, flows, doubledMessages, doubledFlows, missing, wrong, lostByTcp, lostByUdp, untold, what);
    }

    /** What broken connections took with them: everything behind some record, up to the first of the next connection. */
    private long tails(final int exporter, final long sent) {
        final long[] connections = load.connections(exporter);
        long lost = 0;
        for (int i = 1; i < connections.length && connections[i] <= sent; i++) {
            lost += connections[i] - 1 -
                Math.max(connections[i - 1] - 1, received[exporter].previousSetBit((int)connections[i] - 1));
        }
        return lost;
    }

    /** {@return how many windows that ended by a time have the exact sums of their records, and the first that has not} */
    synchronized String windowsUntil(final long endMs) {
        check();
        final Map<Window, Sums> truth = new HashMap<>();
        for (int i = 0; i < received.length; i++) {
            for (int number = received[i].nextSetBit(0); number >= 0; number = received[i].nextSetBit(number + 1)) {
                final long startMs = load.endMs(i, number) / windowMs * windowMs;
                if (startMs + windowMs <= endMs) {
                    final Sums sums = truth.computeIfAbsent(
                        new Window(i, ExporterLoad.segment(number), startMs), (each) -> new Sums());
                    sums.records++;
                    sums.packets += ExporterLoad.packets(number);
                    sums.octets += ExporterLoad.octets(number);
                }
            }
        }
        int exact = 0;
        final List<String> faults = new ArrayList<>();
        for (final Map.Entry<Window, Sums> each : truth.entrySet()) {
            final SegmentWindow told = windows.get(each.getKey());
            final Sums sums = each.getValue();
            if (told != null && told.getFinal() && told.getRecords() == sums.records && told.getPackets() == sums.packets &&
                told.getOctets() == sums.octets) {
                exact++;
            } else {
                faults.add(each.getKey() + " has " + (told == null ? "no window" : told.getFinal() + " " + told.getRecords() +
                    " " + told.getPackets()) + " for " + sums.records + " " + sums.packets);
            }
        }
        return exact + " of " + truth.size() + " windows exact" + (faults.isEmpty() ? "" : "; " + faults.get(0));
    }

    @Override
    public void close() {
        isOver = true;
        try {
            thread.join();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
