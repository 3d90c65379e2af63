package io.flowlag.exporter.listing;

import java.util.function.LongBinaryOperator;

/**
 * The sum of some records. With n packets measured, mean m, deviation s and bound h of each record:
 * <pre>
 *   mean        Σ n m / Σ n
 *   bound       Σ n h / Σ n, which needs no independent errors
 *   deviation²  Σ [(n − 1) s² + n (m − mean)²] / (Σ n − 1), the divisor of records too
 * </pre>
 * A sum is unknown if one of its records does not know its part, but for the loss, which is a lower bound then. Mean, bound and
 * deviation are of the records with a mean, and {@code measured} says how many packets these have; a mean without a measured
 * packet, as all may be lost ones' twins, has no weight. Quantiles of several records do not add up and are unknown. One thread.
 */
public final class RowGroup {
    private final RowKey key;
    private FlowRow only;
    private long flows;
    private Long packets = 0L;
    private Long octets = 0L;
    private long startNs = Long.MAX_VALUE;
    private long endNs = Long.MIN_VALUE;
    private boolean isTimeKnown = true;
    private boolean isLiving;
    private long delays;
    private Long measured = 0L;
    private double weight;
    private double mean;
    private double squares;
    private double bounds;
    private boolean isBounded = true;
    private boolean isExact = true;
    private boolean hasDeviation = true;
    private Long minimumNs = Long.MAX_VALUE;
    private Long maximumNs = Long.MIN_VALUE;
    private int estimator;
    private long losses;
    private long records;
    private long lost;
    private Long packetsOfLoss = 0L;
    private boolean isLossExact = true;
    private final TcpSum tcp = new TcpSum();
    private RowSample sample = RowSample.of(0, 1);
    private boolean isSampled;

    /** No records yet; the key is that of the row. */
    public RowGroup(final RowKey key) {
        this.key = key;
    }

    /** Adds a record, or the row of several. */
    public void add(final FlowRow row) {
        only = flows == 0 ? row : null;
        final RowTraffic traffic = row.traffic();
        flows += traffic.flows();
        packets = sum(packets, traffic.packets());
        octets = sum(octets, traffic.octets());
        isSampled |= traffic.sample() != null;
        if (traffic.packets() != null) {
            sample = sample.plus(traffic.sample() != null ? traffic.sample() : RowSample.of(traffic.packets(), 1));
        }
        isTimeKnown &= traffic.startNs() != null && traffic.durationNs() != null;
        if (isTimeKnown) {
            startNs = Math.min(startNs, traffic.startNs());
            endNs = Math.max(endNs, traffic.endNs());
        }
        isLiving |= traffic.endReason() == RowTraffic.LIVING;
        records++;
        if (row.loss().packets() != null) {
            losses++;
            lost += row.loss().packets();
            packetsOfLoss = sum(packetsOfLoss, traffic.packets());
            isLossExact &= row.loss().isExact();
        }
        tcp.add(row.key(), row.tcp());
        if (row.delay().meanNs() != null) {
            add(row.delay(), row.delay().measured() != null ? row.delay().measured() : traffic.packets());
        }
    }

    /** A mean of unknown weight makes the mean of all unknown. */
    private void add(final RowDelay delay, final Long packetsOfMean) {
        if (packetsOfMean != null && packetsOfMean == 0) {
            return;
        }
        final double own = packetsOfMean == null ? Double.NaN : packetsOfMean;
        final RowSpread spread = delay.spread();
        final double step = delay.meanNs() - mean;
        final Long deviationNs =
            spread.standardDeviationNs() == null && own == 1 ? Long.valueOf(0) : spread.standardDeviationNs();
        hasDeviation &= deviationNs != null;
        squares += (deviationNs == null ? 0 : (own - 1) * deviationNs * deviationNs) +
            step * step * weight / (weight + own) * own;
        weight += own;
        mean += step * own / weight;
        isBounded &= delay.boundNs() != null || delay.isExact();
        bounds += delay.boundNs() == null ? 0 : own * delay.boundNs();
        isExact &= delay.isExact();
        measured = sum(measured, delay.measured());
        minimumNs = both(minimumNs, spread.minimumNs(), Math::min);
        maximumNs = both(maximumNs, spread.maximumNs(), Math::max);
        estimator = delays == 0 || estimator == delay.estimator() ? delay.estimator() : RowDelay.MIXED;
        delays++;
    }

    static Long sum(final Long one, final Long other) {
        return both(one, other, Long::sum);
    }

    static Long both(final Long one, final Long other, final LongBinaryOperator operator) {
        return one == null || other == null ? null : Long.valueOf(operator.applyAsLong(one, other));
    }

    /** {@return the row of the group} */
    public FlowRow row() {
        if (only != null) {
            return new FlowRow(key, only.traffic(), only.delay(), only.loss(), only.tcp());
        }
        return new FlowRow(key, new RowTraffic(flows, packets, octets, isTimeKnown ? startNs : null,
            isTimeKnown ? Long.valueOf(endNs - startNs) : null, isLiving ? RowTraffic.LIVING : 0,
            isSampled && packets != null ? sample : null), delay(), loss(), tcp.tcp());
    }

    /** An upper bound of some records bounds nothing of all. */
    private RowLoss loss() {
        return losses == records ? new RowLoss(lost, isLossExact) :
            losses == 0 || !isLossExact || packetsOfLoss == null ? RowLoss.UNKNOWN : new RowLoss(lost, true, packetsOfLoss);
    }

    private RowDelay delay() {
        if (delays == 0 || Double.isNaN(mean)) {
            return RowDelay.NONE;
        }
        return new RowDelay(Math.round(mean), measured, isBounded ? (long)Math.ceil(bounds / weight) : null, isExact, estimator,
            new RowSpread(hasDeviation ? Math.round(Math.sqrt(squares / (weight - 1))) : null, minimumNs, null, null, null,
                maximumNs),
            null, null);
    }
}
