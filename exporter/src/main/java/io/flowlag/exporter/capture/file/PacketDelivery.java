package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketFilter;
import io.flowlag.exporter.capture.PacketHandler;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * Passes packets to the handler through the filter of their link type, and counts them. One thread; allocates when a link type
 * is met for the first time.
 */
final class PacketDelivery {
    private final FilterSupplier filters;
    private final Int2ObjectHashMap<PacketFilter> filterByLinkType = new Int2ObjectHashMap<>();
    private PacketFilter filter;
    private int filterLinkType = LinkType.ETHERNET;
    private long capturedCount;
    private long filteredCount;

    /** A delivery; it requests the filter of one link type at once, so that a wrong expression is refused now. */
    PacketDelivery(final FilterSupplier filters) {
        this.filters = filters;
        useFilterOf(filterLinkType);
    }

    /** Passes a packet to the handler, if the filter accepts it. */
    void deliver(final CapturedPacket packet, final PacketHandler handler) {
        capturedCount++;
        if (packet.linkType() != filterLinkType) {
            useFilterOf(packet.linkType());
        }
        if (filter.matches(
            packet.buffer(), packet.packetIndex(), packet.capturedLengthBytes(), packet.wireLengthBytes())) {
            packet.handTo(handler);
        } else {
            filteredCount++;
        }
    }

    private void useFilterOf(final int linkType) {
        PacketFilter found = filterByLinkType.get(linkType);
        if (found == null) {
            found = filters.filterFor(linkType);
            filterByLinkType.put(linkType, found);
        }
        filter = found;
        filterLinkType = linkType;
    }

    long capturedCount() {
        return capturedCount;
    }

    long filteredCount() {
        return filteredCount;
    }
}
