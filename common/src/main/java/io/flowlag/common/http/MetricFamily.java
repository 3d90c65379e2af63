package io.flowlag.common.http;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A metric and its samples. Belongs to one thread.
 */
public final class MetricFamily {
    /** Type of a metric. */
    public enum Type {
        /** Only grows. */
        COUNTER,
        /** Goes up and down. */
        GAUGE,
        /** Counts by bucket. */
        HISTOGRAM,
        /** Unknown. */
        UNTYPED
    }

    /** A value, the suffix of its name such as _bucket, and names and values of its labels, alternating. */
    public record Sample(String suffix, List<String> labels, double value) {
    }

    private final String name;
    private final Type type;
    private final String help;
    private final List<Sample> samples = new ArrayList<>();

    /** Creates a metric without samples; a counter's name has no _total. */
    public MetricFamily(final String name, final Type type, final String help) {
        this.name = name;
        this.type = type;
        this.help = help;
    }

    /** {@return its name, without _total} */
    public String name() {
        return name;
    }

    /** {@return its type} */
    public Type type() {
        return type;
    }

    /** {@return what it counts} */
    public String help() {
        return help;
    }

    /** {@return a view of its samples} */
    public List<Sample> samples() {
        return Collections.unmodifiableList(samples);
    }

    /** Adds a sample; names and values of labels alternate. */
    public void add(final double value, final String... labels) {
        addSuffixed(type == Type.COUNTER ? "_total" : "", value, labels);
    }

    /** Adds a sample whose name has a suffix. */
    public void addSuffixed(final String suffix, final double value, final String... labels) {
        samples.add(new Sample(suffix, List.of(labels), value));
    }
}
