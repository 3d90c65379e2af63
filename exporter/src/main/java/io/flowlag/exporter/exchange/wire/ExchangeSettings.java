package io.flowlag.exporter.exchange.wire;

import io.flowlag.sketch.image.SketchGeometry;

import java.util.List;

/**
 * Settings common to both measurement points. The receiver creates, numbers and distributes them with the first interval to which
 * they apply. Immutable, any thread; allocates at construction. Each record throws an {@link IllegalArgumentException} that names
 * a value out of its range.
 *
 * @param number       of the settings, rising within a run of the receiver, at least 1.
 * @param fromInterval the first interval to which they apply.
 * @param maxDelayNs   W: longest time of packets in flight.
 * @param secrets      keys of digests and sketches.
 * @param injection    when references are sent.
 * @param sketches     the sketches of an interval, in order.
 */
public record ExchangeSettings(
    int number, long fromInterval, long intervalNs, long maxDelayNs, Content content, Secrets secrets, Traffic traffic,
    Injection injection, List<SketchPart> sketches) {
    static final int MAX_SKETCHES = 65;
    static final int MAX_PREFIXES = 64;
    static final int MAX_CLASSES = 64;
    /** Most rules for weights. */
    public static final int MAX_WEIGHTS = 256;
    public static final int PPM = 1_000_000;
    /** Any protocol, DSCP, VLAN or class. */
    public static final int ANY = -1;
    private static final int MAX_DSCP = 63;
    private static final int OLDER_PASSIVE_PPM = 10_000;

    /** What a sender sends of an interval. The order is part of SETTINGS. */
    public enum Mode {
        /** Sketches. */
        CELLS,
        /** Each flow's count, timestamp sum and digest sum. */
        FLOWS,
        /** Either, chosen by the sender at the end of each interval. */
        AUTO
    }

    /** When references are sent. The order is part of SETTINGS. */
    public enum Policy {
        /** The sender's own settings. */
        NONE,
        /** By utilisation. */
        ADAPTIVE,
        EVERY_N,
        EVERY_INTERVAL,
        /** Every n packets or every interval, whichever comes first. */
        COMBINED,
        /** Regular packets are the references; the exchange carries their send times. */
        PASSIVE
    }

    /**
     * What a sender sends of an interval.
     *
     * @param witnessPpm share of flows whose exact sums are shipped beside cells, in a million.
     * @param mostFlows  flows of an interval whose sums have room at the sender; in mode auto, those that fit the bandwidth.
     */
    public record Content(Mode mode, int witnessPpm, int mostFlows) {
        public Content {
            requirePpm("witnessPpm", witnessPpm);
            require(mostFlows >= 0, "mostFlows", mostFlows, "not negative");
        }
    }

    /**
     * Secret keys; {@code toString} hides them.
     *
     * @param digestKey0 the first half of the digest's key.
     * @param sketchSeed seed of the sketches.
     */
    public record Secrets(long digestKey0, long digestKey1, long sketchSeed) {
        @Override
        public String toString() {
            return "Secrets[hidden]";
        }
    }

    /**
     * A range of addresses.
     *
     * @param family      4 or 6.
     * @param lengthBits  how many bits of the address count.
     * @param high        first 8 octets of the address as a big-endian number; 0 for IPv4.
     * @param low         last 8 octets; for IPv4 the address.
     */
    public record AddressPrefix(int family, int lengthBits, long high, long low) {
        public AddressPrefix {
            require(family == 4 || family == 6, "family", family, "4 or 6");
            require(lengthBits >= 0 && lengthBits <= (family == 4 ? 32 : 128), "lengthBits", lengthBits, "within the address");
            require(family == 6 || high == 0 && low >>> 32 == 0, "family", family, "4 with a longer address");
        }
    }

    /**
     * Which packets belong to the segment.
     *
     * @param sources      prefixes of which one must hold the source; none means all.
     * @param destinations prefixes of which one must hold the destination; none means all.
     * @param vlan         0-4094, or {@link #ANY}.
     */
    public record Selector(List<AddressPrefix> sources, List<AddressPrefix> destinations, int vlan) {
        public Selector {
            sources = listOf("sources", sources, MAX_PREFIXES);
            destinations = listOf("destinations", destinations, MAX_PREFIXES);
            require(vlan >= ANY && vlan <= 4094, "vlan", vlan, "0 to 4094, or any");
        }
    }

    /**
     * Which packets belong to the segment, their classes and weights.
     *
     * @param classes traffic classes by DSCP, in order; none means one class.
     * @param weights of flows; the first rule that matches counts, no rule means 1.
     */
    public record Traffic(Selector selector, List<Integer> classes, List<WeightRule> weights) {
        /** Checks and copies the lists. */
        public Traffic {
            classes = listOf("classes", classes, MAX_CLASSES);
            weights = listOf("weights", weights, MAX_WEIGHTS);
            for (final int dscp : classes) {
                require(dscp >= 0 && dscp <= MAX_DSCP, "class", dscp, "a DSCP of 0 to 63");
            }
        }
    }

    /**
     * When references are sent; values that a policy does not use are 0.
     *
     * @param rates       of policy adaptive.
     * @param maxGapNs    the longest time without a reference.
     * @param ceilingBps  most bits per second of references, or of their send times if they are passive; 0 for any.
     * @param capacityBps of the bottleneck queue; 0 for unknown. If references are passive, most bits per second of the send
     *                    times of sampled flows; 0 for none.
     * @param passivePpm  share of regular packets, chosen by digest, in a million: they are references of policy passive, else
     *                    their send times tell the paths of flows, within the same ceiling.
     */
    public record Injection(
        Policy policy, int everyN, long everyIntervalNs, AdaptiveRates rates, long maxGapNs, long ceilingBps, long capacityBps,
        int passivePpm) {
        /** No reference settings. */
        public static final Injection NONE = new Injection(Policy.NONE, 0, 0, AdaptiveRates.NONE, 0, 0, 0, 0);

        public Injection {
            final long signs = everyN | everyIntervalNs | rates.minRate | rates.maxRate | maxGapNs | ceilingBps | capacityBps;
            require(signs >= 0, "injection", policy, "without negative values");
            requirePpm("passivePpm", passivePpm);
        }

        /**
         * References of policy passive.
         *
         * @param passivePpm share of regular packets that may be references, in a million.
         * @param ceilingBps most bits per second of their send times, above which a sender omits some; 0 for any.
         */
        public static Injection passive(final int passivePpm, final long ceilingBps) {
            return new Injection(Policy.PASSIVE, 0, 0, AdaptiveRates.NONE, 0, ceilingBps, 0, passivePpm);
        }

        /** No settings of references; send times of this share tell the paths of flows, by so many bits per second at most. */
        public static Injection sampled(final int passivePpm, final long ceilingBps) {
            return passivePpm == 0 ? NONE : new Injection(Policy.NONE, 0, 0, AdaptiveRates.NONE, 0, ceilingBps, 0, passivePpm);
        }

        /** The same if references are not passive; else with most bits per second of the send times of sampled flows. */
        public Injection withFlowsBps(final long flowsBps) {
            return policy != Policy.PASSIVE ? this : new Injection(
                policy, everyN, everyIntervalNs, rates, maxGapNs, ceilingBps, flowsBps, passivePpm);
        }
    }

    /**
     * Rates of references by utilization.
     *
     * @param minUtilizationPpm below it references are sent at the highest rate.
     * @param maxUtilizationPpm above it at the lowest.
     * @param minRate           one reference in so many packets, at the lowest rate.
     * @param maxRate           one reference in so many packets, at the highest rate.
     */
    public record AdaptiveRates(int minUtilizationPpm, int maxUtilizationPpm, int minRate, int maxRate) {
        static final AdaptiveRates NONE = new AdaptiveRates(0, 0, 0, 0);

        public AdaptiveRates {
            requirePpm("minUtilizationPpm", minUtilizationPpm);
            requirePpm("maxUtilizationPpm", maxUtilizationPpm);
        }
    }

    /**
     * A sketch of each interval.
     *
     * @param classIndex the traffic class whose packets it takes, {@link #ANY} for all.
     */
    public record SketchPart(int classIndex, SketchGeometry geometry) {
        public SketchPart {
            require(classIndex >= ANY && classIndex < MAX_CLASSES, "classIndex", classIndex, "less than " + MAX_CLASSES);
        }
    }

    /**
     * A weight for flows.
     *
     * @param source      holds the flow's source, null for any.
     * @param destination holds the flow's destination, null for any.
     * @param protocol    0-255, or {@link #ANY}.
     * @param dscp        0-63, or {@link #ANY}.
     * @param weight      at least 1.
     */
    public record WeightRule(
        AddressPrefix source, AddressPrefix destination, int firstSourcePort, int lastSourcePort, int firstDestinationPort,
        int lastDestinationPort, int protocol, int dscp, int weight) {
        public static final int MAX_PORT = 65535;

        /** Checks the values. */
        public WeightRule {
            requirePorts(firstSourcePort, lastSourcePort);
            requirePorts(firstDestinationPort, lastDestinationPort);
            require(protocol >= ANY && protocol <= 255, "protocol", protocol, "0 to 255, or any");
            require(dscp >= ANY && dscp <= MAX_DSCP, "dscp", dscp, "0 to 63, or any");
            require(weight >= 1, "weight", weight, "at least 1");
        }

        private static void requirePorts(final int first, final int last) {
            require(first >= 0 && first <= last && last <= MAX_PORT, "ports", first + "-" + last, "a range");
        }
    }

    public ExchangeSettings {
        require(number >= 1, "number", number, "at least 1");
        require(intervalNs >= 1, "intervalNs", intervalNs, "at least 1");
        require(maxDelayNs >= 0, "maxDelayNs", maxDelayNs, "not negative");
        sketches = listOf("sketches", sketches, MAX_SKETCHES);
    }

    /** The same settings for other packets. */
    public ExchangeSettings withSelector(final Selector selector) {
        return new ExchangeSettings(number, fromInterval, intervalNs, maxDelayNs, content, secrets,
            new Traffic(selector, traffic.classes, traffic.weights), injection, sketches);
    }

    /** The same settings for a sender over an unencrypted connection: sketches alone, without witnesses. */
    public ExchangeSettings withoutFlowKeys() {
        return new ExchangeSettings(number, fromInterval, intervalNs, maxDelayNs, new Content(Mode.CELLS, 0, content.mostFlows),
            secrets, traffic, injection, sketches);
    }

    /**
     * The same settings for a sender of the previous version, which has no ceiling of send times. Its send times take three times
     * the octets, so it uses a sample of the packets.
     */
    public ExchangeSettings forOlderSender() {
        final boolean isCeiled = injection.policy == Policy.PASSIVE && injection.ceilingBps != 0;
        return !isCeiled ? this : new ExchangeSettings(number, fromInterval, intervalNs, maxDelayNs, content, secrets, traffic,
            Injection.passive(Math.min(OLDER_PASSIVE_PPM, injection.passivePpm), 0), sketches);
    }

    public Mode mode() {
        return content.mode;
    }

    /** {@return sketches of an interval that a sender may be asked for} */
    public int sketchCount() {
        return content.mode == Mode.FLOWS ? 0 : sketches.size();
    }

    /** {@return number of traffic classes, at least 1} */
    public int classCount() {
        return Math.max(1, traffic.classes.size());
    }

    /** {@return octets of all images of an interval} */
    public long imageBytes() {
        return sketches.stream().mapToLong(sketch -> sketch.geometry().imageLength()).sum();
    }

    private static <T> List<T> listOf(final String name, final List<T> list, final int most) {
        require(list.size() <= most, name, list.size(), "at most " + most);
        return List.copyOf(list);
    }

    private static void requirePpm(final String name, final int value) {
        require(value >= 0 && value <= PPM, name, value, "0 to " + PPM);
    }

    private static void require(final boolean holds, final String name, final Object value, final String legal) {
        if (!holds) {
            throw new IllegalArgumentException(name + "=" + value + " is not " + legal);
        }
    }
}
