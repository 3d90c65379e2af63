package io.flowlag.tests.lab.method;

/**
 * A way to tell the mean delays of flows from what two points see. To compare another one, implement this and add it to the list
 * of an experiment. It has no state from trace to trace.
 */
public interface DelayMethod {
    /**
     * What a method costs, by its own data structures; machine-independent.
     *
     * @param controlBytes that go from point to point over the trace: references and probes, sketches, timestamps, records.
     */
    record Cost(long memoryBytes, long controlBytes) {
    }

    /** {@return its name in tables} */
    String name();

    /**
     * Estimates every flow.
     *
     * @param trace   what both points see; a method reads times of the receiver at the receiver only.
     * @param meansNs takes an estimate for each flow; NaN where there is none.
     */
    Cost estimate(PathTrace trace, double[] meansNs);
}
