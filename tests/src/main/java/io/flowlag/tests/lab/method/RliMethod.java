package io.flowlag.tests.lab.method;

import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** RLI and RLI-L: the module {@code rli}, over the references of the trace. */
public final class RliMethod extends Simple.Named {
    /** No estimate. */
    public static final long NONE = Long.MIN_VALUE;

    private static final long LONGEST_DELAY_NS = TimeUnit.SECONDS.toNanos(20);

    private final Estimator estimator;

    /**
     * The method.
     *
     * @param estimator linear for RLI, left for RLI-L.
     */
    public RliMethod(final Estimator estimator) {
        super(estimator == Estimator.LINEAR ? "RLI" : "RLI-L");
        this.estimator = estimator;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final long[] estimatesNs = new long[trace.packets()];
        final long receiverBytes = packets(trace, estimatesNs);
        final FlowDelaySums sums = new FlowDelaySums(trace.flows());
        for (int packet = 0; packet < trace.packets(); packet++) {
            if (estimatesNs[packet] != NONE) {
                sums.add(trace.flowOf(packet), estimatesNs[packet]);
            }
        }
        sums.means(meansNs, Double.NaN);
        return new Cost(receiverBytes + (long) DelayCounters.LENGTH_BYTES * trace.flows(), controlBytes(trace));
    }

    /** {@return octets of the references of a trace} */
    public static long controlBytes(final PathTrace trace) {
        return (long) trace.references() * trace.referenceBytes();
    }

    /**
     * Estimates every packet.
     *
     * @param estimatesNs takes an estimate for each packet, or {@link #NONE}.
     * @return the receiver's memory, octets.
     */
    public long packets(final PathTrace trace, final long[] estimatesNs) {
        Arrays.fill(estimatesNs, NONE);
        final ReceiverSettings defaults = ReceiverSettings.defaults();
        final ReceiverSettings settings = defaults
            .withEstimation(new ReceiverSettings.Estimation(
                estimator, SendTimes.STAMP, false,
                trace.capacityBps() > 0 ? SerialisationMode.CAPACITY : SerialisationMode.NONE, trace.capacityBps()))
            .withLimits(new ReceiverSettings.Limits(
                defaults.limits().bufferPackets(), LONGEST_DELAY_NS, Long.MAX_VALUE, LONGEST_DELAY_NS))
            .withHistograms(new ReceiverSettings.Histograms(2, 1));
        final RliReceiver receiver = new RliReceiver(
            settings, (samples) -> {
                for (int i = 0; i < samples.count(); i++) {
                    estimatesNs[samples.slot(i)] = samples.delayNs(i);
                }
                return 0;
            });
        int reference = 0;
        for (int packet = 0; packet <= trace.packets(); packet++) {
            for (; trace.referencePosition(reference) == packet; reference++) {
                receiver.stream(0).onReference(trace.referenceNumber(reference), trace.referenceSentNs(reference),
                    trace.referenceArrivalNs(reference), trace.referenceBytes());
            }
            if (packet < trace.packets() && !trace.isLost(packet)) {
                receiver.stream(0).onPacket(packet, 0, 0, 0, trace.bytesOf(packet), trace.arrivalNsOf(packet));
            }
        }
        receiver.onEnd();
        return settings.memoryBytes();
    }
}
