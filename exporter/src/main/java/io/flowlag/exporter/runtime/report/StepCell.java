package io.flowlag.exporter.runtime.report;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import org.agrona.collections.Long2LongHashMap;

import java.util.Arrays;
import java.util.function.LongBinaryOperator;

/**
 * One traffic class in one step of time: shares of flow records, and measurement intervals that begin in it. Packets weigh means
 * and bounds, as in {@link io.flowlag.exporter.listing.RowGroup}. Delays are those of the intervals where there are some. One
 * thread.
 */
final class StepCell {
    /** The fewest delays that have a quantile. */
    static final int LEAST_OF_P50 = 20;
    static final int LEAST_OF_P99 = 1000;

    /** Delays with their weights. */
    private static final class Delays {
        private double weight;
        private double sum;
        private double bounds;
        private boolean isBounded = true;

        void add(final double packets, final long meanNs, final Long boundNs) {
            weight += packets;
            sum += packets * meanNs;
            bounds += boundNs == null ? 0 : packets * boundNs;
            isBounded &= boundNs != null;
        }

        void add(final Delays other) {
            weight += other.weight;
            sum += other.sum;
            bounds += other.bounds;
            isBounded &= other.isBounded;
        }

        Long boundNs() {
            return weight == 0 || !isBounded ? null : Long.valueOf((long)Math.ceil(bounds / weight));
        }
    }

    private final Delays ofRecords = new Delays();
    private final Delays ofIntervals = new Delays();
    private final Long2LongHashMap histogram = new Long2LongHashMap(0);
    private Double packets;
    private Double octets;
    private Double lost;
    private boolean isLossExact = true;
    private Long minimumNs;
    private Long maximumNs;

    /** Adds a share of a flow record, 0 to 1: packets are spread evenly over its time. */
    void add(final FlowRow row, final double share) {
        packets = sum(packets, row.traffic().packets(), share);
        octets = sum(octets, row.traffic().octets(), share);
        lost = sum(lost, row.loss().packets(), share);
        isLossExact &= row.loss().packets() == null || row.loss().isExact();
        final RowDelay delay = row.delay();
        final Long measured = delay.measured() != null ? delay.measured() : row.traffic().packets();
        if (delay.meanNs() != null && measured != null && measured > 0) {
            ofRecords.add(share * measured, delay.meanNs(), delay.boundNs());
        }
    }

    private static Double sum(final Double all, final Long value, final double share) {
        return value == null ? all : Double.valueOf((all == null ? 0 : all) + share * value);
    }

    void add(final ClassInterval interval) {
        ofIntervals.add(interval.samples(), interval.meanNs(), interval.boundNs());
        interval.histogram().forEach((value, count) -> histogram.put(value, histogram.get(value) + count));
        minimumNs = extreme(minimumNs, interval.minimumNs(), Math::min);
        maximumNs = extreme(maximumNs, interval.maximumNs(), Math::max);
    }

    /** Adds another step. */
    void add(final StepCell other) {
        packets = sum(packets, other.packets);
        octets = sum(octets, other.octets);
        lost = sum(lost, other.lost);
        isLossExact &= other.isLossExact;
        ofRecords.add(other.ofRecords);
        ofIntervals.add(other.ofIntervals);
        other.histogram.forEachLong((value, count) -> histogram.put(value, histogram.get(value) + count));
        minimumNs = extreme(minimumNs, other.minimumNs, Math::min);
        maximumNs = extreme(maximumNs, other.maximumNs, Math::max);
    }

    private static Double sum(final Double one, final Double other) {
        return one == null ? other : other == null ? one : Double.valueOf(one + other);
    }

    private static Long extreme(final Long one, final Long other, final LongBinaryOperator operator) {
        return one == null ? other : other == null ? one : Long.valueOf(operator.applyAsLong(one, other));
    }

    Double packets() {
        return packets;
    }

    Double octets() {
        return octets;
    }

    /** {@return lost packets if their number is known; null if it is only bounded} */
    Double lost() {
        return isLossExact ? lost : null;
    }

    /** {@return the most packets that were lost; null if their number or nothing is known} */
    Double lostBound() {
        return isLossExact ? null : lost;
    }

    Long meanNs() {
        final Delays delays = ofIntervals.weight > 0 ? ofIntervals : ofRecords;
        return delays.weight == 0 ? null : Long.valueOf(Math.round(delays.sum / delays.weight));
    }

    /** The greater of the two, because that of intervals leaves out the precision of timestamps. */
    Long boundNs() {
        return extreme(ofIntervals.boundNs(), ofRecords.boundNs(), Math::max);
    }

    Long p50Ns() {
        return quantile(0.5, LEAST_OF_P50);
    }

    Long p99Ns() {
        return quantile(0.99, LEAST_OF_P99);
    }

    Long maximumNs() {
        return maximumNs;
    }

    /** Null if intervals with too few delays, or without a histogram, are among them. */
    private Long quantile(final double quantile, final int least) {
        final long[] values = histogram.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        final long count = Arrays.stream(values).map(histogram::get).sum();
        if (count < least || count < ofIntervals.weight) {
            return null;
        }
        long seen = 0;
        for (final long value : values) {
            seen += histogram.get(value);
            if (seen >= Math.ceil(quantile * count)) {
                return minimumNs == null || maximumNs == null ? Long.valueOf(value) :
                    Long.valueOf(Math.min(maximumNs, Math.max(minimumNs, value)));
            }
        }
        return null;
    }
}
