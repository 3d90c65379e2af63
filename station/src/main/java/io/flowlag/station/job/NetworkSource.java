package io.flowlag.station.job;

import io.flowlag.common.config.Problems;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.WatchedNetwork;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Versions of the network's file: the one that the job began with, and one each time when the file has changed and has stayed so
 * for {@value #POLL_MS} ms. A file with faults is refused, with these in the log, and the version before stays. Of parallelism 1;
 * it never holds time up. The file is read where this operator runs; one that never was there is not missed.
 */
final class NetworkSource implements Source<NetworkVersion, NetworkSource.Watched, Boolean> {
    /** Of this machine. */
    static final Clock SYSTEM = () -> TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());

    private static final long serialVersionUID = 1;
    private static final long POLL_MS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(NetworkSource.class);

    private final JobSettings settings;
    private final Clock clock;

    NetworkSource(final JobSettings settings, final Clock clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** Nanoseconds since the epoch; records' times are of the same clock. */
    interface Clock extends Serializable {
        long nowNs();
    }

    /** The file, which is never divided, with what is known of it. */
    record Watched(WatchedNetwork network) implements SourceSplit {
        @Override
        public String splitId() {
            return "network";
        }
    }

    /** Size and time of a file. */
    private record Stamp(long bytes, long modifiedNs) {
        static Stamp of(final Path file) {
            try {
                return new Stamp(Files.size(file), Files.getLastModifiedTime(file).to(TimeUnit.NANOSECONDS));
            } catch (final IOException ex) {
                return null;
            }
        }
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.CONTINUOUS_UNBOUNDED;
    }

    @Override
    public SourceReader<NetworkVersion, Watched> createReader(final SourceReaderContext context) {
        return new Reader();
    }

    @Override
    public SplitEnumerator<Watched, Boolean> createEnumerator(final SplitEnumeratorContext<Watched> context) {
        return new Enumerator(context, new Watched(WatchedNetwork.newBuilder().setBegun(settings.text()).build()));
    }

    @Override
    public SplitEnumerator<Watched, Boolean> restoreEnumerator(
        final SplitEnumeratorContext<Watched> context, final Boolean isAssigned) {
        return isAssigned ? new Enumerator(context, null) : createEnumerator(context);
    }

    @Override
    public SimpleVersionedSerializer<Watched> getSplitSerializer() {
        return new StateFormat<>(
            (watched) -> watched.network.toByteArray(), (octets) -> new Watched(WatchedNetwork.parseFrom(octets)));
    }

    @Override
    public SimpleVersionedSerializer<Boolean> getEnumeratorCheckpointSerializer() {
        return new StateFormat<>((isAssigned) -> new byte[] {(byte)(isAssigned ? 1 : 0)}, (octets) -> octets[0] != 0);
    }

    /** Gives the file to the reader. */
    private static final class Enumerator implements SplitEnumerator<Watched, Boolean> {
        private final SplitEnumeratorContext<Watched> context;
        private Watched free;

        private Enumerator(final SplitEnumeratorContext<Watched> context, final Watched free) {
            this.context = context;
            this.free = free;
        }

        @Override
        public void start() {
        }

        @Override
        public void handleSplitRequest(final int subtask, final String host) {
        }

        @Override
        public void addSplitsBack(final List<Watched> splits, final int subtask) {
            free = splits.isEmpty() ? free : splits.get(0);
        }

        @Override
        public void addReader(final int subtask) {
            if (free != null) {
                context.assignSplit(free, subtask);
                free = null;
            }
        }

        @Override
        public Boolean snapshotState(final long checkpoint) {
            return free == null;
        }

        @Override
        public void close() {
        }
    }

    /** Watches. */
    private final class Reader implements SourceReader<NetworkVersion, Watched> {
        private CompletableFuture<Void> next = new CompletableFuture<>();
        private WatchedNetwork known;
        private boolean isTimeFree;
        private Stamp last;
        private Stamp taken;

        @Override
        public void start() {
        }

        @Override
        public void addSplits(final List<Watched> splits) {
            known = splits.get(0).network;
            next.complete(null);
        }

        @Override
        public InputStatus pollNext(final ReaderOutput<NetworkVersion> output) {
            if (!isTimeFree) {
                output.emitWatermark(Watermark.MAX_WATERMARK);
                isTimeFree = true;
            }
            if (known != null) {
                if (!known.hasNewest()) {
                    emit(Networks.first(settings), output);
                } else if (!known.getBegun().equals(settings.text())) {
                    known = known.toBuilder().setBegun(settings.text()).build();
                    take(settings.text(), output);
                }
                if (!settings.file().isEmpty()) {
                    look(output);
                }
                next = new CompletableFuture<Void>().completeOnTimeout(null, POLL_MS, TimeUnit.MILLISECONDS);
            }
            return InputStatus.NOTHING_AVAILABLE;
        }

        private void look(final ReaderOutput<NetworkVersion> output) {
            final Stamp now = Stamp.of(Path.of(settings.file()));
            if (now == null && taken != null) {
                LOG.warn("{}: is gone; the network stays as it was", settings.file());
                taken = null;
            } else if (now != null && now.equals(last) && !now.equals(taken)) {
                taken = now;
                final Problems problems = new Problems();
                final String text = NetworkFiles.text(settings.file(), problems);
                if (text != null && !text.equals(known.getNewest().getText()) &&
                    NetworkFiles.parse(settings.format(), settings.file(), text, problems) != null) {
                    take(text, output);
                } else if (!problems.isEmpty()) {
                    LOG.warn("the network stays as it was: {}", String.join("; ", problems.lines()));
                }
            }
            last = now;
        }

        private void take(final String text, final ReaderOutput<NetworkVersion> output) {
            if (!text.equals(known.getNewest().getText())) {
                emit(NetworkVersion.newBuilder().setVersion(known.getNewest().getVersion() + 1).setSinceNs(clock.nowNs())
                    .setText(text).build(), output);
                LOG.info("{}: version {} of the network", settings.file(), known.getNewest().getVersion());
            }
        }

        private void emit(final NetworkVersion version, final ReaderOutput<NetworkVersion> output) {
            known = known.toBuilder().setNewest(version).build();
            output.collect(version);
        }

        @Override
        public List<Watched> snapshotState(final long checkpoint) {
            return known == null ? List.of() : List.of(new Watched(known));
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return next;
        }

        @Override
        public void notifyNoMoreSplits() {
        }

        @Override
        public void close() {
        }
    }
}
