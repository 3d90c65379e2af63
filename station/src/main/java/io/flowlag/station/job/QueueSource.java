package io.flowlag.station.job;

import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Reads the {@link MessageQueue} of this process, of parallelism 1. What was read after the last checkpoint is lost with the
 * process. The watermark is the receipt of the last message, and where none comes, the time.
 */
final class QueueSource implements Source<RawMessage, QueueSource.Queue, Long> {
    private static final long serialVersionUID = 1;
    private static final long WATERMARK_MS = 100;

    private final String queue;

    QueueSource(final String queue) {
        this.queue = queue;
    }

    /** The queue, which is never divided. */
    record Queue(String name) implements SourceSplit {
        @Override
        public String splitId() {
            return name;
        }
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<RawMessage, Queue> createReader(final SourceReaderContext context) {
        return new Reader(MessageQueue.of(queue));
    }

    @Override
    public SplitEnumerator<Queue, Long> createEnumerator(final SplitEnumeratorContext<Queue> context) {
        return new Enumerator();
    }

    @Override
    public SplitEnumerator<Queue, Long> restoreEnumerator(final SplitEnumeratorContext<Queue> context, final Long checkpoint) {
        return new Enumerator();
    }

    @Override
    public SimpleVersionedSerializer<Queue> getSplitSerializer() {
        return new StateFormat<>((each) -> new byte[0], (octets) -> new Queue(""));
    }

    @Override
    public SimpleVersionedSerializer<Long> getEnumeratorCheckpointSerializer() {
        return new StateFormat<>((checkpoint) -> new byte[0], (octets) -> 0L);
    }

    /** There is nothing to assign. */
    private static final class Enumerator implements SplitEnumerator<Queue, Long> {
        @Override
        public void start() {
        }

        @Override
        public void handleSplitRequest(final int subtask, final String host) {
        }

        @Override
        public void addSplitsBack(final List<Queue> splits, final int subtask) {
        }

        @Override
        public void addReader(final int subtask) {
        }

        @Override
        public Long snapshotState(final long checkpoint) {
            return 0L;
        }

        @Override
        public void close() {
        }
    }

    /** Reads. */
    private static final class Reader implements SourceReader<RawMessage, Queue> {
        private final MessageQueue queue;
        private long watermarkMs;

        private Reader(final MessageQueue queue) {
            this.queue = queue;
        }

        @Override
        public void start() {
        }

        @Override
        public InputStatus pollNext(final ReaderOutput<RawMessage> output) {
            final long tickMs = TimeUnit.NANOSECONDS.toMillis(queue.nowNs());
            final RawMessage message = queue.poll();
            if (message != null) {
                final long receivedMs = TimeUnit.NANOSECONDS.toMillis(message.getTimeReceivedNs());
                output.collect(message, receivedMs);
                advance(receivedMs, output);
                return InputStatus.MORE_AVAILABLE;
            }
            if (queue.isOver()) {
                return InputStatus.END_OF_INPUT;
            }
            advance(tickMs, output);
            return InputStatus.NOTHING_AVAILABLE;
        }

        /** A watermark goes to all operators, and ends the buffers of each: not one for each message. */
        private void advance(final long nowMs, final ReaderOutput<RawMessage> output) {
            if (nowMs - WATERMARK_MS >= watermarkMs) {
                watermarkMs = nowMs;
                output.emitWatermark(new Watermark(nowMs - 1));
            }
        }

        @Override
        public List<Queue> snapshotState(final long checkpoint) {
            return List.of();
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return queue.available();
        }

        @Override
        public void addSplits(final List<Queue> splits) {
        }

        @Override
        public void notifyNoMoreSplits() {
        }

        @Override
        public void close() {
        }
    }
}
