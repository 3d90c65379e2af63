package io.flowlag.exporter.runtime;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.link.HeldSettings;
import io.flowlag.exporter.exchange.link.ReceivedInterval;
import io.flowlag.exporter.exchange.link.SenderArrivals;
import io.flowlag.exporter.exchange.link.SenderInbox;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.exchange.link.StoredIntervals;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.tests.benchmark.SketchesAlone;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A sender whose intervals are stored. A separate thread, as in the exchange, verifies and decodes them a few intervals ahead of
 * the metering thread. Packets of a file come faster than they were sent, so the metering thread waits for an interval that is
 * not decoded yet. Bounded. Allocates at construction.
 */
public final class PlayedSender extends SketchesAlone implements SenderAnswers, AutoCloseable {
    private static final long WAIT_NS = 1_000_000L;

    private final ExporterConfig config;
    private final StoredIntervals stored;
    private final SipHash hash;
    private final SenderInbox inbox;
    private final long memoryBytes;
    private final Thread thread = new Thread(this::play, "exchange-receiver");
    private volatile boolean isOver;
    private volatile boolean isClosed;
    private volatile String failure;

    /**
     * Opens the intervals and begins to play them.
     *
     * @param firstNs timestamp of the first packet.
     * @throws IOException if the file cannot be opened.
     */
    public PlayedSender(final ExporterConfig config, final Path file, final long firstNs) throws IOException {
        this.config = config;
        final HeldSettings held = ReceiverConfig.held(config, firstNs);
        hash = ReceiverConfig.hash();
        stored = new StoredIntervals(file, held, this::room);
        inbox = new SenderInbox(
            held.settings(), 0, () -> room(held.settings()), null, (number) -> { },
            new CounterSet<>(SenderArrivals.Lost.class));
        memoryBytes = inbox.capacity() * ReceivedInterval.memoryBytes(held.settings(), config.lds().inFlightPackets(), 0);
        thread.setDaemon(true);
        thread.start();
    }

    private ReceivedInterval room(final ExchangeSettings settings) {
        return new ReceivedInterval(settings, hash, config.lds().inFlightPackets(), 0);
    }

    private void play() {
        try (stored) {
            ReceivedInterval interval = stored.next();
            while (interval != null && !isClosed) {
                final ReceivedInterval room = inbox.swap(interval);
                if (room == interval) {
                    LockSupport.parkNanos(WAIT_NS);
                } else {
                    stored.reuse(room);
                    interval = stored.next();
                }
            }
        } catch (final IOException | RuntimeException ex) {
            failure = ex.toString();
        } finally {
            isOver = true;
        }
    }

    /** {@return the failure; null if none} */
    public String failure() {
        return failure;
    }

    @Override
    public SenderAnswer take(final long intervalNumber) {
        boolean isLast = isOver;
        SenderAnswer answer = inbox.take(intervalNumber);
        while (answer == null && !isLast) {
            LockSupport.parkNanos(WAIT_NS);
            isLast = isOver;
            answer = inbox.take(intervalNumber);
        }
        return answer;
    }

    @Override
    public boolean isExpected(final long intervalNumber) {
        return false;
    }

    @Override
    public void giveBack(final SenderAnswer answer) {
        inbox.giveBack(answer);
    }

    @Override
    public void restart() {
        inbox.restart();
    }

    @Override
    public SenderAnswers answers(final int senderIndex) {
        return this;
    }

    @Override
    public SipHash hash() {
        return hash;
    }

    @Override
    public long answerDeadlineNs() {
        return config.exchange().deadlineNs();
    }

    @Override
    public IntervalMode mode() {
        return SharedSettings.intervalMode(config);
    }

    @Override
    public int mostFlows() {
        return SharedSettings.mostFlows(config);
    }

    @Override
    public long memoryBytes() {
        return memoryBytes;
    }

    @Override
    public void close() {
        isClosed = true;
    }
}
