package io.flowlag.tests.benchmark;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import org.agrona.BufferUtil;
import org.agrona.collections.IntArrayList;

import java.nio.ByteBuffer;
import java.util.function.Predicate;

/**
 * A capture of packets of 60 octets in memory, as pcap records with nanoseconds, without end: it is played in rounds, each with
 * the same packets, later by the length of a round. Flows are those of {@link TrafficProfile#min64}. Among the packets there may
 * be references, new ones in each round. The same packets can be had as the sender point saw them, earlier by their delay. One
 * thread uses an instance; it allocates at construction.
 * <pre>
 *   0      4      8      12     16
 *   +------+------+------+------+---------+
 *   | s    | ns   | held | wire | octets  |   host byte order
 *   +------+------+------+------+---------+
 * </pre>
 */
final class MemoryTraffic implements PacketSource {
    /** One reference behind as many packets. */
    static final int REFERENCE_DISTANCE = 100;
    /** The UDP port of references, the default of the program. */
    static final int REFERENCE_PORT = SessionReferences.PORT;
    /** The session of references. */
    static final int SESSION = 1;

    private static final int PACKETS_PER_SECOND = 1_000_000;
    private static final int NANOSECONDS_OFFSET = 4;
    private static final int HELD_OFFSET = 8;
    private static final int WIRE_OFFSET = 12;
    private static final int HEADER_BYTES = 16;
    private static final int FRAME_BYTES = 60;
    private static final int REFERENCE_BYTES = 42 + 44;
    private static final long SHORTEST_DELAY_NS = 50_000;
    private static final long DELAY_PERIOD_NS = 2_000_000;
    private static final int DELAY_SLOPE = 20;
    private static final int POLL_LIMIT = 256;
    /** Both IPv4 addresses. */
    private static final int ADDRESSES_OFFSET = 14 + 12;
    private static final long PAIR_FACTOR = 0x9E37_79B9_7F4A_7C15L;

    /** Kept reachable for {@link #records}. */
    private final ByteBuffer memory;
    private final CheckedBuffer records;
    private final CapturedPacket captured;
    private final IntArrayList references = new IntArrayList();
    private final SessionReferences frame = new SessionReferences(SESSION);
    private final TcpFrames connections;
    private final int packetCount;
    private final long roundNs;
    private final int lengthBytes;
    private int position;
    private long shiftNs;
    private long capturedCount;
    private long round;
    private int keptCount;
    private boolean isLastRound;

    /**
     * Makes the packets of the receiver point.
     *
     * @param flowCount     of a round, all of them in each.
     * @param packetCount   of a round, without references; at 1 packet a µs.
     * @param hasReferences whether every {@link #REFERENCE_DISTANCE}th packet is followed by a reference.
     */
    MemoryTraffic(final int flowCount, final int packetCount, final boolean hasReferences) {
        this(flowCount, packetCount, hasReferences, false, null, (packet) -> true);
    }

    /** {@return the packets of TCP connections; parameters as of the receiver point, without references} */
    static MemoryTraffic ofConnections(final int flowCount, final int packetCount) {
        return new MemoryTraffic(flowCount, packetCount, false, false, new TcpFrames(flowCount), (packet) -> true);
    }

    private MemoryTraffic(
        final int flowCount, final int packetCount, final boolean hasReferences, final boolean isSent,
        final TcpFrames connections, final Predicate<CapturedPacket> isKept) {
        final TrafficProfile profile = Profiles.min64().toBuilder().flowCount(flowCount).packetCount(packetCount)
            .packetsPerSecond(PACKETS_PER_SECOND).build();
        this.connections = connections;
        roundNs = profile.durationNs();
        final long bytes = (long)packetCount * (HEADER_BYTES + FRAME_BYTES) +
            (hasReferences ? (long)packetCount / REFERENCE_DISTANCE * (HEADER_BYTES + REFERENCE_BYTES) : 0);
        memory = ByteBuffer.allocateDirect(Math.toIntExact(bytes));
        records = new CheckedBuffer(BufferUtil.address(memory), memory.capacity());
        captured = new CapturedPacket(records, LinkType.ETHERNET, 0);
        try (GeneratedTraffic traffic = new GeneratedTraffic(profile)) {
            final PacketHandler writer = packet -> {
                if (!isKept.test(packet)) {
                    return;
                }
                keptCount++;
                final long timestampNs = packet.timestampNs();
                putHeader(packet.capturedLengthBytes(), isSent ? timestampNs - delayNs(timestampNs) : timestampNs);
                records.putBytes(position + HEADER_BYTES, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
                if (connections != null) {
                    connections.turn(records, position + HEADER_BYTES);
                }
                position += HEADER_BYTES + packet.capturedLengthBytes();
                if (hasReferences && ++capturedCount % REFERENCE_DISTANCE == 0) {
                    putReference(timestampNs);
                }
            };
            while (traffic.poll(writer, POLL_LIMIT) != END_OF_SOURCE) {
                // goes on to the end
            }
        }
        lengthBytes = position;
        this.packetCount = keptCount;
        capturedCount = 0;
    }

    /** {@return the packets as the sender point saw them; parameters as of the receiver point, without references} */
    static MemoryTraffic sent(final int flowCount, final int packetCount) {
        return new MemoryTraffic(flowCount, packetCount, false, true, null, (packet) -> true);
    }

    /**
     * The packets of a point of a router with several interfaces: all ordered pairs of them have about as many flows.
     *
     * @param interfaceCount   of the router.
     * @param observationPoint 2 i for what arrives at the i-th interface, and 2 i + 1 for what leaves it.
     */
    static MemoryTraffic ofRouter(
        final int flowCount, final int packetCount, final int interfaceCount, final int observationPoint) {
        final boolean isSent = (observationPoint & 1) == 0;
        return new MemoryTraffic(flowCount, packetCount, false, isSent, null, (packet) -> {
            final int pair = Math.floorMod(packet.buffer().getLong(packet.offset() + ADDRESSES_OFFSET) * PAIR_FACTOR >>> 40,
                interfaceCount * (interfaceCount - 1));
            final int ingress = pair / (interfaceCount - 1);
            final int egress = (ingress + 1 + pair % (interfaceCount - 1)) % interfaceCount;
            return (isSent ? ingress : egress) == observationPoint >> 1;
        });
    }

    private void putHeader(final int heldBytes, final long timestampNs) {
        records.putInt(position, (int)(timestampNs / Nanoseconds.PER_SECOND));
        records.putInt(position + NANOSECONDS_OFFSET, (int)(timestampNs % Nanoseconds.PER_SECOND));
        records.putInt(position + HELD_OFFSET, heldBytes);
        records.putInt(position + WIRE_OFFSET, heldBytes);
    }

    private void putReference(final long timestampNs) {
        putHeader(REFERENCE_BYTES, timestampNs);
        references.addInt(position);
        SessionReferences.putHeaders(records, position + HEADER_BYTES, REFERENCE_BYTES);
        position += HEADER_BYTES + REFERENCE_BYTES;
    }

    /** Returns to the first packet, with the time of the next round, and writes its references. */
    void nextRound() {
        shiftNs = round * roundNs;
        for (int i = 0; i < references.size(); i++) {
            final int record = references.getInt(i);
            final long arrivalNs = recordNs(record) + shiftNs;
            frame.begin(
                records, record + HEADER_BYTES, (int)(round * references.size() + i), arrivalNs - delayNs(arrivalNs));
        }
        for (int record = 0; connections != null && round > 0 && record < lengthBytes;
            record += HEADER_BYTES + records.getInt(record + HELD_OFFSET)) {
            connections.advance(records, record + HEADER_BYTES);
        }
        round++;
        position = 0;
    }

    /** Returns to the first packet of the same round. */
    void rewind() {
        capturedCount -= packetCount + references.size();
        position = 0;
    }

    /** The delay of a packet: between 50 and 100 µs, up and down in 2 ms, so that packets keep their order. Returns ns. */
    static long delayNs(final long arrivalNs) {
        return SHORTEST_DELAY_NS + Math.abs(arrivalNs % DELAY_PERIOD_NS - DELAY_PERIOD_NS / 2) / DELAY_SLOPE;
    }

    private long recordNs(final int record) {
        return records.getInt(record) * Nanoseconds.PER_SECOND + records.getInt(record + NANOSECONDS_OFFSET);
    }

    /** {@return how long a round lasts, ns of packet time; a multiple of it begins it} */
    long roundNs() {
        return roundNs;
    }

    /** {@return packets of a round, without references} */
    int packetCount() {
        return packetCount;
    }

    /** {@return references of a round} */
    int referenceCount() {
        return references.size();
    }

    /** {@return whether every packet of the round was given} */
    boolean isRoundOver() {
        return position == lengthBytes;
    }

    /** The source ends behind this round. */
    void lastRound() {
        isLastRound = true;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        int count = 0;
        for (; count < packetLimit && position < lengthBytes; count++) {
            final int record = position;
            final int heldBytes = records.getInt(record + HELD_OFFSET);
            position = record + HEADER_BYTES + heldBytes;
            handler.onPacket(captured.set(
                record + HEADER_BYTES, heldBytes, records.getInt(record + WIRE_OFFSET), recordNs(record) + shiftNs));
        }
        capturedCount += count;
        return count == 0 && isLastRound ? END_OF_SOURCE : count;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public long capturedCount() {
        return capturedCount;
    }

    @Override
    public void close() {
        position = lengthBytes;
    }
}
