package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;
import org.agrona.ExpandableDirectByteBuffer;

/**
 * Joins the entries of both directions of a biflow in one record, the initiator's first: twice the octets of an entry. Other
 * records pass. The thread that owns the cache owns it. Allocates at construction, and at the first biflow.
 */
public final class FlowPairs implements FlowRecordSink {
    private final FlowRecordSink next;
    private final ExpandableDirectByteBuffer pair = new ExpandableDirectByteBuffer(4 * FlowEntry.BASE_LENGTH_BYTES);
    private int heldBytes;

    /** A sink before another. */
    public FlowPairs(final FlowRecordSink next) {
        this.next = next;
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (!FlowEntry.isOfBiflow(buffer, offset)) {
            next.onFlowRecord(buffer, offset, lengthBytes);
            return;
        }
        pair.putBytes(heldBytes, buffer, offset, lengthBytes);
        if (heldBytes == 0) {
            heldBytes = lengthBytes;
        } else {
            heldBytes = 0;
            next.onFlowRecord(pair, 0, 2 * lengthBytes);
        }
    }
}
