package io.flowlag.exporter.delay;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowRecordSink;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Completes records between the flow cache and the exporter: when a flow ends, writes into its entry the fields known only
 * then, such as the error bound and the clock state. A record that has to wait for its interval is handed on later. The
 * metering thread owns it. Allocates at construction.
 */
public final class FlowEnd implements FlowRecordSink {
    private final FlowRecordSink next;
    private final UnsafeBuffer entry = new UnsafeBuffer(0, 0);
    private final boolean isOfSeveral;
    private DelayStage stage;

    /** A sink before another. */
    public FlowEnd(final FlowRecordSink next) {
        this(next, false);
    }

    /** A sink of one of several segments, whose records always name it. */
    FlowEnd(final FlowRecordSink next, final boolean isOfSeveral) {
        this.next = next;
        this.isOfSeveral = isOfSeveral;
    }

    /** {@return whether records without a delay name their segment too} */
    boolean isOfSeveral() {
        return isOfSeveral;
    }

    /** Sets the delay stage; before the first flow ends. */
    void stage(final DelayStage delayStage) {
        stage = delayStage;
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        entry.wrap(buffer, offset, lengthBytes);
        if (stage.onFlowEnd(entry, FlowEntry.BASE_LENGTH_BYTES)) {
            next.onFlowRecord(buffer, offset, lengthBytes);
        }
    }

    @Override
    public boolean isComplete(final DirectBuffer buffer, final int offset) {
        return stage.isComplete(buffer, offset);
    }

    /** Hands on a completed record that has waited. */
    void onWaited(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        next.onFlowRecord(buffer, offset, lengthBytes);
    }
}
