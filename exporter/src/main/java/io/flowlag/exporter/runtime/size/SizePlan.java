package io.flowlag.exporter.runtime.size;

import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.Memory;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.sketch.image.SketchGeometry;

import java.util.ArrayList;
import java.util.List;

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
    /** The heap has a quarter of the memory, up to a limit: what is needed beside it is at most three quarters. */
    private static final long MOST_HEAP_BYTES = 512L << 20;

    /**
     * Plans.
     *
     * @param geometry of the sketch to set; null where sums of flows are sent, or the default does.
     */
    static SizePlan of(final SizeOptions options, final long flows, final long packets, final SketchGeometry geometry) {
        final List<String> keys = new ArrayList<>();
        final long maxFlows = Math.min(MOST_FLOWS, CACHED_INTERVALS * flows);
        final long remembered = Math.min(MOST_PACKETS, packets);
        if (options.intervalNs() != ConfigTable.SEGMENT_INTERVAL.defaultValue()) {
            keys.add("segment.interval: " + options.intervalNs() / 1_000_000 + "ms");
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
        try {
            final ExporterConfig config = new ConfigLoader().text("size", "segment.role: receiver\nexchange.listen: 8621\n" +
                "capture.interfaces: [eth0]\nmemory: 1024g\n" + String.join("\n", keys)).conclude(MemoryPlan::parts);
            final long besideBytes = Memory.of(config).parts().stream().filter((each) -> !each.name().equals(MemoryPlan.HEAP))
                .mapToLong(Memory.Part::bytes).sum();
            final long neededBytes = Math.min(besideBytes + MOST_HEAP_BYTES, besideBytes + besideBytes / 3);
            final ExporterConfig sized =
                config.with(new Memory(MemorySize.mebibytes(neededBytes) << 20, List.of()));
            return new SizePlan(keys, new Memory(Memory.of(sized).bytes(), MemoryPlan.parts(sized)), "");
        } catch (final ExitException | IllegalArgumentException ex) {
            return new SizePlan(keys, null, ex.getMessage());
        }
    }
}
