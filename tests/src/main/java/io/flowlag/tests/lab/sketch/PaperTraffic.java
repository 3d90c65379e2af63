package io.flowlag.tests.lab.sketch;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Traffic after the LDS paper's description (section 5): flows with bounded Pareto sizes that sum to 53 packets a flow and of
 * which 4.4 % have more than 50 (section 3.1), delays of one of three models, and uniform loss. A packet is not kept: {@link
 * #play} makes the same ones each time.
 */
final class PaperTraffic {
    static final double SIZE_SHAPE = 0.8;
    static final double PACKETS_PER_FLOW = 7_760_000 / 146_000.0;
    static final double DELAY_SHAPE = 0.6;
    static final double DELAY_SCALE_NS = 2_000_000;
    private static final double MODE_NS = 1_000_000;
    private static final double MODE_SPREAD = 0.1;

    /** Of the mixture: shares and upper ends of uniform parts, then a generalised Pareto part, and Weibull for the rest. */
    private static final double[] UNIFORM_SHARES = {0.3072, 0.2465, 0.0495, 0.0537, 0.1043};
    private static final double[] UNIFORM_WIDTHS = {1, 2, 3, 4, 6};
    private static final double PARETO_SHARE = 0.0940;
    private static final double PARETO_SHAPE = 1.450289555235508;
    private static final double PARETO_LOCATION = 16;
    private static final double PARETO_SCALE = 23.204632883768134;
    private static final double WEIBULL_SHAPE = 2.296901396361971;
    private static final double WEIBULL_SCALE = 9.594128278908507;
    private static final double FULL_PACKET_BYTES = 1460;
    private static final int LARGEST_FLOW = 120_000;
    private static final double QUEUE_LOAD = 0.9;
    private static final double SERVICE_NS = 10_000;
    private static final int PACKET_BYTES = 500;

    /** How long a packet takes. */
    enum DelayModel {
        /** Each packet by itself, Weibull of shape 0.6. */
        INDEPENDENT,
        /** As before, with a scale of the flow's own, within a factor of 4 either way: the common part of a flow's delays. */
        PER_FLOW,
        /** Each flow in one of two queues, at least 0.9 or 3.6 ms: the paper's two modes, whose place it does not print. */
        TWO_MODES,
        /** Delays of a FIFO queue at 90 % load, with packets in random order. */
        FIFO_QUEUE,
        /** Each packet by itself, from the measured delays of a 5G link ({@link MeasuredDelays}). */
        MEASURED
    }

    /** How many packets flows have. */
    enum SizeModel {
        /** The LDS paper's trace: bounded Pareto of shape 0.8, 53 packets a flow. */
        PARETO("Pareto 0.8, 53 a flow"),
        /** AGH 2015 (Jurkiewicz, Rzym and Boryło, arXiv 1809.03486): their mixture for lengths of flows, cut at 120 000. */
        AGH("AGH 2015"),
        /** TCP flows of a backbone link (CAIDA, January 2019): measured octets, in full packets. */
        CAIDA("CAIDA 2019, full packets");

        final String title;

        SizeModel(final String title) {
            this.title = title;
        }
    }

    /** Takes packets. */
    @FunctionalInterface
    interface PacketSink {
        void onPacket(int flow, long digest, long sentNs, long delayNs, int bytes, boolean lost);
    }

    final int[] flowPackets;
    final long[] flowHashes;
    final long packets;
    private final long seed;
    private final DelayModel delays;
    private final MeasuredDelays link;

    PaperTraffic(final int flows, final DelayModel delays, final long seed) {
        this(flows, delays, SizeModel.PARETO, seed);
    }

    PaperTraffic(final int flows, final DelayModel delays, final SizeModel sizes, final long seed) {
        this(flows, delays, MeasuredDelays.URLLC_DOWNLINK, sizes, seed);
    }

    PaperTraffic(final int flows, final MeasuredDelays link, final long seed) {
        this(flows, DelayModel.MEASURED, link, SizeModel.PARETO, seed);
    }

    private PaperTraffic(
        final int flows, final DelayModel delays, final MeasuredDelays link, final SizeModel sizes, final long seed) {
        this.seed = seed;
        this.delays = delays;
        this.link = link;
        final SplittableRandom random = new SplittableRandom(seed);
        flowHashes = random.longs(flows).toArray();
        flowPackets = switch (sizes) {
            case AGH -> mixtureSizes(flows, random);
            case CAIDA -> measuredSizes(flows, random);
            default -> sizes(flows, random);
        };
        packets = Arrays.stream(flowPackets).asLongStream().sum();
    }

    /** One size from each of as many slices of the distribution, so that the sum varies little between seeds. */
    private static int[] sizes(final int flows, final SplittableRandom random) {
        final double[] quantiles = new double[flows];
        for (int flow = 0; flow < flows; flow++) {
            quantiles[flow] = (flow + random.nextDouble()) / flows;
        }
        double low = 100;
        double high = 1e9;
        while (high / low > 1.0001) {
            final double middle = Math.sqrt(low * high);
            final double mean = Arrays.stream(sizesBelow(middle, quantiles)).average().orElseThrow();
            low = mean > PACKETS_PER_FLOW ? low : middle;
            high = mean > PACKETS_PER_FLOW ? middle : high;
        }
        return sizesBelow(low, quantiles);
    }

    /** Each size by itself: the next whole number above a draw of the mixture. */
    private static int[] mixtureSizes(final int flows, final SplittableRandom random) {
        final int[] sizes = new int[flows];
        for (int flow = 0; flow < flows; flow++) {
            double place = random.nextDouble();
            final double draw = 1 - random.nextDouble();
            int part = 0;
            while (part < UNIFORM_SHARES.length && place >= UNIFORM_SHARES[part]) {
                place -= UNIFORM_SHARES[part++];
            }
            final double size;
            if (part < UNIFORM_SHARES.length) {
                size = UNIFORM_WIDTHS[part] * draw;
            } else if (place < PARETO_SHARE) {
                size = PARETO_LOCATION + PARETO_SCALE * (Math.pow(draw, -PARETO_SHAPE) - 1) / PARETO_SHAPE;
            } else {
                size = WEIBULL_SCALE * Math.pow(-Math.log(draw), 1 / WEIBULL_SHAPE);
            }
            sizes[flow] = (int) Math.min(LARGEST_FLOW, Math.max(1, Math.ceil(size)));
        }
        return sizes;
    }

    /** Each size by itself: so many full packets hold a flow's octets. */
    private static int[] measuredSizes(final int flows, final SplittableRandom random) {
        final MeasuredQuantiles octets = new MeasuredQuantiles("flow-sizes-caida.csv");
        return random.doubles(flows)
            .mapToInt(share -> (int) Math.min(LARGEST_FLOW, Math.ceil(octets.logarithmic(share) / FULL_PACKET_BYTES)))
            .toArray();
    }

    private static int[] sizesBelow(final double largest, final double[] quantiles) {
        final double tailAtLargest = Math.pow(largest, -SIZE_SHAPE);
        return Arrays.stream(quantiles)
            .mapToInt(quantile -> (int)Math.pow(1 - quantile * (1 - tailAtLargest), -1 / SIZE_SHAPE)).toArray();
    }

    int flows() {
        return flowPackets.length;
    }

    /** Plays every packet; the same ones each time, and the same losses for the same rate. */
    void play(final double lossRate, final PacketSink sink) {
        final SplittableRandom random = new SplittableRandom(seed + 1);
        final SplittableRandom losses = new SplittableRandom(seed + 2);
        if (delays == DelayModel.FIFO_QUEUE) {
            playQueue(random, losses, lossRate, sink);
            return;
        }
        final SplittableRandom scales = new SplittableRandom(seed + 3);
        long sentNs = 0;
        for (int flow = 0; flow < flows(); flow++) {
            final double factor = factor(scales);
            for (int packet = 0; packet < flowPackets[flow]; packet++) {
                final long delayNs = delayNs(factor, random);
                sink.onPacket(flow, random.nextLong(), sentNs, delayNs, PACKET_BYTES, losses.nextDouble() < lossRate);
                sentNs += 127;
            }
        }
    }

    /** What a flow's delays are multiplied by. */
    double factor(final SplittableRandom scales) {
        return switch (delays) {
            case PER_FLOW -> Math.pow(4, 2 * scales.nextDouble() - 1);
            case TWO_MODES -> scales.nextDouble() < 0.5 ? 1 : 4;
            default -> 1;
        };
    }

    /** A packet's delay, where it does not depend on other packets. */
    long delayNs(final double factor, final SplittableRandom random) {
        if (delays == DelayModel.MEASURED) {
            return link.delayNs(random.nextDouble());
        }
        if (delays == DelayModel.TWO_MODES) {
            return Math.round(factor * MODE_NS * (1 - MODE_SPREAD - MODE_SPREAD * Math.log(1 - random.nextDouble())));
        }
        return Math.round(factor * DELAY_SCALE_NS * Math.pow(-Math.log(1 - random.nextDouble()), 1 / DELAY_SHAPE));
    }

    DelayModel delays() {
        return delays;
    }

    private void playQueue(
        final SplittableRandom random, final SplittableRandom losses, final double lossRate, final PacketSink sink) {
        double clockNs = 0;
        double freeNs = 0;
        for (final int flow : arrivals()) {
            clockNs -= SERVICE_NS / QUEUE_LOAD * Math.log(1 - random.nextDouble());
            freeNs = Math.max(freeNs, clockNs) - SERVICE_NS * Math.log(1 - random.nextDouble());
            sink.onPacket(flow, random.nextLong(), (long)clockNs, (long)(freeNs - clockNs), PACKET_BYTES,
                losses.nextDouble() < lossRate);
        }
    }

    /** The flow of each packet, each flow's within a stretch of time, so that flows see different states of the queue. */
    int[] arrivals() {
        final SplittableRandom random = new SplittableRandom(seed + 4);
        final long[] order = new long[(int)packets];
        int index = 0;
        for (int flow = 0; flow < flows(); flow++) {
            final double length = Math.min(1, 2e-7 * flowPackets[flow] * 20 + 0.02 * random.nextDouble());
            final double start = random.nextDouble() * (1 - length);
            for (int packet = 0; packet < flowPackets[flow]; packet++) {
                order[index++] = (long)((start + length * random.nextDouble()) * (1L << 40)) << 22 | flow;
            }
        }
        Arrays.sort(order);
        return Arrays.stream(order).mapToInt(key -> (int)(key & (1 << 22) - 1)).toArray();
    }
}
