package io.flowlag.station.job;

/**
 * Flow records of segments; one that spans windows counts in each. {@link #FLOWS} = {@link #FLOWS_AGGREGATED} +
 * {@link #FLOWS_UNMAPPED} + {@link #FLOWS_TOO_LATE} when all have come through, and when their windows are told,
 * {@link #SAMPLED_FLOWS} = {@link #JOINED} + {@link #SINGLE_SEGMENT} + {@link #DROPPED_FLOW_LIMIT}.
 */
public enum JobCounter {
    /** All. */
    FLOWS,
    /** Summed, of segments of the network. */
    FLOWS_AGGREGATED,
    /** Summed, of segments that the network does not have. */
    FLOWS_UNMAPPED,
    /** Of windows that are no longer corrected. */
    FLOWS_TOO_LATE,
    /** Of flows that are followed, segments of the network, not too late. */
    SAMPLED_FLOWS,
    /** Of flows of which several segments told when they were told with this record. */
    JOINED,
    /** Of flows of which one segment told. */
    SINGLE_SEGMENT,
    /** Of flows that are not followed, since there are too many. */
    DROPPED_FLOW_LIMIT
}
