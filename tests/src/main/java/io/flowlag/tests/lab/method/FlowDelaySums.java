package io.flowlag.tests.lab.method;

import java.util.Arrays;

/** Sums of delay samples of flows. One thread. */
final class FlowDelaySums {
    final int[] samples;
    private final double[] sumsNs;

    FlowDelaySums(final int flows) {
        samples = new int[flows];
        sumsNs = new double[flows];
    }

    void add(final int flow, final double delayNs) {
        samples[flow]++;
        sumsNs[flow] += delayNs;
    }

    /** Fills means of flows with samples; others get the given value. */
    void means(final double[] meansNs, final double otherwiseNs) {
        for (int flow = 0; flow < samples.length; flow++) {
            meansNs[flow] = samples[flow] == 0 ? otherwiseNs : sumsNs[flow] / samples[flow];
        }
    }

    int flowsWithSamples() {
        return (int) Arrays.stream(samples).filter(count -> count > 0).count();
    }
}
