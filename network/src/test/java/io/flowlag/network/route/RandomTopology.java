package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;
import io.flowlag.network.topology.TopologyException;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Small networks whose weights are few, so that many routes cost the same. */
public final class RandomTopology {
    private RandomTopology() {
    }

    /** {@return links as texts "from to weight", both directions with the same weight for most} */
    static List<String> links(final int nodes, final Random random) {
        final List<String> links = new ArrayList<>();
        for (int from = 0; from < nodes; from++) {
            for (int to = 0; to < from; to++) {
                if (random.nextInt(nodes) < 3) {
                    final double weight = (1 + random.nextInt(4)) / 2.0;
                    links.add("n" + from + " n" + to + " " + weight);
                    links.add("n" + to + " n" + from + " " + (random.nextInt(5) == 0 ? weight + 0.5 : weight));
                }
            }
        }
        return links;
    }

    /** {@return a network of links and nodes, both added in an order of chance} */
    static Topology of(final int nodes, final List<String> links, final Random random) {
        final List<String> shuffled = new ArrayList<>(links);
        Collections.shuffle(shuffled, random);
        final List<Integer> order = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            order.add(node);
        }
        Collections.shuffle(order, random);
        try {
            final Topology.Builder network = new Topology.Builder();
            for (final int node : order) {
                network.node("n" + node);
            }
            for (final String link : shuffled) {
                final String[] fields = link.split(" ");
                network.link(fields[0], fields[1], fields[2]);
            }
            return network.build();
        } catch (final TopologyException ex) {
            throw new IllegalArgumentException(ex);
        }
    }

    /** {@return a network of so many nodes} */
    public static Topology of(final int nodes, final Random random) {
        return of(nodes, links(nodes, random), random);
    }
}
