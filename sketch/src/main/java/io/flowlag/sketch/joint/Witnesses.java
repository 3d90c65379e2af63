package io.flowlag.sketch.joint;

import io.flowlag.common.hash.KeyedMix;

import java.util.Arrays;

/**
 * The witness flows of a problem and their part: half of them are teachers, whose truth the solution starts from, the others are
 * judges, whose truth it never sees, so that they are like any other flow and can say how wide bounds must be. A flow's cells
 * decide, so it has the same part in every interval. Allocates at construction.
 */
final class Witnesses {
    private static final int SEED = 0x7769;
    /** Teachers count for so large a share of all flows, if each does not have to count more often than the most. */
    private static final double TEACHING_SHARE = 0.1;
    private static final double MOST_TIMES = 20;

    private final CellSystem system;
    private final boolean[] isTeacher;
    private final double[] teacherZ;
    private int teachers;

    Witnesses(final CellSystem system, final int maxFlows) {
        this.system = system;
        isTeacher = new boolean[maxFlows];
        teacherZ = new double[maxFlows];
    }

    void load(final JointProblem problem) {
        Arrays.fill(isTeacher, 0, system.flows, false);
        teachers = 0;
        for (int index = 0; index < problem.witnesses; index++) {
            final int flow = problem.witnessFlow[index];
            if ((hash(system, flow) & 1) == 0) {
                teachers++;
                isTeacher[flow] = true;
                teacherZ[flow] = problem.witnessSumNs[index] / system.packets[flow] - system.meanNs[flow];
            }
        }
    }

    /** By a flow's cells. */
    private static long hash(final CellSystem system, final int flow) {
        long hash = SEED;
        for (int row = 0; row < system.rows; row++) {
            hash = KeyedMix.mix(hash + system.baseColumns[flow * system.rows + row], SEED + row);
        }
        return hash;
    }

    boolean isTeacher(final int flow) {
        return isTeacher[flow];
    }

    /** What RLI got wrong in the mean of a teacher. */
    double z(final int flow) {
        return teacherZ[flow];
    }

    /** As how many flows a teacher counts where the prior is learned. */
    double times() {
        return Math.max(1, Math.min(MOST_TIMES, TEACHING_SHARE * system.flows / Math.max(1, teachers)));
    }
}
