package io.flowlag.exporter.runtime.size;

import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Memory;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.sketch.image.SketchGeometry;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The keys of a receiver for a load, and the memory that {@code run} needs with them, by its own code. Immutable.
 *
 * @param keys  lines of its file, without the memory; none where the defaults do.
 * @param memory by its parts; null if one process cannot hold the load.
 * @param fault  why not; empty if it can.
 */
record SizePlan(List<String> keys, Memory memory, String fault) {
    /** The cache keeps flows until their timeout; an interval has a quarter of them. */
    private static final int CACHED_INTERVALS = 4;
    private static final long MOST_FLOWS = 8L << 20;
    private static final long MOST_PACKETS = 24L << 20;
    /** Bounds are tried in steps of this many MiB, up to so many of them. */
    private static final int STEP_MIB = 16;
    private static final int MOST_STEPS = 1 << 16;
    private static final long NS_PER_MS = 1_000_000;
    /** Shorter intervals need a shorter deadline of the exchange: that and the longest delay take at most six of them. */
    private static final long SHORT_MS = 600;
    private static final long MAXIMUM_DELAY_MS = 200;
    private static final long DEADLINE_INTERVALS = 4;

    /**
     * Plans.
     *
     * @param geometry of the sketch to set; null where sums of flows are sent.
     */
    static SizePlan of(final SizeOptions options, final long flows, final long packets, final SketchGeometry geometry) {
        final List<String> keys = new ArrayList<>();
        final long maxFlows = Math.min(MOST_FLOWS, CACHED_INTERVALS * flows);
        final long remembered = options.lossRate() == 0 ? 0 : Math.min(MOST_PACKETS, packets);
        final long intervalMs = options.intervalNs() / NS_PER_MS;
        if (options.intervalNs() != ConfigTable.SEGMENT_INTERVAL.defaultValue()) {
            keys.add("segment.interval: " + intervalMs + "ms");
        }
        if (intervalMs < SHORT_MS) {
            keys.add("segment.max-delay: " + Math.min(MAXIMUM_DELAY_MS, intervalMs) + "ms");
            keys.add("exchange.deadline: " + DEADLINE_INTERVALS * intervalMs + "ms");
        }
        if (options.bandwidthBps() > 0) {
            keys.add("exchange.bandwidth: " + options.bandwidthBps());
        }
        if (maxFlows > ConfigTable.MAX_FLOWS.defaultValue()) {
            keys.add("metering.max-flows: " + maxFlows);
        }
        if (remembered > ConfigTable.RECONCILE_PACKETS.defaultValue()) {
            keys.add("reconcile.packets: " + remembered);
        }
        if (geometry != null) {
            keys.add("lds.rows: " + geometry.rows());
            keys.add("lds.columns: " + geometry.columns());
            keys.add("lds.vlda: " + geometry.vldaLength());
            keys.add("lds.rates: [" + SizeProcess.rates(geometry) + "]");
        }
        final Predicate<ExporterConfig> isEnough = (config) -> config.metering().maxFlows() >= maxFlows &&
            config.joint().maxFlows() >= maxFlows / CACHED_INTERVALS && config.reconcile().packets() >= remembered;
        if (CACHED_INTERVALS * flows > MOST_FLOWS) {
            return new SizePlan(keys, null, "it has more than " + MOST_FLOWS / CACHED_INTERVALS + " flows in an interval");
        }
        try {
            // Sizes rise with the memory, so the least that is enough is found by halving.
            ExporterConfig enough = config(keys, MOST_STEPS);
            int most = MOST_STEPS;
            for (int least = 0; most - least > 1;) {
                final int middle = (least + most) / 2;
                final ExporterConfig tried = triedConfig(keys, middle);
                if (tried != null && isEnough.test(tried)) {
                    enough = tried;
                    most = middle;
                } else {
                    least = middle;
                }
            }
            return new SizePlan(keys, Memory.of(enough), "");
        } catch (final ExitException | IllegalArgumentException ex) {
            return new SizePlan(keys, null, ex.getMessage().lines().findFirst().orElse(""));
        }
    }

    /** {@return a configuration with a bound; null if its sizes do not fit} */
    private static ExporterConfig triedConfig(final List<String> keys, final int steps) {
        try {
            return config(keys, steps);
        } catch (final ExitException ex) {
            return null;
        }
    }

    private static ExporterConfig config(final List<String> keys, final int steps) {
        return new ConfigLoader().text("size", "segment.role: receiver\nexchange.listen: 8621\ncapture.interfaces: [eth0]\n" +
            "memory: " + steps * STEP_MIB + "m\n" + String.join("\n", keys)).conclude(MemoryPlan::parts);
    }
}
