package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonGenerator;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The last steps of time of one length, each with the values of the series that have a part in it. A step begins at a multiple of
 * its length. Bounded: a new step takes the place of the oldest. Values of steps that have passed may come late. One thread.
 * Allocates at a new series.
 */
final class HistorySteps {
    /** A count that is not known. */
    static final double UNKNOWN = Double.POSITIVE_INFINITY;
    /** A value that comes later than so many steps is of a clock that was set back. */
    private static final long LATE_STEPS = 30;
    /** Names that are remembered to count them once. */
    private static final int MOST_LEFT_OUT = 1024;
    private static final int NAME_BYTES = 128;
    private static final double MEDIAN = 0.5;
    private static final double TAIL = 0.99;
    private static final HistoryField[] FIELDS = HistoryField.values();

    private final long stepNs;
    private final int capacity;
    private final int mostSeries;
    private final Map<String, Series> all = new LinkedHashMap<>();
    /** Series that came too late, up to {@link #MOST_LEFT_OUT}. */
    private final Set<String> leftOut = new HashSet<>();
    private final LogHistogram decoded = new LogHistogram();
    private long newest = Long.MIN_VALUE;
    private long count;

    /** The values of a name, NaN where absent. */
    private static final class Series {
        private final double[][] values;
        /** Packets that the mean stands for. */
        private final double[] weights;
        private final LogHistogram histogram = new LogHistogram();
        /** The step that the histogram is of. */
        private long histogramStep = Long.MIN_VALUE;

        private Series(final int capacity) {
            values = new double[FIELDS.length][capacity];
            Arrays.stream(values).forEach((each) -> Arrays.fill(each, Double.NaN));
            weights = new double[capacity];
        }
    }

    /** No steps yet; keeps so many, of so many series. */
    HistorySteps(final long stepNs, final int capacity, final int mostSeries) {
        this.stepNs = stepNs;
        this.capacity = capacity;
        this.mostSeries = mostSeries;
    }

    /** {@return octets of so many steps of so many series, by formula} */
    static long memoryBytes(final int capacity, final int mostSeries) {
        final long seriesBytes = (FIELDS.length + 1L) * capacity * Double.BYTES + LogHistogram.MEMORY_BYTES;
        return mostSeries * seriesBytes + LogHistogram.MEMORY_BYTES + MOST_LEFT_OUT * NAME_BYTES;
    }

    /** {@return whether a period of this length has its place in a step} */
    boolean holds(final long lengthNs) {
        return lengthNs <= stepNs;
    }

    /** Adds to a count; {@link #UNKNOWN} makes all of the step unknown. */
    void add(final String name, final long timeNs, final HistoryField field, final double value) {
        final Series series = series(name);
        if (series != null) {
            final int slot = slot(timeNs);
            final double before = series.values[field.ordinal()][slot];
            series.values[field.ordinal()][slot] = Double.isNaN(before) ? value : before + value;
        }
    }

    /** Sets a value that holds until the next one. */
    void set(final String name, final long timeNs, final HistoryField field, final double value) {
        final Series series = series(name);
        if (series != null) {
            series.values[field.ordinal()][slot(timeNs)] = value;
        }
    }

    /**
     * Adds delays of a period.
     *
     * @param packets   of the period, for which the mean stands.
     * @param boundNs   of their mean; NaN if unknown, and then that of the step is.
     * @param histogram octets of {@link LogHistogram}; empty without.
     */
    void addDelays(
        final String name, final long timeNs, final long packets, final DelayDistribution delays, final double boundNs,
        final byte[] histogram) {
        final Series series = series(name);
        if (series == null) {
            return;
        }
        final int slot = slot(timeNs);
        addMean(series, slot, packets, delays.count(), delays.meanNs(), boundNs);
        final double[] largest = series.values[HistoryField.DELAY_MAX_NS.ordinal()];
        largest[slot] = Double.isNaN(largest[slot]) ? delays.maximumNs() : Math.max(largest[slot], delays.maximumNs());
        final long step = Math.floorDiv(timeNs, stepNs);
        if (step != series.histogramStep) {
            series.histogramStep = step;
            series.histogram.clear();
        }
        if (decoded.decode(new UnsafeBuffer(histogram), 0, histogram.length)) {
            series.histogram.add(decoded);
            series.values[HistoryField.DELAY_P50_NS.ordinal()][slot] = series.histogram.quantile(MEDIAN);
            series.values[HistoryField.DELAY_P99_NS.ordinal()][slot] = series.histogram.quantile(TAIL);
        }
    }

    /** Adds a mean of so many delays, which stands for so many packets. */
    void addMean(
        final String name, final long timeNs, final long packets, final long samples, final double meanNs,
        final double boundNs) {
        final Series series = series(name);
        if (series != null) {
            addMean(series, slot(timeNs), packets, samples, meanNs, boundNs);
        }
    }

    /**
     * Weighs means and bounds by their packets, which needs no independent errors. Delays count when they are known: there may be
     * some without a packet.
     */
    private static void addMean(
        final Series series, final int slot, final long packets, final long samples, final double meanNs, final double boundNs) {
        final double[] counts = series.values[HistoryField.DELAY_SAMPLES.ordinal()];
        counts[slot] = Double.isNaN(counts[slot]) ? samples : counts[slot] + samples;
        final double weight = packets > 0 ? packets : samples;
        final double share = weight / (series.weights[slot] + weight);
        series.weights[slot] += weight;
        weigh(series.values[HistoryField.DELAY_MEAN_NS.ordinal()], slot, meanNs, share);
        weigh(series.values[HistoryField.DELAY_BOUND_NS.ordinal()], slot, boundNs, share);
    }

    private static void weigh(final double[] values, final int slot, final double value, final double share) {
        values[slot] = share == 1 ? value : values[slot] * (1 - share) + value * share;
    }

    private Series series(final String name) {
        final Series known = all.get(name);
        if (known == null && all.size() == mostSeries && leftOut.size() < MOST_LEFT_OUT) {
            leftOut.add(name);
        }
        if (known != null || all.size() == mostSeries) {
            return known;
        }
        final Series made = new Series(capacity);
        all.put(name, made);
        return made;
    }

    /** The slot of a time; clears those that begin. If a clock was set back, what is later than the time goes. */
    private int slot(final long timeNs) {
        final long step = Math.floorDiv(timeNs, stepNs);
        if (count == 0 || step > newest) {
            final long begun = count == 0 ? 1 : Math.min(capacity, step - newest);
            clear(step - begun, step);
            count = count == 0 ? 1 : Math.min(capacity, count + step - newest);
            newest = step;
        } else if (newest - step > LATE_STEPS) {
            final long gone = Math.min(capacity, newest - step);
            clear(newest - gone, newest);
            count = Math.max(1, count - gone);
            newest = step;
        }
        count = Math.max(count, Math.min(capacity, newest - step + 1));
        return (int)Math.floorMod(step, (long)capacity);
    }

    /** Clears the steps after one, to another. */
    private void clear(final long after, final long to) {
        for (long step = after + 1; step <= to; step++) {
            for (final Series each : all.values()) {
                for (final double[] values : each.values) {
                    values[(int)Math.floorMod(step, (long)capacity)] = Double.NaN;
                }
                each.weights[(int)Math.floorMod(step, (long)capacity)] = 0;
            }
        }
    }

    /** {@return how many series have no steps because there are too many, 1024 for that many or more} */
    int leftOut() {
        return leftOut.size();
    }

    /** Writes the steps, the oldest first; null is absent. */
    void write(final JsonGenerator json) throws IOException {
        final long first = newest - count + 1;
        json.writeStartObject();
        json.writeNumberField("step_seconds", stepNs / 1_000_000_000L);
        json.writeNumberField("kept_steps", capacity);
        json.writeArrayFieldStart("times");
        for (long step = first; step < first + count; step++) {
            json.writeString(Instant.ofEpochSecond(0, step * stepNs).toString());
        }
        json.writeEndArray();
        json.writeArrayFieldStart("classes");
        for (final Map.Entry<String, Series> each : all.entrySet()) {
            json.writeStartObject();
            json.writeStringField("name", each.getKey());
            for (final HistoryField field : FIELDS) {
                json.writeArrayFieldStart(field.label());
                for (long step = first; step < first + count; step++) {
                    write(json, each.getValue(), field, (int)Math.floorMod(step, (long)capacity));
                }
                json.writeEndArray();
            }
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** The most that may be lost says nothing where the loss is known. */
    private static void write(final JsonGenerator json, final Series series, final HistoryField field, final int slot)
        throws IOException {
        final double value = series.values[field.ordinal()][slot];
        final boolean isLossKnown = Double.isFinite(series.values[HistoryField.LOST.ordinal()][slot]);
        if (!Double.isFinite(value) || field == HistoryField.LOST_BOUND && isLossKnown) {
            json.writeNull();
        } else {
            json.writeNumber(Math.round(value));
        }
    }
}
