package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowRecordSink;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Stands between the flow cache and the records: when a flow ends, writes into its entry what is known of it only then, such as
 * the error bound and the state of the clock. A record that has to wait for its interval is handed on later. The metering thread
 * owns it. Allocates at construction.
 */
public final class FlowEnd implements FlowRecordSink {
    private final FlowRecordSink next;
    private final UnsafeBuffer entry = new UnsafeBuffer(0, 0);
    private DelayMeter meter;

    /** A sink before another. */
    public FlowEnd(final FlowRecordSink next) {
        this.next = next;
    }

    /** Tells who knows of the delays; before the first flow ends. */
    void meter(final DelayMeter delayMeter) {
        meter = delayMeter;
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        entry.wrap(buffer, offset, lengthBytes);
        if (meter.onFlowEnd(entry, FlowEntry.BASE_LENGTH_BYTES)) {
            next.onFlowRecord(buffer, offset, lengthBytes);
        }
    }

    @Override
    public boolean isComplete(final DirectBuffer buffer, final int offset) {
        return meter.isComplete(buffer, offset);
    }

    /** Hands on a record that has waited, and is finished. */
    void onWaited(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        next.onFlowRecord(buffer, offset, lengthBytes);
    }
}
