package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.joint.JointStatus;
import io.flowlag.sketch.joint.JointTier;

/**
 * What came of an interval that was solved: references and sketches together, or the parent that stands in. One thread. Allocates
 * at construction.
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

    /** {@return where the estimates come from} */
    public JointStatus status() {
        return status;
    }

    /** {@return how much work was done} */
    public JointTier tier() {
        return tier;
    }

    /** {@return how well the solution fits the cells: near 1 is sound; 0 if there was no cell} */
    public double health() {
        return health;
    }

    /** {@return flows with packets in the interval} */
    public int flowCount() {
        return flowCount;
    }

    /** {@return flows of them whose true delay the sender told} */
    public int witnessCount() {
        return witnessCount;
    }

    /** {@return flows of them with an estimate} */
    public int answeredFlowCount() {
        return answeredFlowCount;
    }

    /** {@return flows of those with a bound: witnesses vouch for it, or cells alone determine the flow} */
    public int vouchedFlowCount() {
        return vouchedFlowCount;
    }

    /** {@return the mean of all packets of flows with an estimate, ns, signed} */
    public double meanNs() {
        return meanNs;
    }

    /** {@return what the solution took, ns} */
    public long tookNs() {
        return tookNs;
    }
}
