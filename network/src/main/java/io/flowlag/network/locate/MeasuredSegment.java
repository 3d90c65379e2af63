package io.flowlag.network.locate;

import io.flowlag.network.route.Segment;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * A segment as localisation sees it. Immutable: the arrays are not to be changed.
 *
 * @param hops          that its packets may take, each once.
 * @param shares        of its packets that take each hop; 1 unless there are several routes of equal cost.
 * @param senderClock   the clock at its begin.
 * @param receiverClock the clock at its end; the same number if one clock serves both.
 */
public record MeasuredSegment(int[] hops, double[] shares, int senderClock, int receiverClock) {
    /**
     * A segment over one route, or over several of equal cost of which it is not known which one a packet takes.
     *
     * @param routes        at least one; each has the same share.
     * @param senderClock   the clock at its begin.
     * @param receiverClock the clock at its end.
     */
    public static MeasuredSegment of(final Collection<Segment> routes, final int senderClock, final int receiverClock) {
        final Map<Integer, Double> shares = new TreeMap<>();
        for (final Segment route : routes) {
            for (final int hop : route.hops()) {
                shares.merge(hop, 1.0 / routes.size(), Double::sum);
            }
        }
        return new MeasuredSegment(shares.keySet().stream().mapToInt(Integer::intValue).toArray(),
            shares.values().stream().mapToDouble((share) -> Math.min(1, share)).toArray(), senderClock, receiverClock);
    }

    /** {@return whether not all packets take the same hops} */
    public boolean isOfSeveralRoutes() {
        return Arrays.stream(shares).anyMatch((share) -> share < 1);
    }

    /** {@return the mean number of hops} */
    double length() {
        return Arrays.stream(shares).sum();
    }
}
