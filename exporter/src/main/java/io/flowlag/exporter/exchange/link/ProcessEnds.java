package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.concurrent.EpochNanoClock;

import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What the ends of the exchange in one process share: a clock, the number of this run, by which other processes know that two
 * ends have one clock, and the delays of packets that receivers in other processes measured. Any thread.
 */
public final class ProcessEnds {
    private final EpochNanoClock clock;
    private final boolean areSeveral;
    private final long instance = new SecureRandom().nextLong();
    private final List<ExchangeReceiver> receivers = new CopyOnWriteArrayList<>();

    /** No ends yet; the clock is that of packets. */
    public ProcessEnds(final EpochNanoClock clock) {
        this(clock, false);
    }

    /** The same for a process that has several segments, or not. */
    public ProcessEnds(final EpochNanoClock clock, final boolean areSeveral) {
        this.clock = clock;
        this.areSeveral = areSeveral;
    }

    /** {@return what lines of the log about a segment begin with; empty for the only one} */
    public String name(final ExporterConfig segment) {
        return areSeveral ? segment.name().replace(".", ": ") : "";
    }

    EpochNanoClock clock() {
        return clock;
    }

    /** {@return the random number of this run of the process} */
    long instance() {
        return instance;
    }

    void add(final ExchangeReceiver receiver) {
        receivers.add(receiver);
    }

    /**
     * A process has measured the delay of a packet that this one sent to it.
     *
     * @param otherInstance of the other process.
     * @param sentNs        by this process's clock, ns since the epoch.
     * @param arrivedNs     by the other one's.
     */
    void onDelay(final long otherInstance, final long sentNs, final long arrivedNs) {
        for (final ExchangeReceiver each : receivers) {
            each.onWayBack(otherInstance, sentNs, arrivedNs);
        }
    }
}
