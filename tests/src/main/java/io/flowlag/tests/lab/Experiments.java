package io.flowlag.tests.lab;

import io.flowlag.tests.lab.clock.ClockExperiment;
import io.flowlag.tests.lab.heldout.HeldOutCaptures;
import io.flowlag.tests.lab.heldout.HeldOutExperiment;
import io.flowlag.tests.lab.heldout.HeldOutHosts;
import io.flowlag.tests.lab.heldout.ImpairmentExperiment;
import io.flowlag.tests.lab.joint.JointExperiment;
import io.flowlag.tests.lab.joint.JointRepair;
import io.flowlag.tests.lab.joint.RecordsExperiment;
import io.flowlag.tests.lab.network.NetworkAlarms;
import io.flowlag.tests.lab.network.NetworkBounds;
import io.flowlag.tests.lab.network.NetworkClocks;
import io.flowlag.tests.lab.network.NetworkLocate;
import io.flowlag.tests.lab.network.NetworkPlanning;
import io.flowlag.tests.lab.quantile.QuantileExperiment;
import io.flowlag.tests.lab.reconcile.RdaFigure12;
import io.flowlag.tests.lab.reconcile.RdaFigure6;
import io.flowlag.tests.lab.reconcile.RdaFigure7;
import io.flowlag.tests.lab.reconcile.RdaRepair;
import io.flowlag.tests.lab.reconcile.RdaTheorems;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.rli.RliCeiling;
import io.flowlag.tests.lab.rli.RliClasses;
import io.flowlag.tests.lab.rli.RliEqualOctets;
import io.flowlag.tests.lab.rli.RliFigure1;
import io.flowlag.tests.lab.rli.RliFigure10;
import io.flowlag.tests.lab.rli.RliFigure11;
import io.flowlag.tests.lab.rli.RliFigure12;
import io.flowlag.tests.lab.rli.RliFigure5;
import io.flowlag.tests.lab.rli.RliFigure6;
import io.flowlag.tests.lab.rli.RliFigure7;
import io.flowlag.tests.lab.rli.RliFigure8;
import io.flowlag.tests.lab.rli.RliFigure9;
import io.flowlag.tests.lab.rli.RliOc3;
import io.flowlag.tests.lab.rli.RliPaths;
import io.flowlag.tests.lab.rli.RliSmoothing;
import io.flowlag.tests.lab.rli.RliTable1;
import io.flowlag.tests.lab.sketch.LdaFigure4;
import io.flowlag.tests.lab.sketch.LdaFigure5;
import io.flowlag.tests.lab.sketch.LdaFigure6;
import io.flowlag.tests.lab.sketch.LdsAlpha;
import io.flowlag.tests.lab.sketch.LdsDelays;
import io.flowlag.tests.lab.sketch.LdsFigure10;
import io.flowlag.tests.lab.sketch.LdsFigure11;
import io.flowlag.tests.lab.sketch.LdsFigure12;
import io.flowlag.tests.lab.sketch.LdsFigure9;
import io.flowlag.tests.lab.sketch.LdsHighLoss;
import io.flowlag.tests.lab.sketch.LdsIntervals;
import io.flowlag.tests.lab.sketch.LdsSizes;

import java.util.List;

/** Every experiment. */
final class Experiments {
    private Experiments() {
    }

    static List<Experiment> all() {
        return List.of(
            new RliTable1(), new RliFigure1(), new RliFigure5(), new RliFigure6(), new RliFigure7(), new RliFigure8(),
            new RliFigure9(), new RliFigure10(), new RliFigure11(), new RliFigure12(), new RliSmoothing(),
            new RliEqualOctets(), new RliCeiling(), new RliClasses(), new RliPaths(), new RliOc3(), new LdsFigure9(),
            new LdsFigure10(), new LdsFigure11(), new LdsFigure12(), new LdsSizes(), new LdsDelays(), new LdsIntervals(),
            new LdsAlpha(), new LdsHighLoss(), new LdaFigure4(), new LdaFigure5(), new LdaFigure6(), new RdaFigure6(),
            new RdaFigure7(), new RdaFigure12(), new RdaTheorems(), new RdaRepair(), new ClockExperiment(),
            new ImpairmentExperiment(), new QuantileExperiment(), new MethodsExperiment(), new BudgetExperiment(),
            new JointExperiment(), new JointRepair(), new RecordsExperiment(), new CapturesExperiment(), new HeldOutExperiment(),
            new HeldOutCaptures(), new HeldOutHosts(), new NetworkPlanning(), new NetworkBounds(),
            new NetworkLocate(), new NetworkClocks(), new NetworkAlarms());
    }
}
