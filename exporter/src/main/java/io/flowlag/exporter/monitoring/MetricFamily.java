package io.flowlag.exporter.monitoring;

import java.util.ArrayList;
import java.util.List;

/**
 * A metric and its samples. Belongs to one thread.
 */
final class MetricFamily {
    /** Type of a metric. */
    enum Type {
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
    record Sample(String suffix, List<String> labels, double value) {
    }

    private final String name;
    private final Type type;
    private final String help;
    private final List<Sample> samples = new ArrayList<>();

    /** Creates a metric without samples; a counter's name has no _total. */
    MetricFamily(final String name, final Type type, final String help) {
        this.name = name;
        this.type = type;
        this.help = help;
    }

    String name() {
        return name;
    }

    Type type() {
        return type;
    }

    String help() {
        return help;
    }

    List<Sample> samples() {
        return samples;
    }

    void add(final double value, final String... labels) {
        addSuffixed(type == Type.COUNTER ? "_total" : "", value, labels);
    }

    void addSuffixed(final String suffix, final double value, final String... labels) {
        samples.add(new Sample(suffix, List.of(labels), value));
    }
}
