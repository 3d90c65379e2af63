package io.flowlag.tests.lab.method;

import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.tests.lab.comparator.OrderPreservingAggregator;
import io.flowlag.tests.lab.comparator.WaveletTimes;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * OPA: both points divide packets into groups by their digests. The sender ships each group's aggregator and its compressed
 * times; the receiver keeps digest and time of every packet until it knows the sender's order, and has each packet's delay.
 * Displaced packets are looked for in groups of up to 1000.
 */
public final class OpaMethod extends Simple.Named {
    private static final int SENT_BYTES = 8;
    private static final int RECEIVED_BYTES = 16;
    private static final int SHIFT = 2;
    private static final int LARGE_GROUP = 1_000;

    private final int packetsPerGroup;
    private final double share;

    /**
     * The method.
     *
     * @param packetsPerGroup on average: 10 000 in the paper's example, or a tenth of the packets for each that is lost.
     * @param share           of the coefficients that times are compressed to, a tenth in the paper; 1 keeps all times.
     */
    public OpaMethod(final int packetsPerGroup, final double share) {
        super("OPA, groups of " + packetsPerGroup + (share < 1 ? ", times 1/" + Math.round(1 / share) : ""));
        this.packetsPerGroup = packetsPerGroup;
        this.share = share;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final int groups = Math.max(1, trace.packets() / packetsPerGroup);
        final int[][] sent = grouped(trace, groups, IntStream.range(0, trace.packets()).boxed()
            .sorted(Comparator.comparingLong(trace::sentNsOf)).mapToInt(Integer::intValue));
        final int[][] received =
            grouped(trace, groups, IntStream.range(0, trace.packets()).filter(packet -> !trace.isLost(packet)));
        final FlowDelaySums sums = new FlowDelaySums(trace.flows());
        long octets = 0;
        for (int group = 0; group < groups; group++) {
            if (sent[group].length > 0) {
                octets += OrderPreservingAggregator.BYTES + WaveletTimes.bytes(sent[group].length, share);
                solve(trace, sent[group], received[group], sums);
            }
        }
        sums.means(meansNs, Double.NaN);
        return new Cost(SENT_BYTES * (long) trace.packets() + RECEIVED_BYTES * trace.receivedPackets() +
            2L * OrderPreservingAggregator.BYTES * groups, octets);
    }

    private void solve(final PathTrace trace, final int[] sent, final int[] received, final FlowDelaySums sums) {
        final OrderPreservingAggregator aggregator = new OrderPreservingAggregator();
        for (final int packet : sent) {
            aggregator.add(trace.digestOf(packet));
        }
        final int[] places = aggregator.places(Arrays.stream(received).mapToLong(trace::digestOf).toArray(),
            sent.length > LARGE_GROUP ? 0 : SHIFT);
        if (places != null) {
            final long[] timesNs = WaveletTimes.restored(Arrays.stream(sent).mapToLong(trace::sentNsOf).toArray(), share);
            for (int i = 0; i < received.length; i++) {
                sums.add(trace.flowOf(received[i]), trace.arrivalNsOf(received[i]) - timesNs[places[i]]);
            }
        }
    }

    private static int[][] grouped(final PathTrace trace, final int groups, final IntStream order) {
        final IntStream.Builder[] packets = new IntStream.Builder[groups];
        Arrays.setAll(packets, group -> IntStream.builder());
        order.forEach(packet ->
            packets[(int) Long.remainderUnsigned(LabRandom.mix(trace.digestOf(packet)), groups)].add(packet));
        return Arrays.stream(packets).map(group -> group.build().toArray()).toArray(int[][]::new);
    }
}
