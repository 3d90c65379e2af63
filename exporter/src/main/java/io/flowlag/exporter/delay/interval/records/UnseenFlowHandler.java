package io.flowlag.exporter.delay.interval.records;

/** Receives flows that only the sender point saw. Called by the thread of the receiver point; must not throw. */
@FunctionalInterface
public interface UnseenFlowHandler {
    /**
     * Reports a flow with packets at the sender point in an interval, and none at the receiver point.
     *
     * @param sent    sums of the sender; valid during the call.
     * @param row     of the flow, with its addresses.
     * @param startNs of the interval, UNIX epoch.
     * @param endNs   the first ns after it.
     */
    void onUnseenFlow(FlowSums sent, int row, long startNs, long endNs);
}
