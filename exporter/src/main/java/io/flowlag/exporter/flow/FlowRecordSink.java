package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;

/**
 * Takes finished flows. Called by the thread that owns the cache; must not throw. The octets are the cache's, and valid during
 * the call alone.
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
     * Whether all is known that the record of a flow is to say. A silent flow is kept until then, but not beyond the active
     * timeout. Returns true if its record may be made.
     */
    default boolean isComplete(final DirectBuffer buffer, final int offset) {
        return true;
    }
}
