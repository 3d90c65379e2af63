package io.flowlag.exporter.capture;

/**
 * A source of packets. One thread owns it: it calls {@link #poll} until that returns {@link #END_OF_SOURCE}, then {@link
 * #close}. The implementations for the packet path (files, packet ring) allocate nothing per packet.
 * <p>
 * Opening a source reports all errors by a {@link CaptureException}. After that a source only counts: {@link #damage()} has the
 * reason why a file ended early, {@link #kernelDropCount()} the kernel's losses. A figure that does not exist for a source has
 * a default.
 */
public interface PacketSource extends AutoCloseable {
    /** Returned by {@link #poll} when there will be no further packet. */
    int END_OF_SOURCE = -1;

    /**
     * The latest timestamp that a source gives, in 2116: half the range of 64 bits of ns. Thus neither the difference of two
     * timestamps nor the sum of one and a timeout overflows.
     */
    long MAX_TIMESTAMP_NS = 1L << 62;
    /** The earliest timestamp that a source gives, in 1823. */
    long MIN_TIMESTAMP_NS = 1 - MAX_TIMESTAMP_NS;

    /**
     * Hands packets over. Live sources never wait here: they return 0 when nothing has arrived.
     *
     * @param packetLimit how many at most in this call.
     * @return how many packets were taken from the source (including filtered ones), or {@link #END_OF_SOURCE}.
     */
    int poll(PacketHandler handler, int packetLimit);

    /** {@return the name of the source for messages: a path or an interface} */
    String name();

    /** {@return packets taken from the source so far, including filtered ones} */
    long capturedCount();

    /** {@return packets that a filter in this process refused; those that the kernel filtered never reach it} */
    default long filteredCount() {
        return 0;
    }

    /** {@return packets that the kernel reported lost before this process could read them; 0 for files} */
    default long kernelDropCount() {
        return 0;
    }

    /** Updates {@link #kernelDropCount()}: afterwards it includes all drops from before the call. Nothing to do for files. */
    default void updateKernelDropCount() {
    }

    /** {@return whether it is known that no packet is left for the next {@link #poll}, in the kernel neither} */
    default boolean isDrained() {
        return false;
    }

    /** {@return packets whose timestamp was out of range and was clamped; 0 for live sources} */
    default long timestampClampedCount() {
        return 0;
    }

    /** {@return packets with the kernel's timestamp although the card's was requested; 0 for files} */
    default long kernelStampedCount() {
        return 0;
    }

    /** {@return octets of input consumed so far, for progress} */
    default long consumedBytes() {
        return 0;
    }

    /** {@return octets of input in all, or -1 if unknown} */
    default long totalBytes() {
        return -1;
    }

    /** {@return why the input ended early, or null if it is whole; for a live source, why it stopped} */
    default String damage() {
        return null;
    }

    /** Releases the source's system resources; nothing by default. */
    @Override
    default void close() {
    }
}
