package io.flowlag.tests.lab.method;

/**
 * A method that estimates the mean delays of flows from the observations of two points. To compare another one, implement this
 * and add it to the list of an experiment. It has no state from trace to trace.
 */
public interface DelayMethod {
    /**
     * Cost of a method, by its own data structures; machine-independent.
     *
     * @param controlBytes from point to point over the trace: references and probes, sketches, timestamps, records.
     */
    record Cost(long memoryBytes, long controlBytes) {
    }

    /** {@return its name in tables} */
    String name();

    /**
     * Estimates every flow.
     *
     * @param trace   observations of two points; a method uses receiver times only at the receiver.
     * @param meansNs receives an estimate for each flow; NaN where there is none.
     */
    Cost estimate(PathTrace trace, double[] meansNs);
}
