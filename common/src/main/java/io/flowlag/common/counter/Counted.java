package io.flowlag.common.counter;

/** A constant of an enum whose values a {@link CounterSet} holds: its name outside the process, its unit and one sentence. */
public interface Counted {
    /** {@return what it is called, and what it counts} */
    Text text();

    default String label() {
        return text().label;
    }

    default String unit() {
        return text().unit;
    }

    default String sentence() {
        return text().sentence;
    }

    /**
     * What a counter is.
     *
     * @param label    in statistics, in snake case.
     * @param unit     what is counted; empty where the label says it.
     * @param sentence ends with a full stop.
     */
    record Text(String label, String unit, String sentence) {
    }
}
