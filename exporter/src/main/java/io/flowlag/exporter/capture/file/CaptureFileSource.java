package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketFilter;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * A {@link PacketSource} of capture files. Created by {@link CaptureFiles}; used by one thread. {@link #poll} allocates nothing
 * per packet; it allocates when it opens a file, moves the window, or meets a link type for the first time. It waits only for
 * standard input and pipes, and for them only before its first packet.
 */
public abstract class CaptureFileSource implements PacketSource {
    private final FilterSupplier filters;
    private final Int2ObjectHashMap<PacketFilter> filterByLinkType = new Int2ObjectHashMap<>();
    private PacketFilter filter;
    private int filterLinkType = LinkType.ETHERNET;
    private long capturedCount;
    private long filteredCount;

    /** A source; it requests the filter of one link type at once, so that a wrong expression is refused now. */
    CaptureFileSource(final FilterSupplier filters) {
        this.filters = filters;
        useFilterOf(filterLinkType);
    }

    @Override
    public final int poll(final PacketHandler handler, final int packetLimit) {
        final long before = capturedCount;
        boolean hasMore = true;
        try {
            hasMore = deliver(handler, packetLimit);
        } catch (final InternalError ex) {
            if (!hasFaulted()) {
                throw ex;
            }
        }
        final int count = (int) (capturedCount - before);
        return count == 0 && !hasMore ? END_OF_SOURCE : count;
    }

    /** Delivers packets until the limit, the end, or a wait for a writer; returns false at the end. */
    abstract boolean deliver(PacketHandler handler, int packetLimit);

    /** {@return whether a capture was cut while it was read, which caused a memory fault; it has ended as damaged} */
    abstract boolean hasFaulted();

    /** Passes a packet to the handler, if the filter of its link type accepts it. */
    final void deliver(final CapturedPacket packet, final PacketHandler handler) {
        capturedCount++;
        if (packet.linkType() != filterLinkType) {
            useFilterOf(packet.linkType());
        }
        if (filter.matches(packet)) {
            handler.onPacket(packet);
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

    @Override
    public final long capturedCount() {
        return capturedCount;
    }

    @Override
    public final long filteredCount() {
        return filteredCount;
    }
}
