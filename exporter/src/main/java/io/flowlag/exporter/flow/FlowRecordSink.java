package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Takes finished flows. Called by the thread that owns the cache; must not throw. The octets belong to the cache and are valid
 * during the call only.
 */
@FunctionalInterface
public interface FlowRecordSink {
    /**
     * One finished flow. The octets are those of the cache: copy what is to be kept.
     *
     * @param buffer      holds the entry, in the layout of {@link FlowEntry}.
     * @param lengthBytes of the entry with the state of other stages.
     */
    void onFlowRecord(DirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Whether all fields of a flow's record are known. A silent flow is kept until then, but not beyond the active timeout.
     * Returns true if its record may be written.
     */
    default boolean isComplete(final DirectBuffer buffer, final int offset) {
        return true;
    }
}
