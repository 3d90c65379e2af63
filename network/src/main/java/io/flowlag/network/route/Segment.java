package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;

import java.util.Arrays;

/** Hops in order, of which each begins where the one before ends; at least one. Immutable: the array is not to be changed. */
public record Segment(int[] hops) {
    /** {@return the node where it begins} */
    public int begin(final Topology topology) {
        return topology.from(hops[0]);
    }

    /** {@return the node where it ends} */
    public int end(final Topology topology) {
        return topology.to(hops[hops.length - 1]);
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof Segment segment && Arrays.equals(hops, segment.hops);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(hops);
    }

    @Override
    public String toString() {
        return Arrays.toString(hops);
    }
}
