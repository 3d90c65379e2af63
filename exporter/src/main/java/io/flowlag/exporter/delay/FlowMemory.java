package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.rli.path.FlowPaths;

import java.util.List;

/**
 * Memory of flows that the stages of several segments share, because a flow arrives in one of them: paths and distributions. The
 * metering thread owns it. Allocates at construction, off the heap.
 */
final class FlowMemory {
    private final FlowPaths paths;
    private final FlowDistributions distributions;
    private final List<SenderSketches> earlier;

    /** For the stages of a process; settings of the process are those of any segment. */
    FlowMemory(final ExporterConfig config, final List<DelayWiring> wirings) {
        this(config, wirings, List.of());
    }

    /** For one of several shards, with the sketches of those before it, whose first has the records of all. */
    FlowMemory(final ExporterConfig config, final List<DelayWiring> wirings, final List<SenderSketches> earlier) {
        this.earlier = earlier;
        paths = new FlowPaths(OffHeapBuffer.allocateUntouched((int)pathBytes(config, wirings)));
        distributions = new FlowDistributions(quantiles(config, wirings));
    }

    /** {@return paths of flows for a receiver of references; none where these are packets of the traffic} */
    FlowPaths paths(final ReferenceMode mode) {
        return mode.isTraffic() ? new FlowPaths(0) : paths;
    }

    /** {@return the sketches of the shards before this one} */
    List<SenderSketches> earlier() {
        return earlier;
    }

    /** {@return distributions for a stage, which counts its own} */
    FlowDistributions distributions() {
        return distributions.shared();
    }

    private static long pathBytes(final ExporterConfig config, final List<DelayWiring> wirings) {
        return FlowPaths.memoryBytes(wirings.stream().anyMatch((each) ->
            DelayParts.isInterpolated(each) && !each.references().mode().isTraffic()) ?
            config.metering().maxFlows() + waiting(config, wirings) : 0);
    }

    /** {@return flows that have ended and whose records wait for their sketches} */
    private static int waiting(final ExporterConfig config, final List<DelayWiring> wirings) {
        return wirings.stream().anyMatch(DelayWiring::isSketched) ? config.lds().waitingRecords() : 0;
    }

    private static ExporterConfig.Quantiles quantiles(final ExporterConfig config, final List<DelayWiring> wirings) {
        final boolean isReceiver = wirings.stream().anyMatch((each) -> each.role().isReceiver());
        return isReceiver ? config.quantiles() : new ExporterConfig.Quantiles(0, config.quantiles().fromPackets(), 0);
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final ExporterConfig config, final List<DelayWiring> wirings) {
        return pathBytes(config, wirings) + FlowDistributions.memoryBytes(quantiles(config, wirings));
    }
}
