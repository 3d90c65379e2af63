package io.flowlag.tests.lab.heldout;

import io.flowlag.tests.lab.report.Numbers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Scores of one kind of run, pooled over its seeds: by flow size and over all flows. */
final class HeldOutScore {
    /** Of a mean that is a whole number of ns in each record. */
    private static final double ROUNDING_NS = 0.51;

    final List<Size> sizes = new ArrayList<>();
    final Size all = new Size("all", 1, Integer.MAX_VALUE);
    final Size large = new Size("100 and more", 100, Integer.MAX_VALUE);
    double seconds;
    double cpuSeconds;
    double peakBytes;
    long records;
    int runs;

    /** The flows of some sizes. */
    static final class Size {
        final String label;
        private final int least;
        private final int most;
        private final Values errors = new Values();
        private final Values biasesNs = new Values();
        private final Values referenceErrors = new Values();
        private final Values sketchErrors = new Values();
        private final Values jointErrors = new Values();
        private final Values bounds = new Values();
        private final Values boundedErrorsNs = new Values();
        int flows;
        int withMean;
        int exact;
        int joint;
        int bounded;
        int held;
        int lossKnown;
        int lossRight;

        private Size(final String label, final int least, final int most) {
            this.label = label;
            this.least = least;
            this.most = most;
        }

        private void add(final HeldOutTrace trace, final HeldOutRecords records, final int flow) {
            if (trace.received(flow) < least || trace.received(flow) > most) {
                return;
            }
            flows++;
            final double truthNs = trace.meanNs(flow);
            final double delayNs = truthNs - trace.clockNs(flow);
            final double meanNs = records.of(records.mean, flow);
            final double jointNs = records.of(records.joint, flow);
            final double errorNs = Math.abs(meanNs - truthNs);
            final double boundNs = records.of(records.bound, flow);
            withMean += Double.isNaN(meanNs) ? 0 : 1;
            exact += errorNs <= ROUNDING_NS ? 1 : 0;
            joint += Double.isNaN(jointNs) ? 0 : 1;
            lossKnown += Double.isNaN(records.lost[flow]) ? 0 : 1;
            lossRight += records.lost[flow] == trace.sent(flow) - trace.received(flow) ? 1 : 0;
            errors.add(errorNs / delayNs);
            biasesNs.add(meanNs - delayNs);
            referenceErrors.add(Math.abs(records.of(records.references, flow) - truthNs) / delayNs);
            sketchErrors.add(Math.abs(records.of(records.sketches, flow) - truthNs) / delayNs);
            jointErrors.add(Math.abs(jointNs - truthNs) / delayNs);
            if (!Double.isNaN(boundNs) && !Double.isNaN(meanNs)) {
                bounded++;
                held += errorNs <= boundNs + ROUNDING_NS ? 1 : 0;
                bounds.add(boundNs);
                boundedErrorsNs.add(errorNs);
            }
        }

        Medians medians() {
            return new Medians(100 * errors.median(), biasesNs.median(), 100 * referenceErrors.median(),
                100 * sketchErrors.median(), 100 * jointErrors.median(), bounds.median(), boundedErrorsNs.median());
        }
    }

    /**
     * Medians of a size; relative errors in percent of the true mean, beyond what the clock is off. NaN is absent.
     *
     * @param error          of the mean of the record.
     * @param biasNs         of the mean of the record, signed, with what the clock is off.
     * @param reference      of the mean by references alone.
     * @param sketch         of the mean by sketches alone.
     * @param joint          of the means that are joint estimates.
     * @param halfWidthNs    of the bound.
     * @param boundedErrorNs of the means that have a bound.
     */
    record Medians(
        double error, double biasNs, double reference, double sketch, double joint, double halfWidthNs,
        double boundedErrorNs) {
        /** {@return the median half width over the median error; absent where most means are exact} */
        double width() {
            return boundedErrorNs > ROUNDING_NS ? halfWidthNs / boundedErrorNs : Double.NaN;
        }

        /** {@return the error over that of the better of references and sketches} */
        double overParent() {
            return error / (Double.isNaN(reference) ? sketch : Double.isNaN(sketch) ? reference : Math.min(reference, sketch));
        }
    }

    HeldOutScore() {
        final int[] limits = {1, 2, 4, 10, 30, 100, 300, 1000};
        for (int i = 0; i < limits.length; i++) {
            final int most = i + 1 < limits.length ? limits[i + 1] - 1 : Integer.MAX_VALUE;
            sizes.add(new Size(most == Integer.MAX_VALUE ? limits[i] + " and more" : limits[i] == most ? "" + most :
                limits[i] + "-" + most, limits[i], most));
        }
        sizes.add(large);
        sizes.add(all);
    }

    void add(final HeldOutTrace trace, final HeldOutRecords found, final JudgedProduct.Run run) {
        add(trace, found);
        seconds += run.seconds();
        cpuSeconds += run.cpuSeconds();
        peakBytes = Math.max(peakBytes, run.peakBytes());
    }

    void add(final HeldOutTrace trace, final HeldOutRecords found) {
        for (int flow = 0; flow < trace.flows(); flow++) {
            for (final Size size : sizes) {
                size.add(trace, found, flow);
            }
        }
        runs++;
        records += found.count();
    }

    /** Numbers, as many as come. */
    private static final class Values {
        private double[] values = new double[16];
        private int count;

        void add(final double value) {
            if (count == values.length) {
                values = Arrays.copyOf(values, 2 * count);
            }
            values[count++] = value;
        }

        double median() {
            return Numbers.median(Arrays.copyOf(values, count));
        }
    }
}
