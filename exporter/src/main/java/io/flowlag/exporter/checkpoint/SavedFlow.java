package io.flowlag.exporter.checkpoint;

import io.flowlag.exporter.flow.EndReason;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of a flow in the checkpoint, the same for every configuration:
 * <pre>
 *   0  what FlowEntry has                       128   endReason is not 0 once the flow's record has been made
 * 128  counters of interpolated delays           48   the first state of the delay stage; zeros without it
 * 176  zeros                                     16   there the delay stage keeps what is not saved
 * </pre>
 * The results of sketches and matching are not saved, because their intervals end with the process.
 */
final class SavedFlow {
    /** Octets of the delay stage's state that are saved. */
    static final int STATE_LENGTH_BYTES = 64;
    private static final int COPIED_STATE_BYTES = 48;
    static final int LENGTH_BYTES = FlowEntry.BASE_LENGTH_BYTES + STATE_LENGTH_BYTES;

    private SavedFlow() {
    }

    /** Copies a flow of the cache, with as much state as is given. */
    static void copy(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer entry, final int entryOffset,
        final int stateLengthBytes) {
        final int copiedBytes = FlowEntry.BASE_LENGTH_BYTES + Math.min(COPIED_STATE_BYTES, stateLengthBytes);
        buffer.putBytes(offset, entry, entryOffset, copiedBytes);
        buffer.setMemory(offset + copiedBytes, LENGTH_BYTES - copiedBytes, (byte)0);
        FlowEntry.endReason(buffer, offset, 0);
    }

    /** Marks the flow's record as written. */
    static void markEnded(final MutableDirectBuffer buffer) {
        FlowEntry.endReason(buffer, 0, EndReason.FORCED_END.code());
    }

    /** {@return whether the flow's record was written before the process stopped} */
    static boolean isEnded(final DirectBuffer buffer, final int offset) {
        return FlowEntry.endReason(buffer, offset) != 0;
    }

    /** {@return whether octets from a file can be a flow} */
    static boolean isSound(final DirectBuffer buffer, final int offset, final long flowId) {
        final int ipVersion = FlowEntry.ipVersion(buffer, offset);
        return FlowEntry.flowId(buffer, offset) == flowId && flowId > 0 && flowId < Long.MAX_VALUE >> 1 &&
            (ipVersion == 4 || ipVersion == 6) && FlowEntry.packetCount(buffer, offset) > 0 &&
            FlowEntry.startNs(buffer, offset) <= FlowEntry.endNs(buffer, offset) &&
            (FlowEntry.flags(buffer, offset) & FlowEntry.FLAG_LIVE) != 0;
    }
}
