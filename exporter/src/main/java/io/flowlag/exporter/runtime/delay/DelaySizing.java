package io.flowlag.exporter.runtime.delay;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.exact.ExactMatcherSettings;
import io.flowlag.exporter.delay.exact.SegmentFlows;
import io.flowlag.exporter.delay.interval.records.SketchRecords;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.quantile.QuantileSketch;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Sizes the settings of {@code delay} that have their defaults by its captures. Stateless; used on the command's thread. */
public final class DelaySizing {
    private static final long LONGEST_DELAY_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long SPARE_DELAY_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_INTERVAL_NS = TimeUnit.HOURS.toNanos(1);
    /** Longest silence of the other point. */
    private static final long SILENCE_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int DELAYS = 8;
    private static final int SPARE = 1024;
    private static final int MOST_RECONCILED = 24 << 20;
    private static final int MOST_CELLS = 2 << 20;
    private static final int LEAST_CELLS = 64 << 10;
    private static final int MOST_PENDING = 16 << 20;
    private static final int MOST_JOINT_FLOWS = 2 << 20;
    private static final int LEAST_COLUMNS = 16 << 10;
    /**
     * Two cells for each flow in four rows, so that flows alone in a cell can be decoded one after another (1.3 would suffice).
     */
    private static final int FLOWS_A_COLUMN = 2;
    /** Their sums are not sent here; with 1 % the share of valid bounds varies by some per cent between captures. */
    private static final int WITNESS_PPM = 30_000;
    /** Distributions use at most this fraction of the memory. */
    private static final int MEMORY_SHARES = 4;
    /** Flows with which the memory per flow is computed. */
    private static final int MANY = 64 * SPARE;
    /** Factor by which a part of the flows may exceed its share of packets. */
    private static final double UNEVEN = 1.5;

    private DelaySizing() {
    }

    /** {@return the default memory of {@code delay}: half of this host's, octets} */
    public static long defaultMemoryBytes() {
        return MemorySize.ofHost() / 2;
    }

    /**
     * Sizes the common settings and those of the estimators in use.
     *
     * @param wiring      names the estimators.
     * @param memoryBytes limit.
     * @return the configuration; the same if the captures were not read.
     */
    public static ExporterConfig of(
        final ExporterConfig config, final CaptureSurvey survey, final DelayWiring wiring, final long memoryBytes) {
        final long packets = survey.sentPackets() + survey.receivedPackets();
        if (packets == 0) {
            return config;
        }
        final int oneIn = wiring.captures().matchedOneIn();
        final int packetsNeeded = packetsUnderWay(config, survey, oneIn);
        final ExporterConfig timed = timed(config, survey, wiring.isSketched(), packetsNeeded);
        final long mostFlows = MeteringPipeline.cacheSettings(config, DelayStage.stateLengthBytes(wiring)).mostFlows();
        final long mostRecords = wiring.isSketched() ? SketchRecords.MAX_RECORDS / 2 : mostFlows;
        final long withoutFlows = MemoryPlan.tableBytes(timed.withFlows(SPARE, 0), wiring, false);
        final long bytesOfFlow = Math.max(1, (MemoryPlan.tableBytes(timed.withFlows(2 * MANY, 0), wiring, false) -
            MemoryPlan.tableBytes(timed.withFlows(MANY, 0), wiring, false)) / MANY);
        final long flowsMemory = wiring.isSketched() ? memoryBytes / 2 : memoryBytes - withoutFlows;
        final long flowsThatFit = Math.min(flowsMemory / bytesOfFlow, Math.min(mostFlows, mostRecords));
        final int maxFlows = (int)given(config, ConfigTable.MAX_FLOWS, config.metering().maxFlows(),
            Math.max(SPARE, Math.min(flows(config, survey), flowsThatFit)));
        if (wiring.isSketched()) {
            final long fitting = memoryBytes / MEMORY_SHARES / ExactMatcherSettings.MOST_PACKET_BYTES;
            final ExporterConfig spared = timed(
                config, survey, true, Math.max(packetsNeeded, Math.min(fitting, packetsWished(config, survey, oneIn))));
            return sketched(spared.withFlows(
                maxFlows, distributionBytes(config, survey, maxFlows, memoryBytes / MEMORY_SHARES)), survey, maxFlows);
        }
        final long left = Math.max(0, memoryBytes - withoutFlows - bytesOfFlow * maxFlows);
        final long remembered = packetsNeeded + left / 2 / ExactMatcherSettings.MOST_PACKET_BYTES;
        return timed(config, survey, false, Math.min(remembered, packetsWished(config, survey, oneIn)))
            .withFlows(maxFlows, distributionBytes(config, survey, maxFlows, Math.min(left / 2, memoryBytes / MEMORY_SHARES)));
    }

    private static long distributionBytes(
        final ExporterConfig config, final CaptureSurvey survey, final int maxFlows, final long mostBytes) {
        final long flows = Math.min(maxFlows, survey.receivedPackets() / config.quantiles().fromPackets() + 1);
        return given(config, ConfigTable.QUANTILES_MEMORY, config.quantiles().memoryBytes(),
            Math.min(flows * QuantileSketch.LENGTH_BYTES, mostBytes));
    }

    /** Logs the sizes of sketches in one line; for matching alone the maximum delay suffices. */
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
            chosen.add("sketches of " + sized.lds().shape().rows() + " rows and " + sized.lds().shape().columns() + " columns");
        }
        chosen.add((MemoryPlan.tableBytes(sized, wiring, false) >> 20) + " of " + (memoryBytes >> 20) +
            " MiB of memory (--memory)");
        out.println("derived from these captures: " + String.join(", ", chosen));
    }

    /**
     * How many flows can be matched. It is all flows if packets in flight, flows and the rest fit into the memory; else it is
     * halved until they fit. If even the flows do not fit, packets get half of the memory. Sums of flows and sketches would both
     * take more than twice as much, see {@code docs/exact.md}.
     *
     * @param config      of the process, with its threads.
     * @param wiring      names the estimators.
     * @param memoryBytes limit.
     * @return one flow in so many.
     */
    static int matchedOneIn(
        final ExporterConfig config, final CaptureSurvey survey, final DelayWiring wiring, final long memoryBytes) {
        int fitting = 1;
        while (fitting < SegmentFlows.MOST_ONE_IN && neededBytes(config, survey, wiring, fitting) > memoryBytes) {
            fitting *= 2;
        }
        if (neededBytes(config, survey, wiring, fitting) <= memoryBytes) {
            return fitting;
        }
        int oneIn = 1;
        while (oneIn < fitting && 2L * ExactMatcherSettings.MOST_PACKET_BYTES * packetsUnderWay(config, survey, oneIn) >
            memoryBytes) {
            oneIn *= 2;
        }
        return oneIn;
    }

    /** {@return octets for matching one flow in so many, without distributions; 0 if the captures were not read} */
    static long neededBytes(
        final ExporterConfig config, final CaptureSurvey survey, final DelayWiring wiring, final int oneIn) {
        return survey.sentPackets() + survey.receivedPackets() == 0 ? 0 : MemoryPlan.tableBytes(
            timed(config, survey, false, packetsUnderWay(config, survey, oneIn)).withFlows(
                (int)given(config, ConfigTable.MAX_FLOWS, config.metering().maxFlows(), flows(config, survey)), 0),
            wiring.withoutSketches().withCaptures(wiring.captures().matchingOneIn(oneIn)), false);
    }

    /** {@return room for flows, if memory allows} */
    private static long flows(final ExporterConfig config, final CaptureSurvey survey) {
        return Math.min(SegmentFlows.MAX_FLOWS,
            SPARE + (config.metering().extraKeyFields().isEmpty() ? 1 : 2) * survey.flowCount());
    }

    /** {@return packets of one maximum delay, of one flow in so many} */
    private static int packetsUnderWay(final ExporterConfig config, final CaptureSurvey survey, final int oneIn) {
        return ofShare(survey.times().mostWithin(maximumDelayNs(config, survey)), oneIn);
    }

    /**
     * {@return packets remembered, if memory allows: long enough to recognize copies, and while one point has no packets, as
     * before its capture begins, when packets of the other remain undecided}
     */
    private static int packetsWished(final ExporterConfig config, final CaptureSurvey survey, final int oneIn) {
        return ofShare(survey.mostAlone() +
            survey.times().mostWithin(Math.max(SILENCE_NS, DELAYS * maximumDelayNs(config, survey))), oneIn);
    }

    private static int ofShare(final long packets, final int oneIn) {
        return (int)Math.min(
            ExactMatcherSettings.MAX_PACKETS, SPARE + (oneIn == 1 ? packets : (long)(UNEVEN * packets / oneIn)));
    }

    private static long maximumDelayNs(final ExporterConfig config, final CaptureSurvey survey) {
        final long givenNs = config.segment().maximumDelayNs();
        return survey.digests().matched() == 0 ? givenNs : given(config, ConfigTable.MAXIMUM_DELAY, givenNs,
            Math.min(LONGEST_DELAY_NS, 2 * survey.digests().longestNs() + SPARE_DELAY_NS));
    }

    /** Sets the longest delay and the number of packets remembered for it. */
    private static ExporterConfig timed(
        final ExporterConfig config, final CaptureSurvey survey, final boolean isSketched, final long packets) {
        final ExporterConfig.Segment segment = config.segment();
        final long maximumDelayNs = maximumDelayNs(config, survey);
        final long intervalNs = given(
            config, ConfigTable.SEGMENT_INTERVAL, segment.intervalNs(),
            isSketched ? intervalNs(survey, Math.max(segment.intervalNs(), maximumDelayNs), config.metering().cutNs()) :
                segment.intervalNs());
        return config.with(segment.withTimes(maximumDelayNs, intervalNs, (int)given(
            config, ConfigTable.EXACT_PACKETS, segment.exactPackets(), packets)));
    }

    /** One interval for everything, if it can be remembered and repaired, and no record is cut; else the regular interval. */
    private static long intervalNs(final CaptureSurvey survey, final long leastNs, final long cutNs) {
        final long shortestNs = dividing(cutNs, leastNs);
        final long firstNs = survey.times().oldestNs();
        final long lastNs = survey.times().newestNs();
        if (Math.max(survey.sentPackets(), survey.receivedPackets()) > MOST_PENDING) {
            return shortestNs;
        }
        for (long lengthNs = SECOND_NS; lengthNs <= LONGEST_INTERVAL_NS; lengthNs += SECOND_NS) {
            if (lengthNs >= shortestNs && cutNs % lengthNs == 0 &&
                Math.floorDiv(firstNs, lengthNs) == Math.floorDiv(lastNs, lengthNs)) {
                return lengthNs;
            }
        }
        return shortestNs;
    }

    /**
     * The shortest time from a length on of which a cut is a multiple; that length without cuts, or if it is longer. A divisor or
     * its quotient is at most the root of the cut.
     */
    static long dividing(final long cutNs, final long lengthNs) {
        final long root = (long)Math.sqrt(cutNs);
        for (long divisor = lengthNs; divisor <= root; divisor++) {
            if (cutNs % divisor == 0) {
                return divisor;
            }
        }
        for (long parts = Math.min(root, cutNs / lengthNs); parts > 0; parts--) {
            if (cutNs % parts == 0) {
                return cutNs / parts;
            }
        }
        return lengthNs;
    }

    private static ExporterConfig sketched(final ExporterConfig config, final CaptureSurvey survey, final int maxFlows) {
        final ExporterConfig.Lds lds = config.lds();
        final ExporterConfig.Segment segment = config.segment();
        final long ofInterval = Math.min(
            Math.max(survey.sentPackets(), survey.receivedPackets()), survey.times().mostWithin(segment.intervalNs())) + SPARE;
        // A flow's packets are spread over several cells, so that lost ones spoil only some of them; a repair removes lost ones.
        final int vldaLength = (int)given(
            config, ConfigTable.LDS_VLDA, lds.shape().vldaLength(), config.reconcile().enabled() ? 1 : lds.shape().vldaLength());
        final int columns = (int)given(config, ConfigTable.LDS_COLUMNS, lds.shape().columns(), Math.min(
            SketchGeometry.MAX_CELLS / lds.shape().rows(), Math.max(LEAST_COLUMNS, maxFlows / FLOWS_A_COLUMN)));
        final int inFlight = (int)given(config, ConfigTable.LDS_IN_FLIGHT, lds.inFlightPackets(), Math.min(
            MOST_PENDING, survey.times().mostWithin(segment.maximumDelayNs()) + SPARE));
        final int waiting = (int)given(config, ConfigTable.LDS_WAITING, lds.waitingRecords(), Math.min(
            SketchRecords.MAX_RECORDS - maxFlows, maxFlows));
        final ExporterConfig.Joint joint = config.joint();
        final int jointFlows = (int)given(config, ConfigTable.JOINT_FLOWS, joint.maxFlows(), Math.min(
            Math.min(MOST_JOINT_FLOWS, maxFlows), Integer.MAX_VALUE / (lds.shape().rows() * vldaLength)));
        final int pending =
            (int)given(config, ConfigTable.JOINT_PENDING, joint.pendingPackets(), Math.min(MOST_PENDING, ofInterval));
        final long budgetNs = given(config, ConfigTable.JOINT_BUDGET, joint.budgetNs(), Long.MAX_VALUE);
        final ExporterConfig.Reconcile reconcile = config.reconcile();
        final long alone = survey.digests().lost() + survey.digests().unexpected();
        final int witnessPpm = (int)given(config, ConfigTable.LDS_WITNESSES, lds.witnessPpm(), WITNESS_PPM);
        return config.with(lds.withSizes(columns, vldaLength, inFlight, waiting, witnessPpm))
            .with(joint.withSizes(budgetNs, jointFlows, pending))
            .with(new ExporterConfig.Reconcile(
                reconcile.enabled(),
                (int)given(config, ConfigTable.RECONCILE_PACKETS, reconcile.packets(), Math.min(MOST_RECONCILED, ofInterval)),
                (int)given(config, ConfigTable.RECONCILE_CELLS, reconcile.cells(),
                    Math.min(MOST_CELLS, Math.max(LEAST_CELLS, 2 * alone + SPARE))), reconcile.waitNs()));
    }

    private static long given(final ExporterConfig config, final ConfigKey<?> key, final long given, final long derived) {
        return config.isDefault(key) ? derived : given;
    }
}
