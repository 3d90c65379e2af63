package io.flowlag.tests.lab.method;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LaterMethodsTest {
    private static final int FLOWS = 50;
    private static final int PACKETS = 20_000;

    /** Packets 1 µs apart, each flow with a delay of its own of 10 µs to 500 µs, and so in another order than they were sent. */
    private static PathTrace trace(final boolean isFifo) {
        final SplittableRandom random = new SplittableRandom(1);
        final PathTrace trace = new PathTrace(random.longs(FLOWS).toArray());
        for (int packet = 0; packet < PACKETS; packet++) {
            final int flow = random.nextInt(FLOWS);
            trace.add(flow, random.nextLong(), 1_000L * packet, isFifo ? 10_000 : 10_000L * (flow + 1), 500, false);
        }
        return trace;
    }

    private static double[] means(final DelayMethod method, final PathTrace trace) {
        final double[] meansNs = new double[trace.flows()];
        method.estimate(trace, meansNs);
        return meansNs;
    }

    /** Every packet counts, or is left out: a class of delays is exact if all of its packets have one delay. */
    @Test
    void shouldKnowEachPacketsDelayByOpaAndByTheStore() {
        final double[] opa = means(new OpaMethod(1_000, 1), trace(true));
        final double[] stored = means(new StoredDelays(), trace(false));

        for (int flow = 0; flow < FLOWS; flow++) {
            assertEquals(10_000, opa[flow], 1e-9);
            assertEquals(10_000 * (flow + 1), stored[flow], 0.13 * 10_000 * (flow + 1), "flow " + flow);
        }
        assertEquals(10_000, stored[0], 1e-9);
    }

    /** The more counters, the less noise; as many as packets leave a flow nearly alone. */
    @Test
    void shouldRemoveTheNoiseOfSharedCounters() {
        final PathTrace trace = trace(false);
        double before = Double.MAX_VALUE;
        for (final double bits : new double[] {0.5, 8, 64}) {
            final double[] means = means(new SharedCounters(bits, 4), trace);
            double squares = 0;
            for (int flow = 0; flow < FLOWS; flow++) {
                squares += Math.pow(means[flow] / trace.trueMeanNs(flow) - 1, 2) / FLOWS;
            }
            assertTrue(squares < before, bits + " " + squares);
            before = squares;
        }
        assertTrue(before < 0.01, "" + before);
    }
}
