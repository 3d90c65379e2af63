package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayMeter;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.match.ExactMatcherContext;
import io.flowlag.exporter.sketching.SketchRecords;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.quantile.QuantileSketch;

import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Sizes {@code delay} by what its captures hold, as far as the user has not. Has no state; used on the command's thread.
 */
final class DelaySizing {
    private static final long LONGEST_DELAY_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long SPARE_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_INTERVAL_NS = TimeUnit.HOURS.toNanos(1);
    /** The other point's packets may stay away for a while. */
    private static final long SILENCE_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int DELAYS = 8;
    private static final int SPARE = 1024;
    /** What a packet takes that is waited for or remembered, at most. */
    private static final int PACKET_BYTES = 112;
    private static final int MOST_RECONCILED = 24 << 20;
    private static final int MOST_CELLS = 2 << 20;
    private static final int LEAST_CELLS = 64 << 10;
    private static final int MOST_PENDING = 16 << 20;
    private static final int MOST_JOINT_FLOWS = 2 << 20;
    private static final int LEAST_COLUMNS = 16 << 10;
    /** Two cells for each flow in four rows: flows that are alone in a cell can be taken out one after another (1.3 would do). */
    private static final int FLOWS_A_COLUMN = 2;
    /** Their sums cross no wire here, and with 1 % the share of bounds that hold differs by some per cent between captures. */
    private static final int WITNESS_PPM = 30_000;
    /** What is not for flows, packets and distributions. */
    private static final int MEMORY_SHARES = 4;

    private DelaySizing() {
    }

    /** {@return what {@code delay} may take of this host's memory unless told otherwise: half of it, octets} */
    static long defaultMemoryBytes() {
        final var system =
            (com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean();
        return system.getTotalMemorySize() / 2;
    }

    /**
     * Sizes what every estimator needs, and those that are used.
     *
     * @param config      of the process.
     * @param survey      of the captures.
     * @param wiring      says what is measured by.
     * @param memoryBytes that may be taken.
     * @return the configuration; the same if the captures were not read.
     */
    static ExporterConfig of(
        final ExporterConfig config, final CaptureSurvey survey, final DelayWiring wiring, final long memoryBytes) {
        final long packets = survey.sentPackets() + survey.receivedPackets();
        if (packets == 0) {
            return config;
        }
        final ExporterConfig timed = timed(config, survey, wiring.isSketched(), memoryBytes);
        final int keys = config.metering().extraKeyFields().isEmpty() ? 1 : 2;
        final long mostFlows = MeteringPipeline.cacheContext(config)
            .stateLengthBytes(DelayMeter.stateLengthBytes(wiring)).mostFlows();
        final long mostRecords = wiring.isSketched() ? SketchRecords.MAX_RECORDS / 2 : mostFlows;
        final long flows = SPARE + keys * survey.flowCount();
        final long flowBytes = MeteringPipeline.memoryBytes(timed.withFlows(SPARE, 0), wiring, false);
        final long bytesOfFlow = Math.max(
            1, (MeteringPipeline.memoryBytes(timed.withFlows(2 * SPARE, 0), wiring, false) - flowBytes) / SPARE);
        final long fittingFlows = Math.min(flows, memoryBytes / 2 / bytesOfFlow);
        final int maxFlows = (int)given(config, ConfigTable.MAX_FLOWS, config.metering().maxFlows(),
            Math.max(SPARE, Math.min(fittingFlows, Math.min(mostFlows, mostRecords))));
        final long distributions = Math.min(
            Math.min(maxFlows, survey.receivedPackets() / config.quantiles().fromPackets() + 1) * QuantileSketch.LENGTH_BYTES,
            memoryBytes / MEMORY_SHARES);
        final ExporterConfig sized = timed.withFlows(
            maxFlows, given(config, ConfigTable.QUANTILES_MEMORY, config.quantiles().memoryBytes(), distributions));
        return wiring.isSketched() ? sketched(sized, survey, maxFlows) : sized;
    }

    /** Says what was chosen for sketches, in one line; of matching alone the maximum delay tells all. */
    static void print(
        final ExporterConfig sized, final CaptureSurvey survey, final DelayWiring wiring, final long memoryBytes,
        final PrintStream out) {
        if (!wiring.isSketched() || survey.sentPackets() + survey.receivedPackets() == 0) {
            return;
        }
        final List<String> chosen = new ArrayList<>();
        if (sized.isDefault(ConfigTable.SEGMENT_INTERVAL)) {
            chosen.add(String.format(Locale.ROOT, "intervals of %.1f s", sized.segment().intervalNs() / (double)SECOND_NS));
        }
        if (sized.isDefault(ConfigTable.LDS_COLUMNS)) {
            chosen.add("sketches of " + sized.lds().rows() + " rows and " + sized.lds().columns() + " columns");
        }
        chosen.add((MeteringPipeline.memoryBytes(sized, wiring, false) >> 20) + " of " + (memoryBytes >> 20) +
            " MiB of memory (--memory)");
        out.println("derived from these captures: " + String.join(", ", chosen));
    }

    /** {@return octets of the packets that matching has to remember; 0 if the captures were not read} */
    static long matchingBytes(final ExporterConfig config, final CaptureSurvey survey) {
        if (survey.sentPackets() + survey.receivedPackets() == 0) {
            return 0;
        }
        final long maximumDelayNs = timed(config, survey, false, 0).segment().maximumDelayNs();
        final int packets =
            (int)Math.min(ExactMatcherContext.MAX_PACKETS, survey.times().mostWithin(maximumDelayNs) + SPARE);
        return new ExactMatcherContext().maxPackets(packets).memoryBytes();
    }

    /** How long packets are waited for, and how many may be remembered for that. */
    private static ExporterConfig timed(
        final ExporterConfig config, final CaptureSurvey survey, final boolean isSketched, final long memoryBytes) {
        final ExporterConfig.Segment segment = config.segment();
        final long longestNs = survey.digests().longestNs();
        final long maximumDelayNs = survey.digests().matched() == 0 ? segment.maximumDelayNs() : given(
            config, ConfigTable.MAXIMUM_DELAY, segment.maximumDelayNs(),
            Math.min(LONGEST_DELAY_NS, 2 * longestNs + SPARE_DELAY_NS));
        final long intervalNs = given(
            config, ConfigTable.SEGMENT_INTERVAL, segment.intervalNs(),
            isSketched ? intervalNs(survey, Math.max(segment.intervalNs(), maximumDelayNs)) : segment.intervalNs());
        final long remembered = survey.times().mostWithin(Math.max(SILENCE_NS, DELAYS * maximumDelayNs)) + SPARE;
        // While one point has no packet, as before its capture begins, nothing is decided of the other's.
        final long fitting = memoryBytes / MEMORY_SHARES / PACKET_BYTES;
        final long alone = Math.min(survey.mostAlone(), Math.max(0, fitting - remembered));
        return config.withSegment(segment.withTimes(maximumDelayNs, intervalNs, (int)given(
            config, ConfigTable.EXACT_PACKETS, segment.exactPackets(),
            Math.min(ExactMatcherContext.MAX_PACKETS, remembered + alone))));
    }

    /** All in one interval, where that can be remembered and repaired; else intervals as they are. */
    private static long intervalNs(final CaptureSurvey survey, final long shortestNs) {
        final long firstNs = survey.times().oldestNs();
        final long lastNs = survey.times().newestNs();
        if (Math.max(survey.sentPackets(), survey.receivedPackets()) > MOST_PENDING) {
            return shortestNs;
        }
        for (long lengthNs = SECOND_NS; lengthNs <= LONGEST_INTERVAL_NS; lengthNs += SECOND_NS) {
            if (lengthNs >= shortestNs && Math.floorDiv(firstNs, lengthNs) == Math.floorDiv(lastNs, lengthNs)) {
                return lengthNs;
            }
        }
        return shortestNs;
    }

    private static ExporterConfig sketched(final ExporterConfig config, final CaptureSurvey survey, final int maxFlows) {
        final ExporterConfig.Lds lds = config.lds();
        final ExporterConfig.Segment segment = config.segment();
        final long ofInterval = Math.min(
            Math.max(survey.sentPackets(), survey.receivedPackets()), survey.times().mostWithin(segment.intervalNs())) + SPARE;
        // A flow's packets spread over several cells for lost ones to spoil only some of them; a repair takes lost ones out.
        final int vldaLength = (int)given(
            config, ConfigTable.LDS_VLDA, lds.vldaLength(), config.reconcile().enabled() ? 1 : lds.vldaLength());
        final int columns = (int)given(config, ConfigTable.LDS_COLUMNS, lds.columns(), Math.min(
            SketchGeometry.MAX_CELLS / lds.rows(), Math.max(LEAST_COLUMNS, maxFlows / FLOWS_A_COLUMN)));
        final int inFlight = (int)given(config, ConfigTable.LDS_IN_FLIGHT, lds.inFlightPackets(), Math.min(
            MOST_PENDING, survey.times().mostWithin(segment.maximumDelayNs()) + SPARE));
        final int waiting = (int)given(config, ConfigTable.LDS_WAITING, lds.waitingRecords(), Math.min(
            SketchRecords.MAX_RECORDS - maxFlows, maxFlows));
        final ExporterConfig.Joint joint = config.joint();
        final int jointFlows = (int)given(config, ConfigTable.JOINT_FLOWS, joint.maxFlows(), Math.min(
            Math.min(MOST_JOINT_FLOWS, maxFlows), Integer.MAX_VALUE / (lds.rows() * vldaLength)));
        final int pending =
            (int)given(config, ConfigTable.JOINT_PENDING, joint.pendingPackets(), Math.min(MOST_PENDING, ofInterval));
        final long budgetNs = given(config, ConfigTable.JOINT_BUDGET, joint.budgetNs(), Long.MAX_VALUE);
        final ExporterConfig.Reconcile reconcile = config.reconcile();
        final long alone = survey.digests().lost() + survey.digests().unexpected();
        final int witnessPpm = (int)given(config, ConfigTable.LDS_WITNESSES, lds.witnessPpm(), WITNESS_PPM);
        return config.withLds(lds.withSizes(columns, vldaLength, inFlight, waiting, witnessPpm))
            .withJoint(joint.withSizes(budgetNs, jointFlows, pending))
            .withReconcile(new ExporterConfig.Reconcile(
                reconcile.enabled(),
                (int)given(config, ConfigTable.RECONCILE_PACKETS, reconcile.packets(), Math.min(MOST_RECONCILED, ofInterval)),
                (int)given(config, ConfigTable.RECONCILE_CELLS, reconcile.cells(),
                    Math.min(MOST_CELLS, Math.max(LEAST_CELLS, 2 * alone + SPARE))), reconcile.waitNs()));
    }

    private static long given(final ExporterConfig config, final ConfigKey<?> key, final long given, final long derived) {
        return config.isDefault(key) ? derived : given;
    }
}
