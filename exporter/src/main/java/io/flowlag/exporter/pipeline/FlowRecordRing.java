package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.MessageHandler;

/**
 * The ring from metering to exporting; a record that does not fit is counted as dropped. Threads as in {@link StageRing}.
 */
public final class FlowRecordRing implements FlowRecordSink {
    private final StageRing ring;
    private final Counters counters;

    /** A ring of flow records; the offering thread is the writer of its drop counters. */
    public FlowRecordRing(final StageRing ring, final Counters counters) {
        this.ring = ring;
        this.counters = counters;
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (!ring.offer(buffer, offset, lengthBytes)) {
            counters.increment(CounterId.DROPPED_AT_RECORD_RING);
            counters.add(CounterId.DROPPED_AT_RECORD_RING_PACKETS, FlowEntry.recordPacketCount(buffer, offset, lengthBytes));
            counters.add(CounterId.DROPPED_AT_RECORD_RING_OCTETS, FlowEntry.recordOctetCount(buffer, offset, lengthBytes));
        }
    }

    /**
     * A reader of records for the other end of the ring; allocates, so create it once. Returns the handler for {@link
     * StageRing#read}.
     */
    public static MessageHandler reader(final FlowRecordSink sink) {
        return (final int typeId, final MutableDirectBuffer buffer, final int index, final int length) ->
            sink.onFlowRecord(buffer, index, length);
    }
}
