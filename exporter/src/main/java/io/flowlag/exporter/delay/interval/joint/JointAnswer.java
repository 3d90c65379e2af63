package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.joint.JointStatus;
import io.flowlag.sketch.joint.JointTier;

/**
 * The result of a solved interval: references and sketches together, or the parent that stands in. One thread. Allocates at
 * construction.
 */
public final class JointAnswer {
    JointStatus status = JointStatus.NONE;
    JointTier tier = JointTier.FULL;
    double health;
    int flowCount;
    int witnessCount;
    int checkedFlowCount;
    int heldFlowCount;
    int answeredFlowCount;
    int vouchedFlowCount;
    double meanNs;
    double boundNs;
    long tookNs;
    private long startNs;
    private long endNs;

    JointAnswer() {
    }

    void clear(final long intervalStartNs, final long intervalEndNs) {
        startNs = intervalStartNs;
        endNs = intervalEndNs;
        health = 0;
        flowCount = 0;
        witnessCount = 0;
        checkedFlowCount = 0;
        heldFlowCount = 0;
        answeredFlowCount = 0;
        vouchedFlowCount = 0;
        meanNs = 0;
        boundNs = Double.POSITIVE_INFINITY;
        tookNs = 0;
    }

    /** {@return its first ns, UNIX epoch, by the sender's timestamps} */
    public long startNs() {
        return startNs;
    }

    /** {@return the first ns after it} */
    public long endNs() {
        return endNs;
    }

    /** {@return the source of the estimates} */
    public JointStatus status() {
        return status;
    }

    /** {@return the tier that was run} */
    public JointTier tier() {
        return tier;
    }

    /** {@return how well the solution fits the cells: near 1 is good; 0 if there was no cell} */
    public double health() {
        return health;
    }

    /** {@return flows with packets in the interval} */
    public int flowCount() {
        return flowCount;
    }

    /** {@return those of them whose true delay the sender reported} */
    public int witnessCount() {
        return witnessCount;
    }

    /** {@return those of them with an estimate} */
    public int answeredFlowCount() {
        return answeredFlowCount;
    }

    /** {@return answered flows with a bound: witnesses calibrate it, or cells alone determine the flow} */
    public int vouchedFlowCount() {
        return vouchedFlowCount;
    }

    /** {@return mean delay of all packets of answered flows, ns, signed} */
    public double meanNs() {
        return meanNs;
    }

    /** {@return half width of the 95 % interval around it, ns; infinite where flows without a bound have a part in it} */
    public double boundNs() {
        return boundNs;
    }

    /** {@return time that the solution took, ns} */
    public long tookNs() {
        return tookNs;
    }
}
