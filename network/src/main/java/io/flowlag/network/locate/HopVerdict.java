package io.flowlag.network.locate;

import java.util.List;

/**
 * One slow hop is among these.
 *
 * @param suspects     hops, the likeliest first: the fewest groups that have it with the wanted probability.
 * @param isOneRoute   whether a segment has all suspects; otherwise the delay is somewhere, and no verdict on a place.
 * @param effectNs     median of the excess of the slow hop above that of its peers.
 * @param effectLowNs  its 95 % interval begins here.
 * @param effectHighNs its 95 % interval ends here.
 * @param confidence   probability that there is a slow hop at all.
 */
public record HopVerdict(List<Suspect> suspects, boolean isOneRoute, double effectNs, double effectLowNs, double effectHighNs,
    double confidence) {
    /**
     * A hop that may be the slow one.
     *
     * @param hop         of the topology.
     * @param probability that it is.
     */
    public record Suspect(int hop, double probability) {
    }
}
