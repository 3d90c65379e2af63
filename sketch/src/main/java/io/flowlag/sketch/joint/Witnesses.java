package io.flowlag.sketch.joint;

import java.util.Arrays;

/**
 * The witness flows of a problem and their roles. Half are teachers: the solution starts from their truth. The others are judges:
 * the solution never uses their truth, so they are like any other flow and calibrate the bounds. A flow has the same role in
 * every interval. Allocates at construction.
 */
final class Witnesses {
    /** Share of all flows that teachers represent, as far as the limit on a teacher's weight permits. */
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
            if (problem.isTeacher[index]) {
                teachers++;
                isTeacher[flow] = true;
                teacherZ[flow] = problem.witnessSumNs[index] / system.packets[flow] - system.meanNs[flow];
            }
        }
    }

    boolean isTeacher(final int flow) {
        return isTeacher[flow];
    }

    /** RLI's error in the mean of a teacher. */
    double z(final int flow) {
        return teacherZ[flow];
    }

    /** Weight of a teacher in learning the prior, in flows. */
    double times() {
        return Math.max(1, Math.min(MOST_TIMES, TEACHING_SHARE * system.flows / Math.max(1, teachers)));
    }
}
