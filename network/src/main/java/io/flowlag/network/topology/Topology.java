package io.flowlag.network.topology;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * Nodes and hops of a network. A hop is a directed link with the queue in front of it; parallel links from one node to another
 * are one hop, with the least of their weights. Nodes are numbered by their names, hops by from and to: the order in which they
 * were added does not matter. Immutable.
 */
public final class Topology {
    /** No such node or hop. */
    public static final int NONE = -1;
    /** Routes of all pairs take the order of (nodes)². */
    public static final int MOST_NODES = 2_000;
    /** Of all nodes. */
    public static final int MOST_HOPS = 20_000;

    /** Weights are held in so many parts of one, so that sums of them are exact. */
    private static final int WEIGHT_DIGITS = 6;
    private static final int MOST_WEIGHT_CHARACTERS = 40;
    /** Sums of weights along a route do not overflow. */
    private static final long HIGHEST_WEIGHT = Long.MAX_VALUE >> 24;

    private final String[] names;
    /** The hops of a node begin at its element, and end before the next one's. */
    private final int[] first;
    private final int[] from;
    private final int[] to;
    private final long[] weights;

    private Topology(final Map<String, Map<String, Long>> links) {
        names = links.keySet().toArray(String[]::new);
        first = new int[names.length + 1];
        final int count = links.values().stream().mapToInt(Map::size).sum();
        from = new int[count];
        to = new int[count];
        weights = new long[count];
        int hop = 0;
        for (int node = 0; node < names.length; node++) {
            for (final Map.Entry<String, Long> link : links.get(names[node]).entrySet()) {
                from[hop] = node;
                to[hop] = node(link.getKey());
                weights[hop++] = link.getValue();
            }
            first[node + 1] = hop;
        }
    }

    /** {@return how many nodes there are} */
    public int nodes() {
        return names.length;
    }

    /** {@return the name of a node} */
    public String name(final int node) {
        return names[node];
    }

    /** {@return the node of a name, or {@link #NONE}} */
    public int node(final String name) {
        return Math.max(NONE, Arrays.binarySearch(names, name));
    }

    /** {@return how many hops there are} */
    public int hops() {
        return to.length;
    }

    /** {@return the first hop that leaves a node; for the number of nodes, the number of hops} */
    public int firstHop(final int node) {
        return first[node];
    }

    /** {@return the node that a hop leaves} */
    public int from(final int hop) {
        return from[hop];
    }

    /** {@return the node that a hop reaches} */
    public int to(final int hop) {
        return to[hop];
    }

    /** {@return the weight of a hop in millionths} */
    public long weight(final int hop) {
        return weights[hop];
    }

    /** {@return the weight of a hop as a decimal number} */
    public String weightText(final int hop) {
        return BigDecimal.valueOf(weights[hop], WEIGHT_DIGITS).stripTrailingZeros().toPlainString();
    }

    /** {@return the hop between neighbours, or {@link #NONE}} */
    public int hop(final int fromNode, final int toNode) {
        return Math.max(NONE, Arrays.binarySearch(to, first[fromNode], first[fromNode + 1], toNode));
    }

    /** Collects nodes and links. */
    public static final class Builder {
        private final Map<String, Map<String, Long>> links = new TreeMap<>();
        private int hops;

        /**
         * Adds a node, unless it is there.
         *
         * @throws TopologyException if its name is empty, or there are too many.
         */
        public Builder node(final String name) throws TopologyException {
            if (name.isBlank()) {
                throw new TopologyException("a node has no name");
            }
            if (links.putIfAbsent(name, new TreeMap<>()) == null && links.size() > MOST_NODES) {
                throw new TopologyException("there are more than " + MOST_NODES + " nodes");
            }
            return this;
        }

        /**
         * Adds a link in one direction, and its nodes.
         *
         * @param weight a decimal number above 0, with at most six digits behind the point.
         * @throws TopologyException if both ends are the same node, the weight cannot be used, or there are too many.
         */
        public Builder link(final String fromName, final String toName, final String weight) throws TopologyException {
            if (fromName.equals(toName)) {
                throw new TopologyException("a link leads from " + fromName + " to itself");
            }
            node(fromName).node(toName);
            final long exact = exact(weight);
            final Map<String, Long> ofNode = links.get(fromName);
            if (!ofNode.containsKey(toName) && ++hops > MOST_HOPS) {
                throw new TopologyException("there are more than " + MOST_HOPS + " links, each direction counted");
            }
            ofNode.merge(toName, exact, Math::min);
            return this;
        }

        private static long exact(final String weight) throws TopologyException {
            if (weight.length() > MOST_WEIGHT_CHARACTERS) {
                throw new TopologyException("a weight has " + weight.length() + " characters: it is no number");
            }
            try {
                // Not movePointRight, which writes every digit of 1e99999999.
                final long exact = new BigDecimal(weight).scaleByPowerOfTen(WEIGHT_DIGITS).longValueExact();
                if (exact > 0 && exact <= HIGHEST_WEIGHT) {
                    return exact;
                }
            } catch (final NumberFormatException ex) {
                throw new TopologyException("weight=" + weight + ": is not a number");
            } catch (final ArithmeticException ex) {
                throw new TopologyException(
                    "weight=" + weight + ": has more than " + WEIGHT_DIGITS + " digits behind the point, or is too large");
            }
            throw new TopologyException("weight=" + weight + ": must be above 0 and at most " +
                BigDecimal.valueOf(HIGHEST_WEIGHT, WEIGHT_DIGITS).toBigInteger());
        }

        /** {@return the network of what was added} */
        public Topology build() {
            return new Topology(links);
        }
    }
}
