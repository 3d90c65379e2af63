package io.flowlag.network.locate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Groups of hops that no measured segment tells apart: hops of one group are in the same segments with the same shares. A hop
 * that is in no segment is blind and in no group. Groups are in the order of their first hops. Immutable.
 */
public final class HopGroups {
    /** Of a blind hop. */
    public static final int BLIND = -1;

    private record Column(List<Integer> segments, List<Double> shares) {
        private Column() {
            this(new ArrayList<>(), new ArrayList<>());
        }
    }

    private final int[] groupOfHop;
    private final int[][] hops;
    private final int[][] segments;
    private final double[][] shares;

    /**
     * Groups hops.
     *
     * @param hopCount hops of the network.
     * @param measured segments, by their numbers.
     */
    public HopGroups(final int hopCount, final List<MeasuredSegment> measured) {
        final Column[] columns = new Column[hopCount];
        Arrays.setAll(columns, (hop) -> new Column());
        for (int segment = 0; segment < measured.size(); segment++) {
            final int[] taken = measured.get(segment).hops();
            for (int i = 0; i < taken.length; i++) {
                columns[taken[i]].segments.add(segment);
                columns[taken[i]].shares.add(measured.get(segment).shares()[i]);
            }
        }
        final Map<Column, List<Integer>> groups = new LinkedHashMap<>();
        for (int hop = 0; hop < hopCount; hop++) {
            if (!columns[hop].segments.isEmpty()) {
                groups.computeIfAbsent(columns[hop], (column) -> new ArrayList<>()).add(hop);
            }
        }
        groupOfHop = new int[hopCount];
        Arrays.fill(groupOfHop, BLIND);
        hops = new int[groups.size()][];
        segments = new int[groups.size()][];
        shares = new double[groups.size()][];
        int group = 0;
        for (final Map.Entry<Column, List<Integer>> each : groups.entrySet()) {
            hops[group] = each.getValue().stream().mapToInt(Integer::intValue).toArray();
            segments[group] = each.getKey().segments.stream().mapToInt(Integer::intValue).toArray();
            shares[group] = each.getKey().shares.stream().mapToDouble(Double::doubleValue).toArray();
            for (final int hop : hops[group]) {
                groupOfHop[hop] = group;
            }
            group++;
        }
    }

    /** {@return how many groups there are} */
    public int count() {
        return hops.length;
    }

    /** {@return the group of a hop, or {@link #BLIND}} */
    public int of(final int hop) {
        return groupOfHop[hop];
    }

    /** {@return the hops of a group, ascending; not to be changed} */
    public int[] hops(final int group) {
        return hops[group];
    }

    /** {@return the segments that have a group's hops, ascending; not to be changed} */
    public int[] segments(final int group) {
        return segments[group];
    }

    /** {@return the share of each of these segments that takes a hop of the group; not to be changed} */
    public double[] shares(final int group) {
        return shares[group];
    }
}
