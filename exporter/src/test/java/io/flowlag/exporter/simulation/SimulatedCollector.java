package io.flowlag.exporter.simulation;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.MessageResult;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A collector of one host's records, and the connection to it: the process's buffer, then the kernel's, then the collector. It
 * judges what left the process: once the kernel has a whole message, its records count as exported.
 */
final class SimulatedCollector {
    private static final int BUFFER_BYTES = 32 * 1024;
    private static final int KERNEL_BYTES = 8 * 1024;
    private static final long RETRY_MS = 500;

    private final SplittableRandom random;
    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final CollectingProcess process = new CollectingProcess(
        FlowElements.registry(32473), CollectorLimits.DEFAULTS, counters, this::onRecord);
    /** Flow, start and end of the records that left, and their packets. */
    final List<long[]> records = new ArrayList<>();
    private boolean isUp = true;
    private boolean isReading = true;
    private long recordsLeft;
    private long recordsArrived;
    private long recordsLostOnTheWay;
    private Connection connection;

    SimulatedCollector(final SplittableRandom random) {
        this.random = random;
    }

    /** Whether it accepts connections; those that there are break when it goes. */
    void up(final boolean value) {
        isUp = value;
        if (!value && connection != null) {
            connection.breakDown();
        }
    }

    void reading(final boolean value) {
        isReading = value;
    }

    long recordsLeft() {
        return recordsLeft;
    }

    long recordsArrived() {
        return recordsArrived;
    }

    long recordsLostOnTheWay() {
        return recordsLostOnTheWay;
    }

    /** {@return how a new process reaches the collector} */
    Transport transport() {
        connection = new Connection();
        return connection;
    }

    /** The process is gone; the kernel's octets go with the machine, or arrive. */
    void onKilled(final boolean isPowerCut) {
        connection.die(isPowerCut);
    }

    private void onRecord(final CollectedRecord record) {
        final int packets = record.indexOf("packetDeltaCount");
        if (!record.isOptions() && packets >= 0) {
            recordsLeft++;
            records.add(new long[]{
                record.unsigned(record.indexOf("sourceIPv4Address")) & 0xFFFF,
                record.timestampNs(record.indexOf("flowStartNanoseconds")),
                record.timestampNs(record.indexOf("flowEndNanoseconds")),
                record.unsigned(packets)});
        }
    }

    /** A stream. */
    private final class Connection implements Transport {
        private final Deque<byte[]> buffer = new ArrayDeque<>();
        /** Octets in the kernel, and records in whole messages there. */
        private final Deque<long[]> kernel = new ArrayDeque<>();
        private TransportState state = TransportState.DISCONNECTED;
        private TransportSession session;
        private long bufferedBytes;
        private long kernelBytes;
        private int sentOfFirst;
        private long connectionCount;
        private long deliveredOctets;
        private long peerLossCount;
        private long nextAttemptMs = Long.MIN_VALUE;

        @Override
        public SendResult send(final DirectBuffer octets, final int offset, final int lengthBytes) {
            if (state != TransportState.CONNECTED) {
                return state == TransportState.CLOSED ? SendResult.FAILED : SendResult.BUSY;
            }
            if (bufferedBytes + lengthBytes > BUFFER_BYTES) {
                return SendResult.BUSY;
            }
            final byte[] copy = new byte[lengthBytes];
            octets.getBytes(offset, copy);
            buffer.add(copy);
            bufferedBytes += lengthBytes;
            return SendResult.SENT;
        }

        @Override
        public int doWork(final long nowMs) {
            if (state == TransportState.DISCONNECTED && (nowMs >= nextAttemptMs || nowMs < nextAttemptMs - RETRY_MS)) {
                nextAttemptMs = nowMs + RETRY_MS;
                if (isUp) {
                    state = TransportState.CONNECTED;
                    connectionCount++;
                    deliveredOctets = 0;
                    session = process.openSession(SessionKind.TCP, "simulated");
                    return 1;
                }
                peerLossCount++;
            }
            read();
            return drain();
        }

        private int drain() {
            int count = 0;
            while (state == TransportState.CONNECTED && !buffer.isEmpty() && kernelBytes < KERNEL_BYTES) {
                final byte[] first = buffer.peek();
                final int room = (int)Math.min(KERNEL_BYTES - kernelBytes, first.length - sentOfFirst);
                final int passed = 1 + random.nextInt(room);
                sentOfFirst += passed;
                deliveredOctets += passed;
                kernelBytes += passed;
                bufferedBytes -= passed;
                long recordCount = 0;
                if (sentOfFirst == first.length) {
                    final long before = recordsLeft;
                    final MessageResult result =
                        process.onMessage(session, new UnsafeBuffer(first), 0, first.length, 0);
                    if (!result.isAccepted()) {
                        throw new IllegalStateException("message refused: " + result);
                    }
                    recordCount = recordsLeft - before;
                    buffer.remove();
                    sentOfFirst = 0;
                }
                kernel.add(new long[]{passed, recordCount});
                count++;
            }
            return count;
        }

        private void read() {
            while (isReading && !kernel.isEmpty()) {
                final long[] piece = kernel.remove();
                kernelBytes -= piece[0];
                recordsArrived += piece[1];
            }
        }

        void breakDown() {
            if (state == TransportState.CONNECTED) {
                kernel.forEach((piece) -> recordsLostOnTheWay += piece[1]);
                end();
                peerLossCount++;
                state = TransportState.DISCONNECTED;
            }
        }

        void die(final boolean isPowerCut) {
            if (state == TransportState.CONNECTED) {
                kernel.forEach((piece) -> {
                    recordsLostOnTheWay += isPowerCut ? piece[1] : 0;
                    recordsArrived += isPowerCut ? 0 : piece[1];
                });
                end();
            }
            state = TransportState.CLOSED;
        }

        private void end() {
            kernel.clear();
            kernelBytes = 0;
            buffer.clear();
            bufferedBytes = 0;
            sentOfFirst = 0;
            process.closeSession(session);
        }

        @Override
        public boolean flush(final long nowMs) {
            doWork(nowMs);
            return buffer.isEmpty();
        }

        @Override
        public TransportKind kind() {
            return TransportKind.STREAM;
        }

        @Override
        public TransportState state() {
            return state;
        }

        @Override
        public long connectionCount() {
            return connectionCount;
        }

        @Override
        public long deliveredOctets() {
            return deliveredOctets;
        }

        @Override
        public long uncertainOctets() {
            return KERNEL_BYTES;
        }

        @Override
        public long peerLossCount() {
            return peerLossCount;
        }

        @Override
        public String name() {
            return "tcp://collector";
        }

        @Override
        public String lastError() {
            return "";
        }

        @Override
        public void close() {
            die(false);
        }
    }
}
