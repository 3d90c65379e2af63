package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;

import io.flowlag.tests.lab.report.Numbers;

import java.util.Arrays;
import java.util.function.BiFunction;
import java.util.function.IntPredicate;

/** Both points' sketches of several settings over the same traffic, and the errors of all flows under each. */
final class LdsRun {
    /** A sketch to run; null for weights means 1 each. */
    record Setting(SketchGeometry geometry, int[] weights) {
    }

    /** Whether an estimator knows a flow's packets. */
    enum Packets {
        KNOWN,
        UNKNOWN
    }

    private static final long SEED = 0x51;

    private final PaperTraffic traffic;
    private final Setting[] settings;
    private final LossyDifferenceSketch[] senders;
    private final LossyDifferenceSketch[] receivers;
    private final double[] delaySumsNs;
    private final int[] received;

    LdsRun(final PaperTraffic traffic, final double lossRate, final Setting... settings) {
        this.traffic = traffic;
        this.settings = settings;
        senders = sketches(settings);
        receivers = sketches(settings);
        delaySumsNs = new double[traffic.flows()];
        received = new int[traffic.flows()];
        traffic.play(lossRate, this::take);
    }

    private static LossyDifferenceSketch[] sketches(final Setting... settings) {
        return Arrays.stream(settings).map(setting -> new LossyDifferenceSketch(setting.geometry(), SEED))
            .toArray(LossyDifferenceSketch[]::new);
    }

    private void take(
        final int flow, final long digest, final long sentNs, final long delayNs, final int bytes, final boolean lost) {
        for (int i = 0; i < settings.length; i++) {
            final int weight = settings[i].weights() == null ? 1 : settings[i].weights()[flow];
            senders[i].update(traffic.flowHashes[flow], digest, sentNs, bytes, weight);
            if (!lost) {
                receivers[i].update(traffic.flowHashes[flow], digest, sentNs + delayNs, bytes, weight);
            }
        }
        if (!lost) {
            delaySumsNs[flow] += delayNs;
            received[flow]++;
        }
    }

    /** The errors of a setting under an estimator that is made for its geometry and the sketches' seed. */
    FlowErrors errors(
        final int index, final Packets packets, final BiFunction<SketchGeometry, Long, FlowEstimator> estimators) {
        final FlowEstimator estimator = estimators.apply(settings[index].geometry(), SEED);
        if (estimator.pair(senders[index].image(), receivers[index].image()) != PairingResult.PAIRED) {
            throw new IllegalStateException("not paired");
        }
        final FlowEstimate estimate = new FlowEstimate();
        final FlowErrors errors = new FlowErrors(received, traffic.flows());
        for (int flow = 0; flow < traffic.flows(); flow++) {
            final int weight = settings[index].weights() == null ? 1 : settings[index].weights()[flow];
            estimator.estimate(traffic.flowHashes[flow], weight,
                packets == Packets.KNOWN ? received[flow] : FlowEstimator.UNKNOWN_PACKETS, estimate);
            final double truthNs = delaySumsNs[flow] / received[flow];
            errors.put(flow, estimate, truthNs);
        }
        return errors;
    }

    /** Relative errors of flows; one without an estimate has an error of 1. */
    static final class FlowErrors {
        private final int[] received;
        private final double[] errors;
        private final boolean[] present;
        private final boolean[] covered;
        private final double[] truthsNs;

        FlowErrors(final int[] received, final int flows) {
            this.received = received;
            errors = new double[flows];
            present = new boolean[flows];
            covered = new boolean[flows];
            truthsNs = new double[flows];
        }

        private void put(final int flow, final FlowEstimate estimate, final double truthNs) {
            truthsNs[flow] = truthNs;
            present[flow] = estimate.hasMean();
            errors[flow] = estimate.hasMean() ? Math.abs(estimate.meanNs() - truthNs) / truthNs : 1;
            covered[flow] = estimate.hasMean() && Math.abs(estimate.meanNs() - truthNs) <= estimate.boundNs() + 1e-6;
        }

        double median(final int least, final int limit, final IntPredicate flows) {
            return Numbers.quantile(chosen(least, limit, flows), 0.5);
        }

        /** Errors of flows whose true mean is between two multiples of all flows' mean. */
        double[] chosen(final int least, final int limit, final double from, final double to) {
            final double meanNs = Numbers.mean(truthsNs);
            return chosen(least, limit, flow -> truthsNs[flow] >= from * meanNs && truthsNs[flow] < to * meanNs);
        }

        double median(final int least, final int limit) {
            return median(least, limit, flow -> true);
        }

        double mean(final int least, final int limit) {
            return Numbers.mean(chosen(least, limit, flow -> true));
        }

        double percentile95(final int least, final int limit) {
            return Numbers.quantile(chosen(least, limit, flow -> true), 0.95);
        }

        double coverage(final int least, final int limit) {
            int inside = 0;
            int all = 0;
            for (int flow = 0; flow < errors.length; flow++) {
                if (present[flow] && received[flow] >= least && received[flow] < limit) {
                    all++;
                    inside += covered[flow] ? 1 : 0;
                }
            }
            return inside / (double)all;
        }

        double missing(final int least, final int limit) {
            int missing = 0;
            int all = 0;
            for (int flow = 0; flow < errors.length; flow++) {
                if (received[flow] >= least && received[flow] < limit) {
                    all++;
                    missing += present[flow] ? 0 : 1;
                }
            }
            return missing / (double)all;
        }

        double[] chosen(final int least, final int limit, final IntPredicate flows) {
            final double[] chosen = new double[errors.length];
            int count = 0;
            for (int flow = 0; flow < errors.length; flow++) {
                if (received[flow] >= least && received[flow] < limit && received[flow] > 0 && flows.test(flow)) {
                    chosen[count++] = errors[flow];
                }
            }
            return Arrays.copyOf(chosen, count);
        }
    }
}
