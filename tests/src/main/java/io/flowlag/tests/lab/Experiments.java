package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.Laboratory.Listing;
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

/** Every experiment, in the order in which they run. */
final class Experiments {
    /** An experiment and its line in the list. */
    record Entry(Listing listing, Experiment experiment) {
    }

    private Experiments() {
    }

    static List<Entry> all() {
        return List.of(
            of("rli-table1", "RLI Table I",
                "traffic of the model link: packets a flow, mean delay, spread of flows' means", new RliTable1()),
            of("rli-fig1", "RLI Figures 1, 2",
                "are delays of packets at the same time alike, and how long do they stay high", new RliFigure1()),
            of("rli-fig5", "RLI Figure 5", "error over the injection rate (one in n) at 20 and 70 % load", new RliFigure5()),
            of("rli-fig6", "RLI Figure 6",
                "injection policies at the paper's parameters: error and injection rate by load", new RliFigure6()),
            of("rli-fig7", "RLI Figure 7",
                "distribution of the error of means by load; RLI-L, deviations and bounds beside it", new RliFigure7()),
            of("rli-fig8", "RLI Figure 8",
                "error of means by true delay and by packets of the flow; lean of the estimates", new RliFigure8()),
            of("rli-fig9", "RLI Figure 9",
                "error of flows' standard deviations: distribution, and by true deviation", new RliFigure9()),
            of("rli-fig10", "RLI Figure 10",
                "RLI and RLI-L beside trajectory sampling and MFE, 0.1 % sampled, by load", new RliFigure10()),
            of("rli-fig11", "RLI Figure 11",
                "the mean of all packets by two-bank LDA and by RLI at 288 and 1440 references/s", new RliFigure11()),
            of("rli-fig12", "RLI Figure 12",
                "what references take of the link, add to delays, and add to loss, by load", new RliFigure12()),
            of("rli-smoothing", "RLI section V-A",
                "what the smoothing factor of the utilization does to rate and error", new RliSmoothing()),
            of("rli-equal-octets", "docs/laboratory.md",
                "injection policies at equal octets, load between 20 and 90 %", new RliEqualOctets()),
            of("rli-ceiling", "docs/laboratory.md",
                "what a ceiling of the references' bandwidth costs in accuracy at 88 %", new RliCeiling()),
            of("rli-classes", "docs/laboratory.md",
                "two priority classes and two parallel paths: a stream for each, or one", new RliClasses()),
            of("rli-paths", "docs/laboratory.md",
                "equal paths with a queue each: references from one source port and from many", new RliPaths()),
            of("rli-oc3", "RLI Table I, section V-B",
                "the OC-3 traces WEB468 and WEB700: delays, spread and error of means", new RliOc3()),
            of("lds-fig9", "LDS Figure 9",
                "LDS of three sizes beside MPE, RLI and the global mean, by size of the flow", new LdsFigure9()),
            of("lds-fig10", "LDS Figure 10",
                "LDS by size of the flow and by its delay: five delay models, three sizes, no loss", new LdsFigure10()),
            of("lds-fig11", "LDS Figure 11",
                "LDS under uniform loss: banks of several rates beside single rates", new LdsFigure11()),
            of("lds-fig12", "LDS Figure 12",
                "weights of bronze, silver and gold flows in sketches of two sizes", new LdsFigure12()),
            of("lds-sizes", "docs/sketch.md",
                "LDS under the flow sizes of its paper, of AGH 2015, and of CAIDA 2019", new LdsSizes()),
            of("lds-delays", "docs/sketch.md", "LDS under the measured delays of six 5G links", new LdsDelays()),
            of("lds-intervals", "docs/sketch.md",
                "packets in flight and out of order at interval ends: two ways to cut", new LdsIntervals()),
            of("lds-alpha", "LDS section 3", "the paper's rule by its parameter α, next to the weighed estimate", new LdsAlpha()),
            of("lds-loss", "LDS Figure 11, beyond", "banks of several rates under 1 to 20 % of uniform loss", new LdsHighLoss()),
            of("lda-fig4", "LDA/ToN Figure 4",
                "one tuned bank over loss: error of mean and deviation, bounds, samples", new LdaFigure4()),
            of("lda-fig5", "LDA/ToN Figure 5", "two, three and four banks beside one tuned to the actual loss", new LdaFigure5()),
            of("lda-fig6", "LDA/ToN Figure 6",
                "two-bank LDA beside Poisson probes of three rates; loss in episodes", new LdaFigure6()),
            of("rda-fig6", "RDA Figure 6",
                "time to decode by difference; FineComb's brute force by stash; large differences", new RdaFigure6()),
            of("rda-fig7", "RDA Figures 7, 8", "RDA, late-bound RDA, FineComb and LDA over the set difference", new RdaFigure7()),
            of("rda-fig12", "RDA Figures 12-15",
                "time and octets of an interval's result, by stage and by cells", new RdaFigure12()),
            of("rda-theorems", "RDA Theorem 1, Lemmas", "Theorems 1 and 2, Lemmas 1 to 3 against simulation", new RdaTheorems()),
            of("rda-repair", "docs/reconciliation.md",
                "LDS without loss, with loss, and repaired; loss by flow; octets for it", new RdaRepair()),
            of("clock", "docs/laboratory.md",
                "offset and drift between two clocks from both directions, steps and new paths", new ClockExperiment()),
            of("impairments", "RDA Lemma 2",
                "every method against offset, drift, jitter, several paths and asymmetry", new ImpairmentExperiment()),
            of("quantiles", "docs/rli.md",
                "quantiles of flows from packets sampled at both points, Weibull delays", new QuantileExperiment()),
            of("methods", "docs/laboratory.md",
                "every method on the RLI paper's link: error, memory, control traffic, CPU", new MethodsExperiment()),
            of("budget", "docs/laboratory.md",
                "error against octets on the wire, memory and CPU, method by method; crossovers", new BudgetExperiment()),
            seeded("joint", "docs/joint.md",
                "joint estimation beside RLI and LDS: queues, two queues, Weibull, loss; calibration", new JointExperiment()),
            of("joint-repair", "docs/reconciliation.md",
                "joint estimation without loss, with loss, and repaired; loss by flow; octets for it", new JointRepair()),
            seeded("records", "docs/sketch.md",
                "records of many intervals: one seed of cells for all, or another in each", new RecordsExperiment()),
            of("captures", "docs/laboratory.md",
                "both points of the RLI paper's link as pcapng, and the truth of every flow", new CapturesExperiment()),
            seeded("held-out", "docs/laboratory.md",
                "flowlag delay on captures with seeds drawn at run time: errors, bounds, losses", new HeldOutExperiment()),
            seeded("held-out-captures", "docs/laboratory.md",
                "the captures that held-out judges by, and the truth of every flow", new HeldOutCaptures()),
            seeded("held-out-hosts", "docs/laboratory.md",
                "two processes that replay captures and compare them over the exchange: errors, bounds, losses, octets",
                new HeldOutHosts()),
            of("network-plan", "LDA/ToN Figure 9",
                "where points go: probe hops, segments, selectors and expected suspects", new NetworkPlanning()),
            of("network-bounds", "network: window",
                "whether bounds that are merged over a window hold, by source and queue; of few samples", new NetworkBounds()),
            of("network-locate", "network: locate",
                "slow hops in networks of queues, beside lasso, NNLS and Boolean cover", new NetworkLocate()),
            of("network-clocks", "network: locate",
                "slow hops behind clocks that are off, solved for or taken for exact", new NetworkClocks()),
            of("network-alarms", "network: windows",
                "false alarms of stationary means, and how late those of rises are", new NetworkAlarms()));
    }

    private static Entry of(final String name, final String source, final String purpose, final Experiment experiment) {
        return new Entry(new Listing(name, source, purpose, false), experiment);
    }

    /** One whose seeds can begin elsewhere, see {@link io.flowlag.tests.lab.report.Setup#firstSeed(long)}. */
    private static Entry seeded(final String name, final String source, final String purpose, final Experiment experiment) {
        return new Entry(new Listing(name, source, purpose, true), experiment);
    }
}
