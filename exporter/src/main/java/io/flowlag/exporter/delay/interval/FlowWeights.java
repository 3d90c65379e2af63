package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.config.WeightRule;
import io.flowlag.exporter.config.WeightRule.PortRange;
import io.flowlag.exporter.config.WeightRule.Prefix;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * Flow weights by policy (LDS paper, section 4.1): the first matching rule decides; the weight is 1 if none matches. Both points
 * must use the same rules. The ports of a fragment count as 0, as in the segment flow hash, so that all packets with one hash
 * have one weight. Immutable, any thread. Allocates at construction; never per packet.
 */
public final class FlowWeights {
    /** The weight of a flow that no rule matches. */
    public static final int DEFAULT_WEIGHT = 1;

    private static final int DSCP_SHIFT = 2;
    private static final int ANY_VERSION = 0;
    private static final int PROTOCOL_WORDS = 4;

    private final int[] weights;
    private final int[] ipVersions;
    private final long[] sourceHighs;
    private final long[] sourceHighMasks;
    private final long[] sourceLows;
    private final long[] sourceLowMasks;
    private final long[] destinationHighs;
    private final long[] destinationHighMasks;
    private final long[] destinationLows;
    private final long[] destinationLowMasks;
    private final int[][] sourcePorts;
    private final int[][] destinationPorts;
    private final int[][] eitherPorts;
    private final long[][] protocols;
    private final long[] codePoints;
    private final boolean isUniform;
    private final List<String> warnings;

    /**
     * Compiles rules.
     *
     * @param rules in order of evaluation.
     */
    public FlowWeights(final List<WeightRule> rules) {
        final int count = rules.size();
        weights = new int[count];
        ipVersions = new int[count];
        sourceHighs = new long[count];
        sourceHighMasks = new long[count];
        sourceLows = new long[count];
        sourceLowMasks = new long[count];
        destinationHighs = new long[count];
        destinationHighMasks = new long[count];
        destinationLows = new long[count];
        destinationLowMasks = new long[count];
        sourcePorts = new int[count][];
        destinationPorts = new int[count][];
        eitherPorts = new int[count][];
        protocols = new long[count][];
        codePoints = new long[count];
        for (int rule = 0; rule < count; rule++) {
            compile(rule, rules.get(rule));
        }
        isUniform = rules.stream().allMatch((rule) -> rule.weight() == DEFAULT_WEIGHT);
        warnings = warnings(rules);
    }

    /**
     * Warnings for the operator: code points that may change on the path, and rules that are never reached. Returns one line
     * each, without the key's name; empty if there are none.
     */
    public List<String> warnings() {
        return warnings;
    }

    /** Whether every flow has the default weight. Returns true if no rule gives another weight. */
    public boolean isUniform() {
        return isUniform;
    }

    /**
     * The weight of a packet's flow.
     *
     * @param buffer holds a {@link PacketDescriptor}.
     * @return the weight, at least 1.
     */
    public int weight(final DirectBuffer buffer, final int offset) {
        if (isUniform) {
            return DEFAULT_WEIGHT;
        }
        final boolean isFragment = (PacketDescriptor.flags(buffer, offset) & PacketDescriptor.FLAG_FRAGMENT) != 0;
        final int sourcePort = isFragment ? 0 : PacketDescriptor.sourcePort(buffer, offset);
        final int destinationPort = isFragment ? 0 : PacketDescriptor.destinationPort(buffer, offset);
        final int protocol = PacketDescriptor.protocol(buffer, offset);
        final int codePoint = PacketDescriptor.ipClassOfService(buffer, offset) >> DSCP_SHIFT;
        for (int rule = 0; rule < weights.length; rule++) {
            if ((protocols[rule][protocol >> 6] >>> protocol & 1) != 0 &&
                (codePoints[rule] >>> codePoint & 1) != 0 &&
                matchesAddresses(rule, buffer, offset) &&
                contains(sourcePorts[rule], sourcePort) &&
                contains(destinationPorts[rule], destinationPort) &&
                (contains(eitherPorts[rule], sourcePort) || contains(eitherPorts[rule], destinationPort))) {
                return weights[rule];
            }
        }
        return DEFAULT_WEIGHT;
    }

    private boolean matchesAddresses(final int rule, final DirectBuffer buffer, final int offset) {
        return (ipVersions[rule] == ANY_VERSION || ipVersions[rule] == PacketDescriptor.ipVersion(buffer, offset)) &&
            (PacketDescriptor.sourceHigh(buffer, offset) & sourceHighMasks[rule]) == sourceHighs[rule] &&
            (PacketDescriptor.sourceLow(buffer, offset) & sourceLowMasks[rule]) == sourceLows[rule] &&
            (PacketDescriptor.destinationHigh(buffer, offset) & destinationHighMasks[rule]) == destinationHighs[rule] &&
            (PacketDescriptor.destinationLow(buffer, offset) & destinationLowMasks[rule]) == destinationLows[rule];
    }

    /** Whether a range, stored as a pair of first and last, contains the port. An empty array contains all ports. */
    private static boolean contains(final int[] ranges, final int port) {
        for (int i = 0; i < ranges.length; i += 2) {
            if (port >= ranges[i] && port <= ranges[i + 1]) {
                return true;
            }
        }
        return ranges.length == 0;
    }

    private void compile(final int rule, final WeightRule text) {
        weights[rule] = text.weight();
        final Prefix source = text.source();
        final Prefix destination = text.destination();
        if (source != null) {
            ipVersions[rule] = source.ipVersion();
            sourceHighs[rule] = source.high();
            sourceLows[rule] = source.low();
            sourceHighMasks[rule] = highMask(source);
            sourceLowMasks[rule] = lowMask(source);
        }
        if (destination != null) {
            ipVersions[rule] = destination.ipVersion();
            destinationHighs[rule] = destination.high();
            destinationLows[rule] = destination.low();
            destinationHighMasks[rule] = highMask(destination);
            destinationLowMasks[rule] = lowMask(destination);
        }
        sourcePorts[rule] = ranges(text.sourcePorts());
        destinationPorts[rule] = ranges(text.destinationPorts());
        eitherPorts[rule] = ranges(text.ports());
        protocols[rule] = protocols(text.protocols());
        for (final int codePoint : text.codePoints()) {
            codePoints[rule] |= 1L << codePoint;
        }
        codePoints[rule] = text.codePoints().isEmpty() ? -1L : codePoints[rule];
    }

    private static int[] ranges(final List<PortRange> ranges) {
        final int[] pairs = new int[2 * ranges.size()];
        for (int i = 0; i < ranges.size(); i++) {
            pairs[2 * i] = ranges.get(i).first();
            pairs[2 * i + 1] = ranges.get(i).last();
        }
        return pairs;
    }

    private static long[] protocols(final List<Integer> numbers) {
        final long[] words = new long[PROTOCOL_WORDS];
        for (int word = 0; word < words.length && numbers.isEmpty(); word++) {
            words[word] = -1L;
        }
        for (final int number : numbers) {
            words[number >> 6] |= 1L << number;
        }
        return words;
    }

    private static long highMask(final Prefix prefix) {
        return prefix.ipVersion() == 4 ? 0 : mask(Math.min(Long.SIZE, prefix.length()), Long.SIZE);
    }

    private static long lowMask(final Prefix prefix) {
        return prefix.ipVersion() == 4 ? mask(prefix.length(), Integer.SIZE) :
            mask(Math.max(0, prefix.length() - Long.SIZE), Long.SIZE);
    }

    /** A mask of the leading bits of a field. */
    private static long mask(final int bits, final int fieldBits) {
        return bits == 0 ? 0 : -1L >>> Long.SIZE - bits << fieldBits - bits;
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
}
