package io.flowlag.tests.lab.method;

import java.util.Arrays;

/**
 * The multi-point, or multiflow, estimator (MPE, MFE): routers sample the same packets into NetFlow records, which keep the times
 * of a flow's first and last sampled packet. A flow's delay is the mean of all such samples, its own and other flows', that fall
 * between its first and its last. A flow without a record has no estimate, or gets the mean of all samples.
 */
public final class MultiPointEstimator extends Simple.Named {
    private static final int FLOW_RECORD_BYTES = 32;

    private final double share;
    private final boolean isFilled;

    /**
     * The estimator.
     *
     * @param share    of packets that are sampled, 0 to 1.
     * @param isFilled whether flows without a record get the mean of all samples.
     */
    public MultiPointEstimator(final double share, final boolean isFilled) {
        super("MPE, " + 100 * share + " %");
        this.share = share;
        this.isFilled = isFilled;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final int[] first = new int[trace.flows()];
        final int[] last = new int[trace.flows()];
        Arrays.fill(first, -1);
        for (int packet = 0; packet < trace.packets(); packet++) {
            if (!trace.isLost(packet) && Simple.isSampled(trace.digestOf(packet), share)) {
                final int flow = trace.flowOf(packet);
                first[flow] = first[flow] < 0 ? packet : first[flow];
                last[flow] = packet;
            }
        }
        // Packets are in the order of arrival, so samples between two are a range; sums up to each packet tell its mean.
        final double[] sumsNs = new double[trace.packets() + 1];
        final int[] counts = new int[trace.packets() + 1];
        final boolean[] isSample = new boolean[trace.packets()];
        long records = 0;
        for (int flow = 0; flow < first.length; flow++) {
            if (first[flow] >= 0) {
                records++;
                isSample[first[flow]] = true;
                isSample[last[flow]] = true;
            }
        }
        for (int packet = 0; packet < trace.packets(); packet++) {
            sumsNs[packet + 1] = sumsNs[packet] + (isSample[packet] ? trace.delayNsOf(packet) : 0);
            counts[packet + 1] = counts[packet] + (isSample[packet] ? 1 : 0);
        }
        final double allNs = isFilled ? sumsNs[trace.packets()] / counts[trace.packets()] : Double.NaN;
        for (int flow = 0; flow < first.length; flow++) {
            meansNs[flow] = first[flow] < 0 ? allNs :
                (sumsNs[last[flow] + 1] - sumsNs[first[flow]]) / (counts[last[flow] + 1] - counts[first[flow]]);
        }
        return new Cost(2 * FLOW_RECORD_BYTES * records, FLOW_RECORD_BYTES * records);
    }
}
