package io.flowlag.exporter.runtime;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.link.HeldSettings;
import io.flowlag.exporter.exchange.link.SharedSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;

/**
 * Settings common to the receiver of a capture file and the sender of its intervals: R = 4 rows, k = 1 cell of a flow in each,
 * all packets sampled, intervals of a second.
 */
public final class ReceiverConfig {
    /** Of the references' only session. */
    public static final int SESSION = 1;
    /** How long a measurement interval lasts, the program's default. */
    public static final long INTERVAL_NS = 1_000_000_000L;

    private static final long NS_PER_MILLISECOND = 1_000_000L;
    private static final String MAXIMUM_DELAY = "20ms";
    private static final UnsafeBuffer KEY = new UnsafeBuffer("sixteen of a key".getBytes(StandardCharsets.US_ASCII));
    private static final int RECEIVER_INSTANCE = 1;

    private ReceiverConfig() {
    }

    /** {@return the hash of packets and flows} */
    public static SipHash hash() {
        return SipHash.ofKey(KEY, 0);
    }

    /** The configuration of both. */
    public static ExporterConfig config(final int columns, final String file) {
        return new ConfigLoader().text("benchmark", String.join("\n",
            "metering: {max-flows: 2000000}",
            "segment: {interval: " + INTERVAL_NS / NS_PER_MILLISECOND + "ms, max-delay: " + MAXIMUM_DELAY + "}",
            "rli: {session: " + SESSION + "}",
            "lds: {rows: 4, vlda: 1, columns: " + columns + ", witnesses: 0}",
            "joint: {enabled: false}",
            "quantiles: {memory: 0}",
            "exporting: {destinations: ['file:" + file + "']}",
            "")).conclude();
    }

    /**
     * The receiver's settings for the sender.
     *
     * @param firstNs timestamp of the first packet.
     * @return settings that apply from the packet's interval on.
     */
    public static HeldSettings held(final ExporterConfig config, final long firstNs) {
        final ExchangeSettings settings =
            SharedSettings.of(config, KEY, 1, Math.floorDiv(firstNs, config.segment().intervalNs()));
        return new HeldSettings(RECEIVER_INSTANCE, settings);
    }
}
