package io.flowlag.exporter.runtime;

import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Keeps records as text without their flow ids, which are counted apart. */
final class FlowRecordList extends TakingDestination {
    private final List<String> records = new ArrayList<>();
    private final Set<Long> flowIds = new HashSet<>();
    private long packets;

    @Override
    protected void onRecord(final DirectBuffer entry, final int offset) {
        packets += FlowEntry.packetCount(entry, offset);
        flowIds.add(FlowEntry.flowId(entry, offset));
        records.add(String.join(" ", List.of(
            hex(FlowEntry.sourceHigh(entry, offset)), hex(FlowEntry.sourceLow(entry, offset)),
            "" + FlowEntry.sourcePort(entry, offset),
            hex(FlowEntry.destinationHigh(entry, offset)), hex(FlowEntry.destinationLow(entry, offset)),
            "" + FlowEntry.destinationPort(entry, offset), "" + FlowEntry.protocol(entry, offset),
            "" + FlowEntry.vlanId(entry, offset), "" + FlowEntry.ipClassOfService(entry, offset),
            "" + FlowEntry.packetCount(entry, offset), "" + FlowEntry.octetCount(entry, offset),
            "" + FlowEntry.startNs(entry, offset), "" + FlowEntry.endNs(entry, offset),
            "" + FlowEntry.tcpControlBits(entry, offset), "" + FlowEntry.minimumLengthBytes(entry, offset),
            "" + FlowEntry.maximumLengthBytes(entry, offset), "" + FlowEntry.minimumTtl(entry, offset),
            "" + FlowEntry.maximumTtl(entry, offset), "" + FlowEntry.endReason(entry, offset))));
    }

    private static String hex(final long value) {
        return Long.toHexString(value);
    }

    /** {@return all records, in no order of their own} */
    List<String> sorted() {
        return records.stream().sorted().toList();
    }

    /** {@return how many flow ids there are} */
    int flowIdCount() {
        return flowIds.size();
    }

    /** {@return packets of all records} */
    long packets() {
        return packets;
    }
}
