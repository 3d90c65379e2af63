package io.flowlag.exporter.capture;

/**
 * Compiles one filter expression for the link types of a source. A source asks once per link type, outside the packet path, and
 * keeps the filter. Called by the thread that opens or polls the source; allocates what it creates.
 */
@FunctionalInterface
public interface FilterSupplier {
    /** Keeps every packet. */
    FilterSupplier ALL = linkType -> packet -> true;

    /**
     * The filter for one link type.
     *
     * @param linkType as capture files number it, see {@link LinkType}.
     * @return the filter; for a link type that the expression cannot be compiled for, one that matches nothing.
     * @throws CaptureException of kind {@link CaptureException.Kind#BAD_FILTER} if the expression is wrong for every link type.
     */
    PacketFilter filterFor(int linkType);
}
