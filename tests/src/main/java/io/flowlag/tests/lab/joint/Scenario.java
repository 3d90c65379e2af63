package io.flowlag.tests.lab.joint;

import java.util.List;

/**
 * One kind of traffic and path.
 *
 * @param load              of the queue, in shares of its capacity.
 * @param uncorrelatedShare of flows that take another path, with independent delays that references say nothing about.
 * @param levelSpread       of those delays between flows: the deviation of the logarithm of a flow's own factor, which stays.
 * @param lossShare         of packets that are lost after the queue, independently.
 * @param ratesPpm          one for each row of the sketch.
 */
record Scenario(
    String name, double load, double uncorrelatedShare, double levelSpread, double lossShare, int vldaLength, int... ratesPpm) {
    private static final int ALL = 1_000_000;

    static Scenario queue(final double load) {
        return new Scenario("FIFO " + Math.round(100 * load) + " %", load, 0, 0, 0, 1, ALL, ALL, ALL, ALL);
    }

    static Scenario twoQueues() {
        return new Scenario("two queues 70 %", 0.7, 0.3, 0, 0, 1, ALL, ALL, ALL, ALL);
    }

    /** References pass the queue, packets another path: RLI's estimates are wrong. */
    static Scenario weibull() {
        return new Scenario("Weibull", 0.7, 1, 0, 0, 1, ALL, ALL, ALL, ALL);
    }

    /** As above, and each flow has delays of its own. */
    static Scenario weibullByFlow() {
        return new Scenario("Weibull by flow", 0.7, 1, 1, 0, 1, ALL, ALL, ALL, ALL);
    }

    static List<Scenario> all() {
        return List.of(
            queue(0.2), queue(0.55), queue(0.7), queue(0.88), twoQueues(), weibull(), lossy(0.001), lossy(0.005), lossy(0.01));
    }

    static Scenario lossy(final double lossShare) {
        return new Scenario(
            "FIFO 70 %, loss " + 100 * lossShare + " %", 0.7, 0, 0, lossShare, 5, ALL, ALL / 2, ALL / 10, ALL / 100);
    }
}
