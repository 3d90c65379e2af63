package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.IntervalLoad;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.sketch.lds.LdsSizing;
import org.agrona.BitUtil;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.ToLongFunction;

/**
 * Chooses the shape of the sketches by the flows and losses of the last intervals, within the cells and the memory of the
 * configured shape. Each flow is in one cell of a row, and there are two cells a flow: then flows alone in a cell can be decoded
 * one after another. A change takes effect some ten seconds after the load has changed, so a minute without a change makes room
 * for ten times the flows; empty cells take neither cache nor bandwidth. While sums of flows are sent, which need no sketches, a
 * change would be of no use: there are the configured cells. Where lost packets stay in the cells, a flow spreads over as many
 * cells as configured, and rows sample; so do the banks of aggregators, by the losses of the class that loses most. Keys that are
 * given stay as they are. The second largest value counts, so that a single interval changes nothing. More takes effect at once,
 * less after a minute. Where metering or the solver falls behind, a packet enters fewer cells, step by step, before anything is
 * dropped: a flow spreads over one cell of a row, then there are fewer rows. One thread.
 */
final class ShapeControl {
    private static final List<ConfigKey<?>> KEYS = List.of(ConfigTable.LDS_ROWS, ConfigTable.LDS_COLUMNS, ConfigTable.LDS_VLDA,
        ConfigTable.LDS_RATES, ConfigTable.JOINT_FLOWS);
    private static final int CELLS_OF_FLOW = 2;
    /** Fewer would save nothing: these stay in a processor's cache. */
    private static final int LEAST_COLUMNS = 1024;
    private static final long CALM_NS = 60_000_000_000L;
    private static final int CALM_INTERVALS = 3;
    private static final double LOSS_STEP = 4;
    private static final long LARGEST_JOINT = 2 << 20;
    /** By how much the load may rise after a step down before the next step up; flows by so many times that. */
    private static final double SPARE = 1.25;
    /** More packets in usable cells for which banks sample by the losses: they narrow a bound by a twentieth. */
    private static final double MORE_USABLE = 1.1;
    private static final int ROOM = 8;
    /** More than a block of packets waits, and less than fills the rings. */
    private static final long MOST_LAG_NS = 200_000_000L;
    private static final double MOST_SOLVING = 0.75;
    private static final long LATE_NS = 5_000_000_000L;
    private static final long SLOW_NS = 30_000_000_000L;
    private static final long PRESSURE_CALM_NS = 10 * CALM_NS;
    private static final int MOST_LEVEL = 1 + Integer.numberOfTrailingZeros(SketchGeometry.MAX_ROWS);
    private static final double NS_PER_MS = 1e6;

    private final ToLongFunction<ExporterConfig> memory;
    private final long spareBytes;
    private final BooleanSupplier areBanksFixed;
    private ExporterConfig configured;
    private ExporterConfig current;
    private long sinceNs;
    private long endNs = Long.MIN_VALUE;
    private long flows;
    private long mostFlows;
    private double losses;
    private double mostLosses;
    private long classLost;
    private long mostClassLost;
    private boolean isSketched;
    /** Those that the shape in use is for. */
    private double shapeLosses;
    /** Steps taken by pressure, when the last one was, and by what. */
    private int level;
    private long pressureNs;
    private String pressure = "";
    private long slowSinceNs;
    private long lateSinceNs;

    /**
     * No traffic seen yet.
     *
     * @param configured    with the largest shape.
     * @param memory        of the sketches of a configuration, octets.
     * @param spareBytes    that they may take beyond the configured ones.
     * @param areBanksFixed whether an end of the exchange knows only the configured banks of aggregators.
     */
    ShapeControl(
        final ExporterConfig configured, final ToLongFunction<ExporterConfig> memory, final long spareBytes,
        final BooleanSupplier areBanksFixed) {
        this.memory = memory;
        this.spareBytes = spareBytes;
        this.areBanksFixed = areBanksFixed;
        begin(configured);
    }

    private void begin(final ExporterConfig newer) {
        configured = newer;
        current = newer;
        level = 0;
        forgetPressure();
        shapeLosses = 0;
        forget();
    }

    private void forget() {
        endNs = Long.MIN_VALUE;
        flows = 0;
        mostFlows = 0;
        losses = 0;
        mostLosses = 0;
        classLost = 0;
        mostClassLost = 0;
        isSketched = false;
    }

    /**
     * Looks at the last compared interval of each sender.
     *
     * @param config in use.
     * @param lagNs  by which metering is behind.
     * @return the configuration with another shape; null if the shape suits the load.
     */
    ExporterConfig look(final ExporterConfig config, final List<IntervalLoad> loads, final long lagNs) {
        if (config.lds().aggregatorZeros() > 0 && areBanksFixed.getAsBoolean()) {
            pressure = "a sender of an older version knows no other banks of aggregators";
            return with(config, flows, shapeLosses, false);
        }
        final long newestNs = loads.stream().mapToLong(IntervalLoad::endNs).max().orElse(endNs);
        if (newestNs == endNs || config.exchange().mode() == ExporterConfig.ExchangeMode.FLOWS) {
            return null;
        }
        if (!isSame(config, current) || !areSameKeysFree(config)) {
            begin(config);
        }
        if (newestNs < endNs) {
            forgetPressure();
        }
        if (newestNs < endNs || endNs == Long.MIN_VALUE) {
            forget();
            sinceNs = newestNs;
        }
        endNs = newestNs;
        final long staleNs = newestNs - CALM_INTERVALS * config.segment().intervalNs();
        add(loads.stream().filter((each) -> each.endNs() > staleNs).toList());
        if (isBehind(config, loads, lagNs)) {
            pressureNs = endNs;
            return lighter(config);
        }
        if (level > 0 && (endNs < pressureNs || endNs - pressureNs >= PRESSURE_CALM_NS)) {
            pressureNs = endNs;
            level--;
        }
        shapeLosses = Math.max(shapeLosses, losses);
        final ExporterConfig wanted = with(config, flows, shapeLosses, false);
        if (isMore(wanted, config) || wanted.lds().shape().vldaLength() != config.lds().shape().vldaLength()) {
            return wanted;
        }
        if (endNs - sinceNs < Math.max(CALM_NS, CALM_INTERVALS * config.segment().intervalNs())) {
            return null;
        }
        shapeLosses = losses;
        final ExporterConfig calm = with(config, (long)(flows * SPARE), losses * SPARE, true);
        if (isSame(calm, config) ||
            isMore(calm, config) && calm.lds().shape().columns() <= config.lds().shape().columns()) {
            forget();
            return null;
        }
        return calm;
    }

    private void add(final List<IntervalLoad> loads) {
        isSketched |= loads.stream().anyMatch(IntervalLoad::isSketched);
        final long newFlows = loads.stream().mapToLong(IntervalLoad::flows).max().orElse(0);
        flows = Math.max(flows, Math.min(mostFlows, newFlows));
        mostFlows = Math.max(mostFlows, newFlows);
        final double newLosses =
            loads.stream().mapToDouble((each) -> each.lossShare() * each.largestPackets()).max().orElse(0);
        losses = Math.max(losses, Math.min(mostLosses, newLosses));
        mostLosses = Math.max(mostLosses, newLosses);
        final long newClassLost = loads.stream().mapToLong(IntervalLoad::classLost).max().orElse(0);
        classLost = Math.max(classLost, Math.min(mostClassLost, newClassLost));
        mostClassLost = Math.max(mostClassLost, newClassLost);
    }

    /** The configuration in which a packet enters fewer cells; null if it enters the fewest. */
    private ExporterConfig lighter(final ExporterConfig config) {
        final ExporterConfig.Shape before = config.lds().shape();
        final int reached = level;
        while (level < MOST_LEVEL) {
            level++;
            final ExporterConfig lighter = with(config, mostFlows, Math.max(mostLosses, shapeLosses), false);
            final ExporterConfig.Shape after = lighter.lds().shape();
            if (after.rows() < before.rows() || after.rows() == before.rows() && after.vldaLength() < before.vldaLength()) {
                return lighter;
            }
        }
        level = reached;
        return null;
    }

    private boolean isBehind(final ExporterConfig config, final List<IntervalLoad> loads, final long lagNs) {
        final long solvingNs = loads.stream().mapToLong(IntervalLoad::solvingNs).max().orElse(0);
        final boolean isSlowNow = solvingNs > MOST_SOLVING * config.segment().intervalNs();
        slowSinceNs = isSlowNow ? Math.min(slowSinceNs, endNs) : Long.MAX_VALUE;
        lateSinceNs = lagNs > MOST_LAG_NS ? Math.min(lateSinceNs, endNs) : Long.MAX_VALUE;
        final boolean isLate = endNs - LATE_NS >= lateSinceNs;
        final boolean isBehind = isLate || endNs - SLOW_NS >= slowSinceNs;
        pressure = !isBehind ? "" : isLate ? milliseconds("metering is behind by", lagNs) :
            milliseconds("the solution of an interval takes", solvingNs);
        if (isBehind) {
            forgetPressure();
        }
        return isBehind;
    }

    private void forgetPressure() {
        slowSinceNs = Long.MAX_VALUE;
        lateSinceNs = Long.MAX_VALUE;
    }

    private static String milliseconds(final String text, final long ns) {
        return String.format(Locale.ROOT, "%s %.0f ms", text, ns / NS_PER_MS);
    }

    /** {@return why the configuration from {@link #look} has another shape} */
    String reason() {
        return !pressure.isEmpty() ? pressure : flows + " flows in an interval" +
            (losses == 0 ? "" : String.format(Locale.ROOT, ", the largest loses %.0f packets", losses)) +
            (classLost == 0 ? "" : ", a class loses " + classLost);
    }

    /** The configuration from {@link #look} was applied. */
    void reached(final ExporterConfig config) {
        current = config;
        forget();
    }

    /** It cannot be applied: the next attempt needs new evidence. */
    void refused() {
        forget();
    }

    /** A reload keeps the shape, unless the configured one has changed. Returns the configuration with the shape that applies. */
    ExporterConfig keep(final ExporterConfig newer) {
        return isSame(newer, configured) && areSameKeysFree(newer) ?
            withJointFlows(newer.with(current.lds()), current.joint().maxFlows()) : newer;
    }

    private boolean areSameKeysFree(final ExporterConfig config) {
        return KEYS.stream().allMatch((each) -> config.isDefault(each) == isFree(each));
    }

    static boolean isSame(final ExporterConfig one, final ExporterConfig other) {
        return one.lds().equals(other.lds()) && one.joint().maxFlows() == other.joint().maxFlows();
    }

    /** The configuration with the shape for flows, and for the packets that the largest of them loses; calm after a minute. */
    private ExporterConfig with(
        final ExporterConfig config, final long ofFlows, final double ofLosses, final boolean isCalm) {
        final ExporterConfig.Lds lds = configured.lds();
        final int rows = !isFree(ConfigTable.LDS_ROWS) || !lds.ratesPpm().isEmpty() || level < 2 ? lds.shape().rows() :
            Math.max(1, lds.shape().rows() >> level - 1);
        // In steps, so that a small change of the load changes nothing.
        final boolean isLossy = ofLosses >= 1;
        final double lost = isLossy ? Math.pow(LOSS_STEP, Math.ceil(Math.log(ofLosses) / Math.log(LOSS_STEP))) : 0;
        int vldaLength = isLossy ? lds.shape().vldaLength() : config.lds().shape().vldaLength();
        if (isFree(ConfigTable.LDS_VLDA) &&
            (level > 0 || !isLossy && (isCalm || CELLS_OF_FLOW * vldaLength * ofFlows > lds.shape().columns()))) {
            vldaLength = 1;
        }
        final boolean isColumnsFree = isFree(ConfigTable.LDS_COLUMNS) && !isLossy;
        final long needed = CELLS_OF_FLOW * vldaLength * ofFlows * (isCalm ? ROOM : 1) / rows;
        final long least = BitUtil.findNextPositivePowerOfTwo(Math.max(LEAST_COLUMNS, needed));
        final long before = config.lds().shape().columns();
        // Half as many would save nothing: a load that varies around a power of two changes nothing.
        final long columns = !isColumnsFree || isCalm && !isSketched ? lds.shape().columns() :
            Math.min(lds.shape().columns(), isCalm && 2 * least < before ? least : Math.max(least, before));
        final List<Integer> ratesPpm = !isFree(ConfigTable.LDS_RATES) || lost <= vldaLength || rows == 1 ? lds.ratesPpm() :
            Arrays.stream(LdsSizing.rates(rows, vldaLength, lost)).boxed().toList();
        return withJoint(config.with(new ExporterConfig.Lds(
            lds.enabled(), new ExporterConfig.Shape(rows, (int)columns, vldaLength), ratesPpm, lds.weights(), lds.alpha(),
            lds.aggregatorCells(), aggregatorZeros(config.lds(), isCalm), lds.inFlightPackets(), lds.waitingRecords(),
            lds.witnessPpm())), ofFlows);
    }

    /**
     * The zeros for which most packets of the class that loses most are in usable cells. Banks that stand any losses stay, or
     * return after a minute, where others are little better.
     */
    private int aggregatorZeros(final ExporterConfig.Lds lds, final boolean isCalm) {
        if (areBanksFixed.getAsBoolean()) {
            return 0;
        }
        final double lost = classLost * (isCalm ? SPARE : 1);
        final int before = lds.aggregatorZeros();
        double least = MORE_USABLE * usableShare(lds, 0, lost);
        int best = 0;
        for (int zeros = 1; least < 1 && zeros <= IntervalSettings.Cells.MOST_ZEROS; zeros++) {
            final double share = usableShare(lds, zeros, lost);
            best = share > least ? zeros : best;
            least = Math.max(least, share);
        }
        return isCalm ? Math.min(best, before) : Math.max(best, before);
    }

    private static double usableShare(final ExporterConfig.Lds lds, final int zeros, final double lost) {
        return LdaTuning.usableShare(IntervalSettings.Cells.aggregator(lds.aggregatorCells(), zeros), lost);
    }

    /** The configuration with room for flows that are solved, as far as the memory goes. */
    private ExporterConfig withJoint(final ExporterConfig config, final long ofFlows) {
        final int least = configured.joint().maxFlows();
        ExporterConfig fitting = withJointFlows(config, least);
        for (long most = 2L * least; isFree(ConfigTable.JOINT_FLOWS) && most < 2 * ofFlows && most <= LARGEST_JOINT; most *= 2) {
            final ExporterConfig larger = withJointFlows(config, (int)most);
            fitting = memory.applyAsLong(larger) <= memory.applyAsLong(configured) + spareBytes ? larger : fitting;
        }
        return fitting;
    }

    private static ExporterConfig withJointFlows(final ExporterConfig config, final int maxFlows) {
        final ExporterConfig.Joint joint = config.joint();
        return config.with(joint.withSizes(joint.budgetNs(), maxFlows, joint.pendingPackets()));
    }

    private boolean isFree(final ConfigKey<?> key) {
        return configured.isDefault(key);
    }

    /** Whether a shape holds more flows, or stands more losses, than another. */
    private static boolean isMore(final ExporterConfig one, final ExporterConfig other) {
        return one.lds().shape().columns() > other.lds().shape().columns() ||
            leastRatePpm(one) < leastRatePpm(other) || one.lds().aggregatorZeros() > other.lds().aggregatorZeros() ||
            one.joint().maxFlows() > other.joint().maxFlows();
    }

    private static int leastRatePpm(final ExporterConfig config) {
        return config.lds().ratesPpm().stream().mapToInt(Integer::intValue).min().orElse(ExchangeSettings.PPM);
    }
}
