package io.flowlag.exporter.delay.interval;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.WeightRule;
import io.flowlag.exporter.config.WeightRule.PortRange;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Flow weights by policy (LDS paper, section 4.1): the first matching rule decides; the weight is 1 if none matches. Both points
 * must use the same rules. The ports of a fragment count as 0, as in the segment flow hash, so that all packets with one hash
 * have one weight. Immutable, any thread. Allocates at construction; never per packet.
 */
public final class FlowWeights {
    /** The weight of a flow that no rule matches. */
    public static final int DEFAULT_WEIGHT = 1;

    private static final int DSCP_SHIFT = 2;
    private static final int PROTOCOL_WORDS = 4;

    private final Rule[] rules;
    private final boolean isUniform;
    private final List<String> warnings;

    /** Compiles rules, in order of evaluation. */
    public FlowWeights(final List<WeightRule> rules) {
        this.rules = rules.stream().map(Rule::new).toArray(Rule[]::new);
        isUniform = rules.stream().allMatch((rule) -> rule.weight() == DEFAULT_WEIGHT);
        warnings = warnings(rules);
    }

    /** Addresses of a prefix; all addresses without one. */
    private static final class Addresses {
        private final int ipVersion;
        private final long high;
        private final long highMask;
        private final long low;
        private final long lowMask;

        private Addresses(final Prefix prefix) {
            final boolean isAny = prefix == null;
            ipVersion = isAny ? 0 : prefix.isIpv6() ? 6 : 4;
            high = isAny ? 0 : prefix.high();
            low = isAny ? 0 : prefix.low();
            highMask = ipVersion == 6 ? mask(Math.min(Long.SIZE, prefix.lengthBits()), Long.SIZE) : 0;
            lowMask = isAny ? 0 : ipVersion == 4 ? mask(prefix.lengthBits(), Integer.SIZE) :
                mask(Math.max(0, prefix.lengthBits() - Long.SIZE), Long.SIZE);
        }

        private boolean contain(final int version, final long addressHigh, final long addressLow) {
            return (ipVersion == 0 || ipVersion == version) && (addressHigh & highMask) == high && (addressLow & lowMask) == low;
        }

        /** A mask of the leading bits of a field. */
        private static long mask(final int bits, final int fieldBits) {
            return bits == 0 ? 0 : -1L >>> Long.SIZE - bits << fieldBits - bits;
        }
    }

    /** A rule that tests protocol and code point by bit sets, and ports by pairs of first and last. */
    private static final class Rule {
        private final int weight;
        private final Addresses source;
        private final Addresses destination;
        private final int[] sourcePorts;
        private final int[] destinationPorts;
        private final int[] eitherPorts;
        private final long[] protocols;
        private final long codePoints;

        private Rule(final WeightRule text) {
            weight = text.weight();
            source = new Addresses(text.source());
            destination = new Addresses(text.destination());
            sourcePorts = ranges(text.sourcePorts());
            destinationPorts = ranges(text.destinationPorts());
            eitherPorts = ranges(text.ports());
            protocols = bits(text.protocols(), PROTOCOL_WORDS);
            codePoints = bits(text.codePoints(), 1)[0];
        }

        private boolean matches(final DirectBuffer buffer, final int offset, final int sourcePort, final int destinationPort) {
            final int protocol = PacketDescriptor.protocol(buffer, offset);
            final int ipVersion = PacketDescriptor.ipVersion(buffer, offset);
            return (protocols[protocol >> 6] >>> protocol & 1) != 0 &&
                (codePoints >>> (PacketDescriptor.ipClassOfService(buffer, offset) >> DSCP_SHIFT) & 1) != 0 &&
                source.contain(
                    ipVersion, PacketDescriptor.sourceHigh(buffer, offset), PacketDescriptor.sourceLow(buffer, offset)) &&
                destination.contain(ipVersion, PacketDescriptor.destinationHigh(buffer, offset),
                    PacketDescriptor.destinationLow(buffer, offset)) &&
                contain(sourcePorts, sourcePort) && contain(destinationPorts, destinationPort) &&
                (contain(eitherPorts, sourcePort) || contain(eitherPorts, destinationPort));
        }

        /** Whether a range contains the port. An empty array contains all ports. */
        private static boolean contain(final int[] ranges, final int port) {
            for (int i = 0; i < ranges.length; i += 2) {
                if (port >= ranges[i] && port <= ranges[i + 1]) {
                    return true;
                }
            }
            return ranges.length == 0;
        }

        private static int[] ranges(final List<PortRange> ranges) {
            return ranges.stream().flatMapToInt((each) -> IntStream.of(each.first(), each.last())).toArray();
        }

        /** A set of numbers, or of all if there is none. */
        private static long[] bits(final List<Integer> numbers, final int wordCount) {
            final long[] words = new long[wordCount];
            Arrays.fill(words, numbers.isEmpty() ? -1L : 0);
            for (final int number : numbers) {
                words[number >> 6] |= 1L << number;
            }
            return words;
        }
    }

    /** {@return warnings for the operator, a line each: code points that may change on the path, rules that are never reached} */
    public List<String> warnings() {
        return warnings;
    }

    /** {@return whether every flow has the default weight} */
    public boolean isUniform() {
        return isUniform;
    }

    /** {@return the weight of the flow of a packet, at least 1; the buffer holds a {@link PacketDescriptor}} */
    public int weight(final DirectBuffer buffer, final int offset) {
        if (isUniform) {
            return DEFAULT_WEIGHT;
        }
        final boolean isFragment = (PacketDescriptor.flags(buffer, offset) & PacketDescriptor.FLAG_FRAGMENT) != 0;
        final int sourcePort = isFragment ? 0 : PacketDescriptor.sourcePort(buffer, offset);
        final int destinationPort = isFragment ? 0 : PacketDescriptor.destinationPort(buffer, offset);
        for (final Rule rule : rules) {
            if (rule.matches(buffer, offset, sourcePort, destinationPort)) {
                return rule.weight;
            }
        }
        return DEFAULT_WEIGHT;
    }

    private static List<String> warnings(final List<WeightRule> rules) {
        final List<String> warnings = new ArrayList<>();
        for (int rule = 0; rule < rules.size(); rule++) {
            if (!rules.get(rule).codePoints().isEmpty()) {
                warnings.add("rule " + (rule + 1) + " asks for dscp: a router that remarks packets between the two points " +
                    "makes their cells differ; use addresses and ports, or make sure that the marks stay");
            }
            if (rules.get(rule).matchesAll() && rule < rules.size() - 1) {
                warnings.add("rule " + (rule + 1) + " matches every packet, so the " + (rules.size() - 1 - rule) +
                    " after it are never asked: put it last");
                break;
            }
        }
        return List.copyOf(warnings);
    }

    /**
     * Measures how much traffic has more than the default weight. Weighted flows add noise to the cells of other flows, so
     * weights help only a small share of the packets (LDS paper, section 4.1). One thread; allocates only when it warns.
     */
    public static final class Share {
        /** Share of packets above which {@link #warning} warns; in the paper's experiment a tenth of the flows had more. */
        public static final double LIMIT = 0.2;

        private long packets;
        private long weightedPackets;
        private long weightSum;

        /** Resets for a new interval. */
        public void reset() {
            packets = 0;
            weightedPackets = 0;
            weightSum = 0;
        }

        /** Takes the packets of another shard, which begins anew. */
        public void take(final Share other) {
            packets += other.packets;
            weightedPackets += other.weightedPackets;
            weightSum += other.weightSum;
            other.reset();
        }

        /** Counts a packet. */
        public void count(final int weight) {
            packets++;
            weightedPackets += weight > DEFAULT_WEIGHT ? 1 : 0;
            weightSum += weight;
        }

        /** {@return packets counted} */
        public long packets() {
            return packets;
        }

        /** {@return the share of packets with more than the default weight; 0 if there was none} */
        public double share() {
            return packets == 0 ? 0 : weightedPackets / (double)packets;
        }

        /** {@return mean weight of a packet; 1 if there was none} */
        public double averageWeight() {
            return packets == 0 ? 1 : weightSum / (double)packets;
        }

        /**
         * The paper's warning, if it applies. Returns one line, or null if at most {@link #LIMIT} of the packets have more than
         * the default weight.
         */
        public String warning() {
            return share() <= LIMIT ? null : String.format(Locale.ROOT,
                "%.0f %% of the packets are weighted up, and an average packet counts %.3g times: the estimates of all other " +
                "flows suffer; weight fewer flows, or make the sketch larger", 100 * share(), averageWeight());
        }
    }
}
