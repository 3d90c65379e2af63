package io.flowlag.station.job;

/**
 * Flow records of segments; one that spans windows counts in each. {@link #FLOWS} = {@link #FLOWS_AGGREGATED} +
 * {@link #FLOWS_UNMAPPED} + {@link #FLOWS_TOO_LATE} when all have come through, and when their windows have gone out,
 * {@link #SAMPLED_FLOWS} = {@link #JOINED} + {@link #SINGLE_SEGMENT} + {@link #DROPPED_FLOW_LIMIT}.
 *
 * <p>Decoded records = {@link #FLOW_RECORDS} + {@link #INTERVAL_RECORDS} + {@link #STATISTICS_RECORDS} +
 * {@link #REFUSED_RECORDS}.
 */
public enum JobCounter {
    /** Of segments, in a time that is taken. */
    FLOW_RECORDS,
    /** Summaries of an interval of a segment. */
    INTERVAL_RECORDS,
    /** All others, such as statistics of exporters. */
    STATISTICS_RECORDS,
    /** Of a time too far ahead, or of one too many of the segments that the network does not have. */
    REFUSED_RECORDS,
    /** Taken, though their time is more than 5 s after their receipt. */
    TIME_AHEAD,
    /** Messages of one session too many. */
    REFUSED_SESSION_MESSAGES,
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
