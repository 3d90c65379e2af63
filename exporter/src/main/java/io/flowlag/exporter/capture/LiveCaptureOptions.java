package io.flowlag.exporter.capture;

import java.util.Objects;

/**
 * How to open an interface. Immutable; the constructor checks every range.
 *
 * @param interfaceName      as the system calls it.
 * @param promiscuous        whether to ask for frames addressed to other stations.
 * @param snapLengthBytes    how many octets of a packet to keep at most.
 * @param ringBytes          memory for packets between kernel and process.
 * @param blockBytes         size of the blocks in which the ring passes from kernel to process, a power of two; 0 to derive it
 *                           from {@code ringBytes}. Used by {@link Kind#AFPACKET}.
 * @param blockTimeoutMs     after how long the kernel passes on a block that is not full.
 * @param filterExpression   in the syntax of pcap-filter(7), or null for every packet.
 * @param hardwareTimestamps whether to use the network card's timestamps where it has them.
 */
public record LiveCaptureOptions(
    String interfaceName,
    Kind kind,
    Direction direction,
    boolean promiscuous,
    int snapLengthBytes,
    int ringBytes,
    int blockBytes,
    int blockTimeoutMs,
    String filterExpression,
    boolean hardwareTimestamps) {

    /** The longest snap length: more than any packet has. */
    public static final int MAX_SNAP_LENGTH_BYTES = 262_144;
    public static final int MIN_RING_BYTES = 64 << 10;
    public static final int MAX_RING_BYTES = 1 << 30;
    public static final int DEFAULT_RING_BYTES = 64 << 20;
    public static final int DEFAULT_BLOCK_TIMEOUT_MS = 10;
    public static final int MAX_BLOCK_TIMEOUT_MS = 1_000;
    /** The smallest block: the smallest memory page. */
    public static final int MIN_BLOCK_BYTES = 4096;

    private static final int MAX_DERIVED_BLOCK_BYTES = 1 << 20;
    private static final int LEAST_BLOCK_COUNT = 2;
    private static final int DERIVED_BLOCK_COUNT = 8;

    /** Which implementation opens the interface. */
    public enum Kind {
        /** {@link #EBPF}; where kernel or rights do not allow it, {@link #AFPACKET} with a notice that says why. */
        AUTO,
        /** Linux packet ring, read in place; allocates nothing per packet. */
        AFPACKET,
        /** Linux, memory that an eBPF program fills, read in place; allocates nothing per packet. */
        EBPF,
        /** AF_XDP: takes arriving packets from the host, read in place; allocates nothing per packet. */
        XDP,
        /** libpcap by pcap4j: portable, allocates several objects per packet. */
        PCAP
    }

    /** Which packets of the interface are wanted. */
    public enum Direction {
        /** Those that arrive at the interface. */
        IN,
        /** Those that leave by the interface. */
        OUT,
        /** Both; on the loopback interface, where every packet leaves and arrives, only the arriving ones. */
        BOTH,
        /** As {@link #BOTH}, and each packet tells its way; {@link Kind#PCAP} cannot. */
        EACH
    }

    /** Checks every range. */
    public LiveCaptureOptions {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(direction, "direction");
        if (interfaceName == null || interfaceName.isBlank()) {
            throw new IllegalArgumentException("interfaceName must not be empty");
        }
        checkRange("snapLengthBytes", snapLengthBytes, 1, MAX_SNAP_LENGTH_BYTES);
        checkRange("ringBytes", ringBytes, MIN_RING_BYTES, MAX_RING_BYTES);
        checkRange("blockTimeoutMs", blockTimeoutMs, 1, MAX_BLOCK_TIMEOUT_MS);
        if (blockBytes != 0) {
            checkRange("blockBytes", blockBytes, MIN_BLOCK_BYTES, ringBytes / LEAST_BLOCK_COUNT);
            if (Integer.bitCount(blockBytes) != 1) {
                throw new IllegalArgumentException("blockBytes=" + blockBytes + " is not a power of two");
            }
        }
    }

    /**
     * The default options: packet ring, both directions, promiscuous, whole packets, no filter, the kernel's timestamps.
     *
     * @param interfaceName as the system calls it.
     */
    public static LiveCaptureOptions of(final String interfaceName) {
        return new LiveCaptureOptions(interfaceName, Kind.AFPACKET, Direction.BOTH, true, MAX_SNAP_LENGTH_BYTES,
            DEFAULT_RING_BYTES, 0, DEFAULT_BLOCK_TIMEOUT_MS, null, false);
    }

    /** The same with another kind of source. */
    public LiveCaptureOptions withKind(final Kind value) {
        return new LiveCaptureOptions(interfaceName, value, direction, promiscuous, snapLengthBytes, ringBytes, blockBytes,
            blockTimeoutMs, filterExpression, hardwareTimestamps);
    }

    /** The same with another direction. */
    public LiveCaptureOptions withDirection(final Direction value) {
        return new LiveCaptureOptions(interfaceName, kind, value, promiscuous, snapLengthBytes, ringBytes, blockBytes,
            blockTimeoutMs, filterExpression, hardwareTimestamps);
    }

    /** The same, promiscuous or not. */
    public LiveCaptureOptions withPromiscuous(final boolean value) {
        return new LiveCaptureOptions(interfaceName, kind, direction, value, snapLengthBytes, ringBytes, blockBytes,
            blockTimeoutMs, filterExpression, hardwareTimestamps);
    }

    /** The same with another snap length. */
    public LiveCaptureOptions withSnapLengthBytes(final int value) {
        return new LiveCaptureOptions(interfaceName, kind, direction, promiscuous, value, ringBytes, blockBytes,
            blockTimeoutMs, filterExpression, hardwareTimestamps);
    }

    /** The same with another ring; blocks of 0 octets derive their size from it. */
    public LiveCaptureOptions withRing(final int newRingBytes, final int newBlockBytes, final int newBlockTimeoutMs) {
        return new LiveCaptureOptions(interfaceName, kind, direction, promiscuous, snapLengthBytes, newRingBytes,
            newBlockBytes, newBlockTimeoutMs, filterExpression, hardwareTimestamps);
    }

    /** The same with another filter, in the syntax of pcap-filter(7); null for every packet. */
    public LiveCaptureOptions withFilterExpression(final String value) {
        return new LiveCaptureOptions(interfaceName, kind, direction, promiscuous, snapLengthBytes, ringBytes, blockBytes,
            blockTimeoutMs, value, hardwareTimestamps);
    }

    /** The same, with the card's timestamps or without. */
    public LiveCaptureOptions withHardwareTimestamps(final boolean value) {
        return new LiveCaptureOptions(interfaceName, kind, direction, promiscuous, snapLengthBytes, ringBytes, blockBytes,
            blockTimeoutMs, filterExpression, value);
    }

    /** {@return whether there is a filter expression that is not blank} */
    public boolean hasFilter() {
        return filterExpression != null && !filterExpression.isBlank();
    }

    /** {@return the size of a block: as configured, or an eighth of the ring, at most 1 MiB} */
    public int effectiveBlockBytes() {
        return blockBytes != 0 ? blockBytes :
            Math.min(MAX_DERIVED_BLOCK_BYTES, Integer.highestOneBit(ringBytes / DERIVED_BLOCK_COUNT));
    }

    private static void checkRange(final String name, final int value, final int least, final int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(name + "=" + value + " is not in " + least + ".." + most);
        }
    }
}
