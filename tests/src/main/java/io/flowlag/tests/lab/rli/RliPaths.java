package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.counters.SpanCounters;
import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.path.PathFinder;
import io.flowlag.rli.receiver.DelaySamples;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.receiver.HeldOutErrors;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import io.flowlag.rli.receiver.SerialisationMode;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Equal paths with a queue each: references from one source port, from a port for each path, and from sixteen ports. */
public final class RliPaths implements Experiment {
    private static final double[] UTILIZATIONS = {0.70, 0.88, 0.80, 0.60, 0.92, 0.75, 0.65, 0.85};
    private static final double CAPACITY_SHARE = 0.8;
    private static final long REFERENCE_GAP_NS = 55_000;
    private static final int NOT_SENT = -1;
    private static final int FIRST_PORT = 40_000;
    private static final long COUNTED_PACKETS = 100;
    private static final double KNOWN_SHARE = 0.05;
    private static final int MOST_REFERENCES = 400_000;
    private static final int SHORTER_LANES = 7;
    private static final double JITTER_NS = 100_000;
    private static final SketchGeometry SKETCH = SketchGeometry.lds(4, 16 * 1024, 4);
    private static final double NORMAL_95 = 1.96;

    /** How references and flows meet. */
    enum Case {
        /** A stream for each path, and flows whose path is known: nothing better is possible. */
        EACH("a stream for each path"),
        /** One source port, so one path's references. */
        ONE_PORT("one source port"),
        /** Sixteen source ports; nothing says which path a flow takes. */
        MIXED("16 ports, no known delays"),
        /** Sixteen source ports, and a few packets of a flow with known delays. */
        KNOWN("16 ports, known delays"),
        /** Sixteen source ports, and means by sketches. */
        SKETCHED("16 ports, sketches");

        private final String title;

        Case(final String title) {
            this.title = title;
        }
    }

    /** A packet or reference that has arrived. */
    private record Arrival(
        int path, int flow, int number, boolean isReference, int lengthBytes, long sentNs, long arrivalNs) {
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("paths", "Relative errors of means of flows of " + COUNTED_PACKETS +
            " packets or more; a reference on each path every " + REFERENCE_GAP_NS / 1000 + " us; known: one packet in " +
            Math.round(1 / KNOWN_SHARE), "paths", "references", "found", "error, median %", "bound holds, %",
            "bound over error, median", "bounds, %");
        for (int paths = 2; paths <= PathFinder.MOST_PATHS; paths *= 2) {
            final int pathCount = paths;
            for (final Case each : Case.values()) {
                final double[] row = setup.medians(
                    seed -> new Run(pathCount, setup.size(100_000, 400_000, 1_600_000), setup.firstSeed(0) + seed).score(each));
                table.row(paths, each.title, Math.round(row[0]), row[1], row[2], row[3], row[4]);
            }
        }
        sketch(setup, results);
        separate(setup, results);
    }

    /** What sketches of the default shape tell of paths, in intervals with more and more packets. */
    private static void sketch(final Setup setup, final Results results) {
        final Table table = results.table("sketched",
            "Flows of " + COUNTED_PACKETS + " packets or more whose path cells of the " +
            "default shape decide, without a known delay", "paths", "packets a cell", "right, %", "wrong, %",
            "right, % of packets");
        for (int paths = 2; paths <= PathFinder.MOST_PATHS; paths *= 2) {
            final int pathCount = paths;
            for (int share = 1; share <= 4; share *= 4) {
                final int packets = setup.size(25_000, 100_000, 400_000) * share;
                final double[] row = setup.medians(
                    seed -> new Run(pathCount, packets, setup.firstSeed(0) + seed).sketched());
                table.row(paths, row[3], row[0], row[1], row[2]);
            }
        }
    }

    /** Two paths whose delays differ in their mean only, by shares of their standard deviation. */
    private static void separate(final Setup setup, final Results results) {
        final Table table = results.table("similar", "Two paths with means that differ by a share of the jitter, seven ports " +
            "on one and nine on the other, at most " + MOST_REFERENCES + " references", "difference/jitter",
            "told apart after, references", "told apart, % of runs", "found said after, references");
        for (final double difference : new double[] {0, 0.1, 0.2, 0.3, 0.5, 1, 2, 4}) {
            final double[] row = setup.medians(seed -> separation(difference, setup.firstSeed(0) + seed));
            table.row(difference, row[0], 100 * row[1], row[2]);
        }
    }

    /** {@return references until two paths are found, or the most; 1 if they were, else 0; and until paths count as found} */
    static double[] separation(final double difference, final long seed) {
        final Random random = new Random(seed);
        final PathFinder finder = new PathFinder();
        final List<Integer> lanes = new ArrayList<>(IntStream.range(0, PathFinder.LANES).boxed().toList());
        double found = 0;
        int references = 0;
        while (references < MOST_REFERENCES && finder.pathCount() == 1) {
            Collections.shuffle(lanes, random);
            for (final int lane : lanes) {
                final double level = lane < SHORTER_LANES ? 0 : difference;
                finder.onReference(finder.lane(FIRST_PORT + lane), references++ / PathFinder.LANES,
                    references * REFERENCE_GAP_NS, JITTER_NS * (10 + level + random.nextGaussian()));
                found = found == 0 && references > PathFinder.LANES && finder.isFound() ? references : found;
            }
        }
        return new double[] {references, finder.pathCount() > 1 ? 1 : 0, found};
    }

    /** One trace over all paths, and a receiver for each case. */
    static final class Run {
        private final int pathCount;
        private final int flowCount;
        private final List<Arrival> arrivals = new ArrayList<>();
        private final long[] truePackets;
        private final double[] trueSumsNs;
        private final double[] sumsBytes;
        private final long seed;
        private final List<Integer> order;
        private final Map<Integer, Integer> portByNumber = new HashMap<>();
        private final long fromNs;
        private long capacityBps;
        private long[] samples;
        private double[] sumsNs;
        private UnsafeBuffer spans;
        private RliReceiver receiver;

        Run(final int pathCount, final int packets, final long seed) {
            this.pathCount = pathCount;
            this.seed = seed;
            order = new ArrayList<>(IntStream.range(0, PathFinder.LANES / pathCount).boxed().toList());
            int flows = 0;
            for (int path = 0; path < pathCount; path++) {
                flows = Math.max(flows, simulate(path, packets));
            }
            flowCount = flows;
            truePackets = new long[pathCount * flowCount];
            trueSumsNs = new double[truePackets.length];
            sumsBytes = new double[truePackets.length];
            // Until the first path has no traffic left: references of a path end with its traffic.
            final long untilNs = IntStream.range(0, pathCount).mapToLong(path -> arrivals.stream()
                .filter(each -> each.path == path).mapToLong(Arrival::arrivalNs).max().orElseThrow()).min().orElseThrow();
            arrivals.removeIf(each -> each.arrivalNs > untilNs);
            arrivals.sort(Comparator.comparingLong(Arrival::arrivalNs));
            fromNs = arrivals.get(2 * (arrivals.size() / 3)).arrivalNs;
            for (final Arrival each : arrivals) {
                if (isCounted(each)) {
                    truePackets[slot(each)]++;
                    trueSumsNs[slot(each)] += each.arrivalNs - each.sentNs;
                    sumsBytes[slot(each)] += each.lengthBytes;
                }
            }
        }

        /** Packets of the first two thirds come while paths are searched for. */
        private boolean isCounted(final Arrival arrival) {
            return !arrival.isReference && arrival.sentNs >= fromNs;
        }

        private int slot(final Arrival arrival) {
            return arrival.path * flowCount + arrival.flow;
        }

        private int simulate(final int path, final int packets) {
            final SegmentProfile alike = PaperSegment.of(CAPACITY_SHARE, PaperSegment.dropTail(), packets, seed * 100 + path)
                .with(ReferenceModel.of(new EveryIntervalPolicy(REFERENCE_GAP_NS)));
            final SegmentProfile profile = alike.with(alike.load().swinging(UTILIZATIONS[path], UTILIZATIONS[path], 1));
            capacityBps = profile.capacityBps();
            final SimulatedSegment segment = new SimulatedSegment(profile);
            segment.run(new SegmentHandler() {
                @Override
                public void onSent(final SimulatedPacket packet) {
                }

                @Override
                public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
                    arrivals.add(new Arrival(path, packet.flow(), packet.number(), packet.isReference(), packet.lengthBytes(),
                        packet.sentNs(), arrivalNs));
                }

                @Override
                public void onLost(final SimulatedPacket packet) {
                }
            });
            return segment.flows().flowCount();
        }

        /** {@return paths found, median error, share of bounds that hold, bounds over errors, share of flows with bounds} */
        double[] score(final Case each) {
            samples = new long[truePackets.length];
            sumsNs = new double[truePackets.length];
            spans = new UnsafeBuffer(new byte[truePackets.length * SpanCounters.LENGTH_BYTES]);
            final int streams = each == Case.EACH ? pathCount : 1;
            receiver = new RliReceiver(
                ReceiverSettings.defaults()
                    .withStreams(streams, IntStream.range(0, streams).boxed().toList())
                    .withEstimation(new ReceiverSettings.Estimation(
                        Estimator.LINEAR, SendTimes.STAMP, false, SerialisationMode.CAPACITY, capacityBps))
                    .withHistograms(new ReceiverSettings.Histograms(2, 1)).withPathFlows(truePackets.length),
                this::onSamples);
            play(each);
            return results(each);
        }

        /** {@return flows whose path sketches decide, rightly and wrongly, %; packets of the former, %; packets a cell} */
        double[] sketched() {
            score(Case.KNOWN);
            final double[] knownNs = IntStream.range(0, truePackets.length).mapToDouble(this::decidedNs).toArray();
            score(Case.SKETCHED);
            final double[] counts = new double[5];
            double flows = 0;
            for (int slot = 0; slot < truePackets.length; slot++) {
                counts[4] += truePackets[slot];
                if (truePackets[slot] >= COUNTED_PACKETS && !Double.isNaN(knownNs[slot])) {
                    final double decidedNs = decidedNs(slot);
                    final boolean isRight = decidedNs == knownNs[slot];
                    counts[0] += isRight ? 1 : 0;
                    counts[1] += Double.isNaN(decidedNs) || isRight ? 0 : 1;
                    counts[2] += isRight ? truePackets[slot] : 0;
                    counts[3] += truePackets[slot];
                    flows++;
                }
            }
            return new double[] {100 * counts[0] / flows, 100 * counts[1] / flows, 100 * counts[2] / counts[3],
                counts[4] / SKETCH.columns()};
        }

        private double decidedNs(final int slot) {
            final PathEstimate path = receiver.stream(0).paths().resolve(slot, 0, new PathEstimate());
            return path.state() == PathEstimate.State.KNOWN ? path.meanNs() : Double.NaN;
        }

        private void tellMeans() {
            final LossyDifferenceSketch sent = new LossyDifferenceSketch(SKETCH, seed);
            final LossyDifferenceSketch received = new LossyDifferenceSketch(SKETCH, seed);
            for (final Arrival one : arrivals) {
                if (isCounted(one)) {
                    final long hash = LabRandom.mix(seed + LabRandom.mix(slot(one)));
                    final long digest = LabRandom.mix(hash + one.number);
                    sent.update(hash, digest, one.sentNs, one.lengthBytes, 1);
                    received.update(hash, digest, one.arrivalNs, one.lengthBytes, 1);
                }
            }
            final FlowEstimator estimator = new FlowEstimator(SKETCH, seed);
            estimator.pair(sent.image(), received.image());
            final FlowEstimate estimate = new FlowEstimate();
            for (int slot = 0; slot < truePackets.length; slot++) {
                if (truePackets[slot] >= COUNTED_PACKETS) {
                    estimator.estimate(LabRandom.mix(seed + LabRandom.mix(slot)), 1, truePackets[slot], estimate);
                    if (estimate.hasMean()) {
                        receiver.stream(0).paths().onMean(slot, 0, truePackets[slot], estimate.meanNs(),
                            estimate.boundNs() / NORMAL_95,
                            SpanCounters.meanScaleNs(spans, slot * SpanCounters.LENGTH_BYTES, samples[slot]));
                    }
                }
            }
        }

        private int onSamples(final DelaySamples taken) {
            for (int i = 0; i < taken.count(); i++) {
                final int slot = taken.slot(i);
                SpanCounters.record(
                    spans, slot * SpanCounters.LENGTH_BYTES, taken.spanNumber(), taken.errorScaleNs(i), samples[slot]);
                samples[slot]++;
                sumsNs[slot] += taken.delayNs(i);
            }
            return 0;
        }

        private void play(final Case each) {
            final int[] numbers = numbers();
            final long lateNs = (arrivals.get(arrivals.size() - 1).arrivalNs - arrivals.get(0).arrivalNs) / 20;
            final Random random = new Random(seed);
            final List<Arrival> known = new ArrayList<>();
            int told = 0;
            int reference = 0;
            for (final Arrival one : arrivals) {
                while (told < known.size() && known.get(told).arrivalNs + lateNs < one.arrivalNs) {
                    final Arrival packet = known.get(told++);
                    receiver.stream(0).paths().onKnown(
                        slot(packet), 0, packet.lengthBytes, packet.arrivalNs, packet.arrivalNs - packet.sentNs);
                }
                final int stream = each == Case.EACH ? one.path : 0;
                if (one.isReference) {
                    onReference(each, one, stream, numbers[reference++]);
                } else if (isCounted(one)) {
                    receiver.stream(stream).onPacket(slot(one), 0, stream, 0, one.lengthBytes, one.arrivalNs);
                    if (each == Case.KNOWN && random.nextDouble() < KNOWN_SHARE) {
                        known.add(one);
                    }
                }
            }
            receiver.onEnd();
            if (each == Case.SKETCHED) {
                tellMeans();
            }
        }

        /** The sequence numbers of references in order of arrival: the sender counts them over all ports, in blocks. */
        private int[] numbers() {
            final List<Arrival> references = arrivals.stream().filter(Arrival::isReference).toList();
            final int[] bySending = IntStream.range(0, references.size()).boxed()
                .sorted(Comparator.comparingLong(i -> references.get(i).sentNs)).mapToInt(Integer::intValue).toArray();
            final int ports = PathFinder.LANES / pathCount;
            final Random random = new Random(seed);
            final int[] numbers = new int[bySending.length];
            final int[] used = new int[pathCount];
            long block = 0;
            int inBlock = 0;
            for (final int index : bySending) {
                final Arrival one = references.get(index);
                if (one.sentNs / (ports * REFERENCE_GAP_NS) != block) {
                    block = one.sentNs / (ports * REFERENCE_GAP_NS);
                    inBlock = 0;
                    Arrays.fill(used, 0);
                    Collections.shuffle(order, random);
                }
                final boolean isSent = used[one.path] < ports;
                numbers[index] = isSent ? (int)block * PathFinder.LANES + inBlock++ : NOT_SENT;
                portByNumber.put(numbers[index], FIRST_PORT + one.path * ports + order.get(isSent ? used[one.path]++ : 0));
            }
            return numbers;
        }

        private void onReference(final Case each, final Arrival one, final int stream, final int number) {
            if (each == Case.EACH) {
                receiver.stream(stream).onReference(one.number, one.sentNs, one.arrivalNs, one.lengthBytes);
            } else if (each == Case.ONE_PORT ? one.path == 0 : number != NOT_SENT) {
                receiver.stream(0).onReference(each == Case.ONE_PORT ? one.number : number, one.sentNs, one.arrivalNs,
                    one.lengthBytes, each == Case.ONE_PORT ? FIRST_PORT : portByNumber.get(number));
            }
        }

        private double[] results(final Case each) {
            final IntPredicate counted = slot -> truePackets[slot] >= COUNTED_PACKETS && samples[slot] > 0;
            final int[] slots = IntStream.range(0, truePackets.length).filter(counted).toArray();
            final double[] errors = new double[slots.length];
            final double[] widths = new double[slots.length];
            int held = 0;
            int bounded = 0;
            for (int i = 0; i < slots.length; i++) {
                final int slot = slots[i];
                final int stream = each == Case.EACH ? slot / flowCount : 0;
                final PathEstimate path = receiver.stream(stream).paths().resolve(slot, 0, new PathEstimate());
                final double meanNs = path.hasMean() ? path.meanNs() : sumsNs[slot] / samples[slot];
                final double trueNs = trueSumsNs[slot] / truePackets[slot];
                errors[i] = Math.abs(meanNs - trueNs) / trueNs;
                final long halfNs = halfWidthNs(stream, slot, meanNs, path);
                widths[i] = halfNs / Math.max(1, Math.abs(meanNs - trueNs));
                bounded += halfNs < Long.MAX_VALUE ? 1 : 0;
                held += halfNs < Long.MAX_VALUE && Math.abs(meanNs - trueNs) <= halfNs ? 1 : 0;
            }
            return new double[] {
                IntStream.range(0, receiver.streamCount()).map(i -> receiver.stream(i).paths().count()).sum(),
                100 * Numbers.median(errors), 100.0 * held / bounded, Numbers.median(widths), 100.0 * bounded / slots.length};
        }

        private long halfWidthNs(final int stream, final int slot, final double meanNs, final PathEstimate path) {
            final HeldOutErrors heldOut = receiver.statistics(stream).heldOut();
            final double scaleNs = SpanCounters.meanScaleNs(spans, slot * SpanCounters.LENGTH_BYTES, samples[slot]);
            final double unknown = Math.max(0, 1 - (double)samples[slot] / truePackets[slot]);
            return heldOut.halfWidthNs(
                scaleNs, samples[slot], Math.round(meanNs), unknown, sumsBytes[slot] / truePackets[slot], path);
        }
    }
}
