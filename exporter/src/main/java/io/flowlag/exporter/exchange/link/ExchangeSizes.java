package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.interval.SenderAnswers;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.repair.ReconcilePrice;
import io.flowlag.exporter.exchange.wire.ExchangePrice;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.function.ObjLongConsumer;

/** What the ends of an exchange take once they are open, by the same formulas. Stateless. */
public final class ExchangeSizes {
    private static final int KEY_BYTES = 16;

    private ExchangeSizes() {
    }

    /** {@return a link of the sizes that a receiver's configuration gives it} */
    public static ReceiverLink receiver(final ExporterConfig config) {
        return new Closed(config);
    }

    /**
     * What a sender takes: the least {@code exchange.memory} with which it refuses nothing.
     *
     * @param sender   its configuration.
     * @param receiver whose settings it gets.
     * @return octets.
     */
    public static long senderBytes(final ExporterConfig sender, final ExporterConfig receiver) {
        return ExchangeSender.memoryBytes(sender, settings(receiver));
    }

    /**
     * What an interval takes on the wire at most, if no packet is lost.
     *
     * @param flows of the interval at most.
     * @return octets.
     */
    public static long intervalBytes(final ExporterConfig receiver, final long flows) {
        final ExchangeSettings settings = settings(receiver);
        final long cells =
            ExchangePrice.cellsBytes(settings.sketches()) + ExchangePrice.witnessBytes(ExchangePrice.witnesses(flows));
        final long sums = ExchangePrice.flowsBytes(Math.min(flows, settings.content().mostFlows()));
        return (receiver.reconcile().enabled() ? ReconcilePrice.exchangeBytes(0) : 0) + switch (settings.mode()) {
            case CELLS -> cells;
            case FLOWS -> sums;
            case AUTO -> flows > settings.content().mostFlows() ? Math.max(sums, cells) : sums;
        };
    }

    private static ExchangeSettings settings(final ExporterConfig receiver) {
        return SharedSettings.of(receiver, new UnsafeBuffer(new byte[KEY_BYTES]), 1, 0);
    }

    /** Of a receiver that is not open: it has sizes, and nothing arrives. */
    private record Closed(ExporterConfig config) implements ReceiverLink {
        @Override
        public long memoryBytes() {
            return ExchangeReceiver.memoryBytes(config, settings(config));
        }

        @Override
        public SenderAnswers answers(final int senderIndex) {
            throw new IllegalStateException("the link is not open");
        }

        @Override
        public SipHash hash() {
            return new SipHash(0, 0);
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
        public int takeSendTimes(final int senderIndex, final SendTimeHandler handler) {
            return 0;
        }

        @Override
        public int errorEstimate(final int senderIndex) {
            return 0;
        }

        @Override
        public void senderCounters(final int senderIndex, final ObjLongConsumer<String> consumer) {
            // nothing was counted
        }
    }
}
