package io.flowlag.exporter.capture;

/**
 * Where packets come from. One thread owns a source: it calls {@link #poll} until that returns {@link #END_OF_SOURCE}, then
 * {@link #close}. Nothing is allocated per packet by the implementations meant for the packet path (files, packet ring).
 * <p>
 * Everything that cannot work is said when the source is opened, by a {@link CaptureException}; after that a source only
 * counts: {@link #damage()} says why a file ended early, {@link #kernelDropCount()} what the kernel lost. A figure that does not
 * exist for a source has a default.
 */
public interface PacketSource extends AutoCloseable {
    /** Returned by {@link #poll} when there will be no further packet. */
    int END_OF_SOURCE = -1;

    /**
     * The latest timestamp that a source gives, in 2116: half of what 64 bits of ns hold, so that neither the difference of two
     * timestamps nor the sum of one and a timeout overflows.
     */
    long MAX_TIMESTAMP_NS = 1L << 62;
    /** The earliest timestamp that a source gives, in 1823. */
    long MIN_TIMESTAMP_NS = 1 - MAX_TIMESTAMP_NS;

    /**
     * Hands packets over. Live sources never wait here: they return 0 when nothing has arrived.
     *
     * @param packetLimit how many at most in this call.
     * @return how many packets were taken from the source (those filtered included), or {@link #END_OF_SOURCE}.
     */
    int poll(PacketHandler handler, int packetLimit);

    /** {@return what the source is, for messages: a path or an interface} */
    String name();

    /** {@return packets taken from the source so far, those included that a filter kept back} */
    long capturedCount();

    /** {@return packets that a filter in this process kept back; those that the kernel filtered never reach us} */
    default long filteredCount() {
        return 0;
    }

    /** {@return packets that the kernel reported lost before we could read them; 0 for files} */
    default long kernelDropCount() {
        return 0;
    }

    /**
     * Brings {@link #kernelDropCount()} up to date: whatever the kernel dropped before the call is in it then. Nothing to do for
     * files.
     */
    default void updateKernelDropCount() {
    }

    /** {@return packets whose timestamp was beyond the latest or earliest and was clamped; 0 for live sources} */
    default long timestampClampedCount() {
        return 0;
    }

    /** {@return packets with the kernel's timestamp although the card's was asked for; 0 for files} */
    default long kernelStampedCount() {
        return 0;
    }

    /** {@return octets of input consumed so far, for progress} */
    default long consumedBytes() {
        return 0;
    }

    /** {@return octets of input in all, or -1 where that is not known} */
    default long totalBytes() {
        return -1;
    }

    /** {@return why the input ended before its end, or null if it is whole; for a live source, why it stopped} */
    default String damage() {
        return null;
    }

    /** Gives back what the source holds of the system; nothing by default. */
    @Override
    default void close() {
    }
}
