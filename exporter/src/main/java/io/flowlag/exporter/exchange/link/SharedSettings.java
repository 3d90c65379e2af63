package io.flowlag.exporter.exchange.link;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.WeightRule;
import io.flowlag.exporter.delay.InjectionTerms;
import io.flowlag.exporter.delay.PassiveChoice;
import io.flowlag.exporter.delay.SampledFlows;
import io.flowlag.exporter.delay.SegmentSelector;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.TrafficClasses;
import io.flowlag.exporter.delay.interval.FlowWeights;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.IntervalMode;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.exporter.exchange.wire.ExchangePrice;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.AddressPrefix;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.reconcile.PacketCache;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Converts the receiver's configuration to settings for its senders, and back. Stateless. */
public final class SharedSettings {
    private static final long LEAST_INTERVAL_NS = 1_000_000L;
    private static final long MOST_INTERVAL_NS = 86_400_000_000_000L;
    private static final long MOST_AHEAD_INTERVALS = 1_000;
    private static final double PPM_OF_PERCENT = 10_000;
    private static final long OCTETS_OF_KILOBYTE = 1_000;
    private static final long NS_PER_MS = 1_000_000;

    private SharedSettings() {
    }

    /**
     * The settings that a receiver distributes.
     *
     * @param key          of digests, 16 octets.
     * @param fromInterval the first interval to which they apply.
     * @throws IllegalArgumentException if they do not fit the exchange; the message says why.
     */
    public static ExchangeSettings of(
        final ExporterConfig config, final DirectBuffer key, final int number, final long fromInterval) {
        final ExporterConfig.Segment segment = config.segment();
        final ExporterConfig.Lds lds = config.lds();
        final List<Integer> classes = config.rli().references().classes();
        final List<SketchPart> sketches = new ArrayList<>();
        sketches.add(new SketchPart(ExchangeSettings.ANY, SketchGeometry.lds(
            lds.shape().rows(), lds.shape().columns(), lds.shape().vldaLength(),
            lds.ratesPpm().stream().mapToInt(Integer::intValue).toArray())));
        final SketchGeometry aggregator = IntervalSettings.Cells.aggregator(lds.aggregatorCells(), lds.aggregatorZeros());
        for (int i = 0; i < config.rli().classCount(); i++) {
            sketches.add(new SketchPart(classes.isEmpty() ? ExchangeSettings.ANY : i, aggregator));
        }
        return new ExchangeSettings(
            number, fromInterval, segment.intervalNs(), tailNs(segment),
            new ExchangeSettings.Content(mode(config), lds.witnessPpm(), mostFlows(config)),
            new ExchangeSettings.Secrets(
                key.getLong(0, ByteOrder.LITTLE_ENDIAN), key.getLong(Long.BYTES, ByteOrder.LITTLE_ENDIAN),
                IntervalSettings.SKETCH_SEED),
            new ExchangeSettings.Traffic(
                new ExchangeSettings.Selector(prefixes(segment.selector().sources()),
                    prefixes(segment.selector().destinations()), segment.selector().vlanId()),
                classes, rules(lds.weights())),
            injection(config.rli()).withFlowsBps(config.quantiles().bandwidthBps()), sketches);
    }

    /**
     * Time before an interval's end in which packets are sent that may arrive late, where packets are held because clocks differ.
     */
    private static long tailNs(final ExporterConfig.Segment segment) {
        return Math.min(
            segment.intervalNs(), segment.maximumDelayNs() + 2 * IntervalSettings.clockGuardNs(segment.intervalNs()));
    }

    private static ExchangeSettings.Mode mode(final ExporterConfig config) {
        return switch (config.exchange().mode()) {
            case SKETCH -> ExchangeSettings.Mode.CELLS;
            case FLOWS -> ExchangeSettings.Mode.FLOWS;
            case AUTO -> ExchangeSettings.Mode.AUTO;
        };
    }

    /** The reference settings of a receiver's senders; their policy is none if it sets none. */
    public static ExchangeSettings.Injection injection(final ExporterConfig.Rli rli) {
        if (rli.injection().policy() == ExporterConfig.Policy.PASSIVE) {
            return ExchangeSettings.Injection.passive(rli.passivePpm(), rli.injection().ceilingBps());
        }
        final ExporterConfig.Injection injection = rli.injection();
        return !rli.injectionGiven() ? ExchangeSettings.Injection.sampled(rli.passivePpm(), injection.ceilingBps()) :
            new ExchangeSettings.Injection(
            ExchangeSettings.Policy.valueOf(injection.policy().name()), (int)injection.everyN(), injection.everyIntervalNs(),
            new ExchangeSettings.AdaptiveRates(
                (int)Math.round(injection.minimumUtilization() * ExchangeSettings.PPM),
                (int)Math.round(injection.maximumUtilization() * ExchangeSettings.PPM),
                (int)injection.minimumRateOneIn(), (int)injection.maximumRateOneIn()),
            injection.maximumGapNs(), injection.ceilingBps(), rli.capacityBps(), rli.passivePpm());
    }

    /**
     * The reference settings of a sender, as given by its receiver.
     *
     * @param injection from the receiver, with a policy.
     * @param own       the sender's settings: its references, and the capacity of its queue if known.
     * @throws IllegalArgumentException if the sender cannot apply them; the message says why.
     */
    static InjectionTerms terms(final ExchangeSettings.Injection injection, final ExporterConfig.Rli own) {
        if (injection.policy() == ExchangeSettings.Policy.PASSIVE) {
            return InjectionTerms.PASSIVE;
        }
        final ExchangeSettings.AdaptiveRates rates = injection.rates();
        final InjectionPolicy policy = switch (injection.policy()) {
            case ADAPTIVE -> new AdaptivePolicy(
                rates.minUtilizationPpm() / (double)ExchangeSettings.PPM,
                rates.maxUtilizationPpm() / (double)ExchangeSettings.PPM, 1.0 / rates.minRate(), 1.0 / rates.maxRate());
            case EVERY_N -> new EveryNPolicy(injection.everyN());
            case EVERY_INTERVAL -> new EveryIntervalPolicy(injection.everyIntervalNs());
            default -> new CombinedPolicy(injection.everyN(), injection.everyIntervalNs());
        };
        return InjectionTerms.of(
            ExporterConfig.Policy.valueOf(injection.policy().name()), policy,
            own.capacityBps() == 0 ? injection.capacityBps() : own.capacityBps(), injection.maxGapNs(), injection.ceilingBps(),
            own);
    }

    /** What a receiver, or the process of both points, compares of an interval. */
    public static IntervalMode intervalMode(final ExporterConfig config) {
        return config.exchange().listen() == null ? IntervalMode.CELLS : intervalMode(mode(config));
    }

    private static IntervalMode intervalMode(final ExchangeSettings.Mode mode) {
        return IntervalMode.valueOf(mode.name());
    }

    /** Upper bound of an interval's octets on the network, without the digests of in-flight packets. */
    static String price(final ExchangeSettings settings) {
        final ExchangeSettings.Content content = settings.content();
        final String cells = kilobytes(ExchangePrice.cellsBytes(settings.sketches())) + " as sketches" +
            (content.witnessPpm() == 0 ? "" : " with the sums of " + content.witnessPpm() / PPM_OF_PERCENT +
            " % of the flows or more");
        final String flows =
            kilobytes(ExchangePrice.flowsBytes(content.mostFlows())) + " as sums of " + content.mostFlows() + " flows";
        return either(settings, flows, cells) + every(settings);
    }

    private static String kilobytes(final long octets) {
        return (octets + OCTETS_OF_KILOBYTE - 1) / OCTETS_OF_KILOBYTE + " kB";
    }

    /** {@return what is sent of each interval, in words} */
    static String contents(final ExchangeSettings settings) {
        final SketchGeometry cells = settings.sketches().get(0).geometry();
        return either(settings, "the sums of each flow",
            "a sketch of " + cells.rows() + " rows of " + cells.columns() + " cells") + every(settings);
    }

    private static String every(final ExchangeSettings settings) {
        return " every " + settings.intervalNs() / NS_PER_MS + " ms";
    }

    private static String either(final ExchangeSettings settings, final String flows, final String cells) {
        return switch (settings.mode()) {
            case CELLS -> cells;
            case FLOWS -> flows;
            case AUTO -> flows + ", or " + cells;
        };
    }

    /** {@return when the measurement begins, in words, from the first interval of a session: it has no loss itself} */
    static String begin(final long intervalNumber, final ExchangeSettings settings) {
        return "measuring since " + Instant.ofEpochSecond(0, (intervalNumber + 1) * settings.intervalNs()) +
            "; of flows that began earlier the loss is not known";
    }

    /** Capacity of flows in an interval. Returns flows, at least 1. */
    public static int mostFlows(final ExporterConfig config) {
        final int maxFlows = config.metering().maxFlows();
        return config.exchange().mode() != ExporterConfig.ExchangeMode.AUTO ? maxFlows : Math.min(maxFlows,
            ExchangePrice.flowsThatFit(config.segment().intervalNs(), config.exchange().bandwidthBps()));
    }

    /** Capacity of witness flows in an interval. Returns flows; 0 without witnesses. */
    static int witnessFlows(final ExchangeSettings settings, final int maxFlows) {
        final int witnessPpm = settings.content().witnessPpm();
        return witnessPpm == 0 ? 0 : IntervalSettings.Sums.witnessFlows(maxFlows, witnessPpm);
    }

    /** {@return the reconciliation settings of an end; null without reconciliation} */
    static ReconcileSettings reconcile(final ExporterConfig config) {
        return !config.reconcile().enabled() ? null : new ReconcileSettings(
            config.reconcile().packets(), config.reconcile().cells(), config.reconcile().waitNs());
    }

    /**
     * What a sender has room for.
     *
     * @param config        of the sender: packets in flight, and flows at once, some of them witnesses.
     * @param keptIntervals kept after they were sent.
     */
    public static IntervalSettings.Room room(final ExporterConfig config, final int keptIntervals) {
        return new IntervalSettings.Room(config.lds().inFlightPackets(), 1, config.metering().maxFlows(), keptIntervals);
    }

    /**
     * The agreement of a sender under the settings, with empty sketches.
     *
     * @param room        of the sender; see {@link #room}.
     * @param reconcile   reconciliation settings; null for none.
     * @param nowInterval number of the present interval, if the settings have a usable length.
     * @param isSuccessor whether they follow others of the same receiver, with the same key.
     * @throws IllegalArgumentException if the settings cannot be applied; the message says why.
     */
    public static SketchAgreement agreement(
        final ExchangeSettings settings, final IntervalSettings.Room room, final ReconcileSettings reconcile,
        final long nowInterval, final boolean isSuccessor) {
        require(settings.fromInterval() <= nowInterval + MOST_AHEAD_INTERVALS,
            "interval " + settings.fromInterval() + " is too far ahead of " + nowInterval + ": check that the clocks agree");
        final IntervalSettings own = intervalSettings(settings, room, reconcile);
        for (final SketchPart part : settings.sketches().subList(1, settings.sketches().size())) {
            require(part.geometry().family() == SketchFamily.LDA && part.geometry().equals(own.cells().aggregator()),
                "aggregators of different shapes");
        }
        final ExchangeSettings.Selector selector = settings.traffic().selector();
        return new SketchAgreement(
            new SegmentSelector(new ExporterConfig.Selector(
                selector.sources().stream().map(SharedSettings::prefix).toList(),
                selector.destinations().stream().map(SharedSettings::prefix).toList(), selector.vlan())),
            new TrafficClasses(settings.traffic().classes()),
            new FlowWeights(settings.traffic().weights().stream().map(SharedSettings::rule).toList()),
            new SipHash(settings.secrets().digestKey0(), settings.secrets().digestKey1()),
            settings.injection().passivePpm() == 0 ? null :
                new PassiveChoice(
                    new SharedSampling(settings.secrets().sketchSeed(), settings.injection().passivePpm(), 0),
                    settings.injection().ceilingBps(), new SampledFlows(
                        new SipHash(settings.secrets().digestKey0(), settings.secrets().digestKey1()),
                        settings.injection().policy() == ExchangeSettings.Policy.PASSIVE ?
                            settings.injection().capacityBps() : 0)), null,
            own, new IntervalPoint(own, false), settings.fromInterval(), isSuccessor);
    }

    /** The sizes of a sender under the settings; allocates nothing. */
    private static IntervalSettings intervalSettings(
        final ExchangeSettings settings, final IntervalSettings.Room room, final ReconcileSettings reconcile) {
        final int classCount = settings.classCount();
        final int mostFlows = settings.content().mostFlows();
        require(settings.sketches().size() == classCount + 1 &&
            settings.sketches().get(0).geometry().family() == SketchFamily.LDS, "sketches of another kind");
        require(settings.maxDelayNs() >= 1 && settings.maxDelayNs() <= settings.intervalNs(),
            "maximum delay of " + settings.maxDelayNs() + " ns: not within 1 ns and the interval");
        require(mostFlows <= FlowSums.MAX_CAPACITY, "sums of " + mostFlows + " flows: at most " + FlowSums.MAX_CAPACITY);
        require(reconcile == null || classCount <= PacketCache.MAX_CLASS_INDEX + 1,
            classCount + " classes: at most " + (PacketCache.MAX_CLASS_INDEX + 1) + " with reconciliation");
        return new IntervalSettings(
            new IntervalSettings.Cells(
                settings.sketches().get(0).geometry(), settings.sketches().get(1).geometry(), classCount,
                settings.secrets().sketchSeed(), 0),
            new IntervalSettings.Times(settings.intervalNs(), settings.maxDelayNs(), 0, settings.intervalNs(), 0),
            room, new IntervalSettings.Sums(
                intervalMode(settings.mode()), Math.max(1, mostFlows), settings.content().witnessPpm(), 1),
            null, reconcile == null ? null : reconcile.waitingAtMost(settings.intervalNs()), true, false);
    }

    /**
     * The memory of a sender for the settings, by formula; to be checked before it is allocated.
     *
     * @param room      of the sender; see {@link #room}.
     * @param reconcile reconciliation settings; null for none.
     * @return octets of all intervals that are open, in transit, or kept with their packets, and of the answers.
     * @throws IllegalArgumentException if the settings cannot be applied.
     */
    public static long memoryBytes(
        final ExchangeSettings settings, final IntervalSettings.Room room, final ReconcileSettings reconcile) {
        require(settings.intervalNs() >= LEAST_INTERVAL_NS && settings.intervalNs() <= MOST_INTERVAL_NS,
            "interval of " + settings.intervalNs() + " ns: not within 1 ms and 1 d");
        final long encodedBytes =
            settings.mode() == ExchangeSettings.Mode.CELLS ? 0 : ExchangePrice.flowsBytes(settings.content().mostFlows());
        final IntervalSettings own = intervalSettings(settings, room, reconcile);
        return IntervalPoint.bytes(own, false) + 2 * encodedBytes +
            (reconcile == null ? 0 : reconcile.responderBytes() + reconcile.mostAnswerBytes());
    }

    /**
     * Restricts the segment's selector to one sender's prefixes; none means all.
     *
     * @throws IllegalArgumentException if nothing is left, or too many prefixes.
     */
    static ExchangeSettings.Selector within(final ExchangeSettings.Selector all, final List<Prefix> sources) {
        if (sources.isEmpty()) {
            return all;
        }
        final List<Prefix> common = new ArrayList<>();
        for (final Prefix source : sources) {
            if (all.sources().isEmpty()) {
                common.add(source);
            }
            for (final AddressPrefix each : all.sources()) {
                final Prefix other = prefix(each);
                if (other.overlaps(source)) {
                    common.add(other.lengthBits() > source.lengthBits() ? other : source);
                }
            }
        }
        require(!common.isEmpty(), "segment.source has none of the source prefixes of a sender of rli.senders");
        return new ExchangeSettings.Selector(prefixes(common), all.destinations(), all.vlan());
    }

    private static List<AddressPrefix> prefixes(final List<Prefix> prefixes) {
        return prefixes.stream().map(SharedSettings::prefix).toList();
    }

    private static Prefix prefix(final AddressPrefix prefix) {
        return prefix == null ? null : new Prefix(prefix.family() == 6, prefix.high(), prefix.low(), prefix.lengthBits());
    }

    /** One rule of the configuration becomes one rule per combination of ports, protocols and marks. */
    private static List<ExchangeSettings.WeightRule> rules(final List<WeightRule> rules) {
        final List<ExchangeSettings.WeightRule> all = new ArrayList<>();
        for (final WeightRule rule : rules) {
            if (rule.ports().isEmpty()) {
                add(rule, rule.sourcePorts(), rule.destinationPorts(), all);
            } else {
                add(rule, rule.ports(), List.of(), all);
                add(rule, List.of(), rule.ports(), all);
            }
        }
        require(all.size() <= ExchangeSettings.MAX_WEIGHTS, "lds.weights: " + all.size() +
            " combinations of ports, protocols and marks; the exchange holds " + ExchangeSettings.MAX_WEIGHTS);
        return all;
    }

    private static void add(
        final WeightRule rule, final List<WeightRule.PortRange> sourcePorts,
        final List<WeightRule.PortRange> destinationPorts, final List<ExchangeSettings.WeightRule> all) {
        for (final WeightRule.PortRange source : orAny(sourcePorts)) {
            for (final WeightRule.PortRange destination : orAny(destinationPorts)) {
                for (final int protocol : orAnyNumber(rule.protocols())) {
                    for (final int dscp : orAnyNumber(rule.codePoints())) {
                        all.add(new ExchangeSettings.WeightRule(
                            prefix(rule.source()), prefix(rule.destination()), source.first(), source.last(),
                            destination.first(), destination.last(), protocol, dscp, rule.weight()));
                    }
                }
            }
        }
    }

    private static List<WeightRule.PortRange> orAny(final List<WeightRule.PortRange> ranges) {
        return ranges.isEmpty() ?
            List.of(new WeightRule.PortRange(0, ExchangeSettings.WeightRule.MAX_PORT)) : ranges;
    }

    private static List<Integer> orAnyNumber(final List<Integer> numbers) {
        return numbers.isEmpty() ? List.of(ExchangeSettings.ANY) : numbers;
    }

    private static AddressPrefix prefix(final Prefix prefix) {
        return prefix == null ? null :
            new AddressPrefix(prefix.isIpv6() ? 6 : 4, prefix.lengthBits(), prefix.high(), prefix.low());
    }

    private static WeightRule rule(final ExchangeSettings.WeightRule rule) {
        require(rule.weight() <= WeightRule.MAX_WEIGHT, "weight " + rule.weight() + " is above " + WeightRule.MAX_WEIGHT);
        return new WeightRule(
            prefix(rule.source()), prefix(rule.destination()),
            ports(rule.firstSourcePort(), rule.lastSourcePort()),
            ports(rule.firstDestinationPort(), rule.lastDestinationPort()), List.of(),
            rule.protocol() == ExchangeSettings.ANY ? List.of() : List.of(rule.protocol()),
            rule.dscp() == ExchangeSettings.ANY ? List.of() : List.of(rule.dscp()), rule.weight());
    }

    private static List<WeightRule.PortRange> ports(final int first, final int last) {
        return first == 0 && last == ExchangeSettings.WeightRule.MAX_PORT ?
            List.of() : List.of(new WeightRule.PortRange(first, last));
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
