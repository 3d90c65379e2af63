package io.flowlag.network.topology;

import io.flowlag.common.config.Prefix;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * A network with what is known of its nodes and measurement points. Immutable: arrays are not to be changed.
 *
 * @param topology nodes and hops.
 * @param nodes    by the numbers of the topology.
 * @param delaysNs of each hop without queueing; {@link #UNKNOWN} where none is given.
 * @param points   that exist, in the order of the file.
 * @param segments that exist, in the order of the file.
 */
public record NetworkMap(Topology topology, List<Site> nodes, long[] delaysNs, List<Point> points, List<NamedSegment> segments) {
    /** A number that the file does not give. */
    public static final long UNKNOWN = -1;

    /**
     * What is known of a node.
     *
     * @param prefixes  of hosts behind it: where packets enter and leave the network. No two nodes share an address.
     * @param latitude  degrees to the north; NaN where it is not known.
     * @param longitude degrees to the east; NaN where it is not known.
     * @param address   of the host that measures there, a name or an address; empty where none is given.
     */
    public record Site(List<Prefix> prefixes, double latitude, double longitude, String address) {
        /** Of which nothing is known. */
        static final Site UNKNOWN = new Site(List.of(), Double.NaN, Double.NaN, "");

        /** Of which the place is known, or one of both numbers is NaN. */
        static Site at(final double latitude, final double longitude) {
            return Double.isNaN(latitude) || Double.isNaN(longitude) ? UNKNOWN : new Site(List.of(), latitude, longitude, "");
        }
    }

    /**
     * A measurement point.
     *
     * @param node  where it is.
     * @param clock points of one clock have one name.
     */
    public record Point(String name, int node, String clock) {
    }

    /**
     * A segment between two points.
     *
     * @param from     number of the point where it begins.
     * @param to       number of the point where it ends.
     * @param exporter address of the exporter that reports it; empty where none is given.
     * @param domain   its observation domain, or {@link #UNKNOWN}.
     * @param id       {@code flowlagSegmentId} in its records, or {@link #UNKNOWN}.
     * @param via      nodes that it passes, in order; empty for the shortest routes.
     */
    public record NamedSegment(String name, int from, int to, String exporter, long domain, long id, List<Integer> via) {
    }

    /** A network of which nothing but nodes and links is known. */
    static NetworkMap of(final Topology topology) {
        return of(topology, Collections.nCopies(topology.nodes(), Site.UNKNOWN));
    }

    /** A network without points. */
    static NetworkMap of(final Topology topology, final List<Site> nodes) {
        final long[] delaysNs = new long[topology.hops()];
        Arrays.fill(delaysNs, UNKNOWN);
        return new NetworkMap(topology, nodes, delaysNs, List.of(), List.of());
    }

    /** {@return of each node, whether it has a point} */
    public boolean[] isPoint() {
        final boolean[] isPoint = new boolean[topology.nodes()];
        points.forEach((point) -> isPoint[point.node] = true);
        return isPoint;
    }
}
