package io.flowlag.exporter.decode;

import io.flowlag.common.hash.Secrets;
import io.flowlag.common.hash.SipHash;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Keeps the fields of a packet's first fragment (ports, ICMP type) for the later ones, which do not repeat them. Four entries,
 * a cache line each, form a set; a full set replaces its oldest entry. A hash with a random key selects the set, the full key
 * the packet. An entry is valid until its timeout in packet time.
 * <pre>
 *   0  timestampNs       8   of the first fragment
 *   8  source           16
 *  24  destination      16
 *  40  identification    4   16 bits in IPv4, 32 in IPv6
 *  44  version, protocol 4   version * 256 + protocol, or version * 256 where the first fragment says it; 0 if the entry is free
 *  48  sourcePort        2
 *  50  destinationPort   2
 *  52  icmpTypeCode      2
 *  54  protocol          1
 * </pre>
 * In IPv6 a later fragment may name an extension header that only the first fragment has; the first one names the packet's
 * protocol (RFC 8200 section 4.5). The protocol is then not part of the key, and is recalled too.
 * <p>
 * One thread. Allocates at construction, off the heap.
 */
final class FragmentTable {
    private static final int ENTRY_LENGTH_BYTES = CACHE_LINE_LENGTH;
    private static final int TIMESTAMP_NS_OFFSET = 0;
    private static final int KEY_OFFSET = TIMESTAMP_NS_OFFSET + 8;
    private static final int SOURCE_OFFSET = KEY_OFFSET;
    private static final int DESTINATION_OFFSET = SOURCE_OFFSET + 16;
    private static final int IDENTIFICATION_OFFSET = DESTINATION_OFFSET + 16;
    private static final int VERSION_PROTOCOL_OFFSET = IDENTIFICATION_OFFSET + 4;
    private static final int SOURCE_PORT_OFFSET = VERSION_PROTOCOL_OFFSET + 4;
    private static final int DESTINATION_PORT_OFFSET = SOURCE_PORT_OFFSET + 2;
    private static final int ICMP_TYPE_CODE_OFFSET = DESTINATION_PORT_OFFSET + 2;
    private static final int PROTOCOL_OFFSET = ICMP_TYPE_CODE_OFFSET + 2;
    private static final int KEY_LENGTH_BYTES = SOURCE_PORT_OFFSET - KEY_OFFSET;

    private static final int ENTRIES_PER_SET = 4;

    private final UnsafeBuffer table;
    private final UnsafeBuffer wanted = new UnsafeBuffer(BufferUtil.allocateDirectAligned(ENTRY_LENGTH_BYTES, 8));
    private final SipHash hash;
    private final long timeoutNs;
    private final int setMask;
    private final boolean isProtocolRecalled;

    /** {@return octets off the heap, by formula} */
    static long memoryBytes(final int entryCount) {
        return (long)entryCount * ENTRY_LENGTH_BYTES;
    }

    /**
     * An empty table.
     *
     * @param entryCount         a power of two, at least four; 0 for a table that is not used.
     * @param timeoutNs          after which a first fragment is forgotten.
     * @param isProtocolRecalled whether later IPv6 fragments get the protocol of the first.
     */
    FragmentTable(final int entryCount, final long timeoutNs, final boolean isProtocolRecalled) {
        this.hash = new SipHash(Secrets.next(), Secrets.next());
        this.table = new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(entryCount * ENTRY_LENGTH_BYTES, CACHE_LINE_LENGTH));
        this.timeoutNs = timeoutNs;
        this.isProtocolRecalled = isProtocolRecalled;
        this.setMask = entryCount / ENTRIES_PER_SET - 1;
    }

    boolean hasEntries() {
        return setMask >= 0;
    }

    /** Whether a first fragment may have fields of this later one: ports, ICMP type, or the protocol behind extension headers. */
    boolean concerns(final IpPacket later) {
        return TransportLayer.hasPortsOrType(later.protocol) ||
            isProtocolRecalled && later.version == 6 && Ipv6.isExtension(later.protocol);
    }

    /** Stores a first fragment, replacing an earlier packet of the same key. */
    void remember(final IpPacket first, final long timestampNs) {
        final int set = setOf(first);
        final int found = find(set);
        final int entry = found >= 0 ? found : oldest(set, timestampNs);
        wanted.putLong(TIMESTAMP_NS_OFFSET, timestampNs);
        wanted.putShort(SOURCE_PORT_OFFSET, (short)first.sourcePort);
        wanted.putShort(DESTINATION_PORT_OFFSET, (short)first.destinationPort);
        wanted.putShort(ICMP_TYPE_CODE_OFFSET, (short)first.icmpTypeCode);
        wanted.putByte(PROTOCOL_OFFSET, (byte)first.protocol);
        table.putBytes(entry, wanted, 0, ENTRY_LENGTH_BYTES);
    }

    /** Copies the fields of the first fragment. Returns false if it is unknown or too old. */
    boolean recall(final IpPacket later, final long timestampNs) {
        final int entry = find(setOf(later));
        if (entry < 0 || isForgotten(entry, timestampNs)) {
            return false;
        }
        later.protocol = table.getByte(entry + PROTOCOL_OFFSET) & 0xFF;
        later.sourcePort = table.getShort(entry + SOURCE_PORT_OFFSET) & 0xFFFF;
        later.destinationPort = table.getShort(entry + DESTINATION_PORT_OFFSET) & 0xFFFF;
        later.icmpTypeCode = table.getShort(entry + ICMP_TYPE_CODE_OFFSET) & 0xFFFF;
        return true;
    }

    private boolean isForgotten(final int entry, final long timestampNs) {
        return timestampNs - table.getLong(entry + TIMESTAMP_NS_OFFSET) > timeoutNs;
    }

    private int setOf(final IpPacket packet) {
        wanted.putLong(SOURCE_OFFSET, packet.sourceHigh);
        wanted.putLong(SOURCE_OFFSET + 8, packet.sourceLow);
        wanted.putLong(DESTINATION_OFFSET, packet.destinationHigh);
        wanted.putLong(DESTINATION_OFFSET + 8, packet.destinationLow);
        wanted.putInt(IDENTIFICATION_OFFSET, packet.identification);
        wanted.putInt(
            VERSION_PROTOCOL_OFFSET, packet.version << 8 | (isProtocolRecalled && packet.version == 6 ? 0 : packet.protocol));
        final int set = (int)hash.hash(wanted, KEY_OFFSET, KEY_LENGTH_BYTES) & setMask;
        return set * ENTRIES_PER_SET * ENTRY_LENGTH_BYTES;
    }

    private int find(final int set) {
        for (int i = 0; i < ENTRIES_PER_SET; i++) {
            final int entry = set + i * ENTRY_LENGTH_BYTES;
            if (hasWantedKey(entry)) {
                return entry;
            }
        }
        return -1;
    }

    private boolean hasWantedKey(final int entry) {
        for (int i = KEY_OFFSET; i < KEY_OFFSET + KEY_LENGTH_BYTES; i += 8) {
            if (table.getLong(entry + i) != wanted.getLong(i)) {
                return false;
            }
        }
        return true;
    }

    /** The entry whose time is farthest from now; one from the future was stored before a clock was set back. */
    private int oldest(final int set, final long timestampNs) {
        int oldest = set;
        long oldestAgeNs = Long.MIN_VALUE;
        for (int i = 0; i < ENTRIES_PER_SET; i++) {
            final int entry = set + i * ENTRY_LENGTH_BYTES;
            if (table.getInt(entry + VERSION_PROTOCOL_OFFSET) == 0) {
                return entry;
            }
            final long ageNs = Math.abs(timestampNs - table.getLong(entry + TIMESTAMP_NS_OFFSET));
            if (ageNs > oldestAgeNs) {
                oldest = entry;
                oldestAgeNs = ageNs;
            }
        }
        return oldest;
    }
}
