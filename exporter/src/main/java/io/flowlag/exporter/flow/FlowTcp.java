package io.flowlag.exporter.flow;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of what a flow's entry has of TCP. A packet in order needs the first cache line alone.
 * <pre>
 *   0  token                    4   of the flow's life, 0 for none
 *   4  peerSlot                 4   of the other direction's flow, valid while its token is peerToken
 *   8  peerToken                4   0 for none
 *  12  flags                    4
 *  16  nextSequence             4   behind the newest octet, with FLAG_NEXT
 *  20  acknowledged             4   the newest acknowledgement sent, with FLAG_ACKNOWLEDGED
 *  24  sampleEnd                4   the acknowledgement that ends the round trip under way
 *  28  roundTrips               4
 *  32  sampleSentNs             8   when it began, with FLAG_SAMPLE
 *  40  roundTripSumNs           8
 *  48  minimumRoundTripNs       8   valid above 0 round trips
 *  56  maximumRoundTripNs       8
 *  64  handshakeNs              8   with FLAG_HANDSHAKE; the time of the SYN with FLAG_SYN_SENT
 *  72  synRoundTripNs           8   with FLAG_SYN_ROUND_TRIP
 *  80  holeNs                   8   when octets were left out last
 *  88  holeStart                4   first sequence number that was left out, and
 *  92  holeEnd                  4   the first behind it; equal for no hole
 *  96  retransmittedOctets      8
 * 104  retransmittedPackets     4
 * 108  outOfOrderPackets        4
 * 112  zeroWindowPackets        4
 * 116  (unused)                12
 * </pre>
 * Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public final class FlowTcp {
    public static final int LENGTH_BYTES = 128;
    /** What every packet may need. */
    static final int HOT_BYTES = 64;

    /** A packet with sequence numbers was seen. */
    static final int FLAG_SEEN = 1;
    /** Packets were counted that nothing is known of: so it stays. */
    static final int FLAG_UNKNOWN = 1 << 1;
    static final int FLAG_NEXT = 1 << 2;
    static final int FLAG_ACKNOWLEDGED = 1 << 3;
    /** A round trip is under way. */
    static final int FLAG_SAMPLE = 1 << 8;
    /** It is of a SYN. */
    static final int FLAG_SYN_SAMPLE = 1 << 4;
    /** A SYN was sent once and not acknowledged by this direction. */
    static final int FLAG_SYN_SENT = 1 << 5;
    public static final int FLAG_HANDSHAKE = 1 << 6;
    public static final int FLAG_SYN_ROUND_TRIP = 1 << 7;

    private static final int TOKEN_OFFSET = 0;
    private static final int PEER_SLOT_OFFSET = 4;
    private static final int PEER_TOKEN_OFFSET = 8;
    private static final int FLAGS_OFFSET = 12;
    private static final int NEXT_SEQUENCE_OFFSET = 16;
    private static final int ACKNOWLEDGED_OFFSET = 20;
    private static final int SAMPLE_END_OFFSET = 24;
    private static final int HOLE_START_OFFSET = 88;
    private static final int HOLE_END_OFFSET = 92;
    private static final int SAMPLE_SENT_NS_OFFSET = 32;
    private static final int HOLE_NS_OFFSET = 80;
    private static final int HANDSHAKE_NS_OFFSET = 64;
    private static final int SYN_ROUND_TRIP_NS_OFFSET = 72;
    private static final int ROUND_TRIP_SUM_NS_OFFSET = 40;
    private static final int MINIMUM_ROUND_TRIP_NS_OFFSET = 48;
    private static final int MAXIMUM_ROUND_TRIP_NS_OFFSET = 56;
    private static final int RETRANSMITTED_OCTETS_OFFSET = 96;
    private static final int ROUND_TRIPS_OFFSET = 28;
    private static final int RETRANSMITTED_PACKETS_OFFSET = 104;
    private static final int OUT_OF_ORDER_PACKETS_OFFSET = 108;
    private static final int ZERO_WINDOW_PACKETS_OFFSET = 112;

    private FlowTcp() {
    }

    static int token(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + TOKEN_OFFSET);
    }

    static void token(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + TOKEN_OFFSET, value);
    }

    static int peerSlot(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + PEER_SLOT_OFFSET);
    }

    static int peerToken(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + PEER_TOKEN_OFFSET);
    }

    /** Sets the other direction's flow. */
    static void peer(final MutableDirectBuffer buffer, final int offset, final int slot, final int peerToken) {
        buffer.putInt(offset + PEER_SLOT_OFFSET, slot);
        buffer.putInt(offset + PEER_TOKEN_OFFSET, peerToken);
    }

    static int flags(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + FLAGS_OFFSET);
    }

    static void flags(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + FLAGS_OFFSET, value);
    }

    public static boolean has(final DirectBuffer buffer, final int offset, final int flag) {
        return (flags(buffer, offset) & flag) != 0;
    }

    static int nextSequence(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + NEXT_SEQUENCE_OFFSET);
    }

    static void nextSequence(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + NEXT_SEQUENCE_OFFSET, value);
    }

    static int acknowledged(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + ACKNOWLEDGED_OFFSET);
    }

    static void acknowledged(final MutableDirectBuffer buffer, final int offset, final int value) {
        buffer.putInt(offset + ACKNOWLEDGED_OFFSET, value);
    }

    static int sampleEnd(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SAMPLE_END_OFFSET);
    }

    static long sampleSentNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SAMPLE_SENT_NS_OFFSET);
    }

    /** Begins a round trip of data; the flags are those so far. */
    static void beginSample(
        final MutableDirectBuffer buffer, final int offset, final int end, final long sentNs, final int flags) {
        flags(buffer, offset, flags & ~FLAG_SYN_SAMPLE | FLAG_SAMPLE);
        buffer.putInt(offset + SAMPLE_END_OFFSET, end);
        buffer.putLong(offset + SAMPLE_SENT_NS_OFFSET, sentNs);
    }

    static int holeStart(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + HOLE_START_OFFSET);
    }

    static int holeEnd(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + HOLE_END_OFFSET);
    }

    static long holeNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + HOLE_NS_OFFSET);
    }

    /** Sets sequence numbers that were left out, and when. */
    static void hole(final MutableDirectBuffer buffer, final int offset, final int start, final int end, final long seenNs) {
        buffer.putInt(offset + HOLE_START_OFFSET, start);
        buffer.putInt(offset + HOLE_END_OFFSET, end);
        buffer.putLong(offset + HOLE_NS_OFFSET, seenNs);
    }

    /** Reads the time from the SYN to the first acknowledgement of its sender. */
    public static long handshakeNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + HANDSHAKE_NS_OFFSET);
    }

    static void handshakeNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + HANDSHAKE_NS_OFFSET, value);
    }

    /** Reads the time from the flow's SYN to the other direction's acknowledgement of it. */
    public static long synRoundTripNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + SYN_ROUND_TRIP_NS_OFFSET);
    }

    static void synRoundTripNs(final MutableDirectBuffer buffer, final int offset, final long value) {
        buffer.putLong(offset + SYN_ROUND_TRIP_NS_OFFSET, value);
    }

    /** Counts a round trip of data. */
    static void addRoundTrip(final MutableDirectBuffer buffer, final int offset, final long roundTripNs) {
        final int count = roundTrips(buffer, offset);
        buffer.putInt(offset + ROUND_TRIPS_OFFSET, count + 1);
        buffer.putLong(offset + ROUND_TRIP_SUM_NS_OFFSET, buffer.getLong(offset + ROUND_TRIP_SUM_NS_OFFSET) + roundTripNs);
        if (count == 0 || roundTripNs < minimumRoundTripNs(buffer, offset)) {
            buffer.putLong(offset + MINIMUM_ROUND_TRIP_NS_OFFSET, roundTripNs);
        }
        if (roundTripNs > maximumRoundTripNs(buffer, offset)) {
            buffer.putLong(offset + MAXIMUM_ROUND_TRIP_NS_OFFSET, roundTripNs);
        }
    }

    /** Reads the number of round trips of data. */
    public static int roundTrips(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + ROUND_TRIPS_OFFSET);
    }

    /** Reads their mean, rounded down; needs one at least. */
    public static long meanRoundTripNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + ROUND_TRIP_SUM_NS_OFFSET) / roundTrips(buffer, offset);
    }

    public static long minimumRoundTripNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MINIMUM_ROUND_TRIP_NS_OFFSET);
    }

    public static long maximumRoundTripNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + MAXIMUM_ROUND_TRIP_NS_OFFSET);
    }

    /** Counts packets with octets that were sent before. */
    static void addRetransmitted(final MutableDirectBuffer buffer, final int offset, final int packets, final int octets) {
        buffer.putInt(offset + RETRANSMITTED_PACKETS_OFFSET, buffer.getInt(offset + RETRANSMITTED_PACKETS_OFFSET) + packets);
        buffer.putLong(offset + RETRANSMITTED_OCTETS_OFFSET, retransmittedOctets(buffer, offset) + octets);
    }

    public static long retransmittedPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + RETRANSMITTED_PACKETS_OFFSET) & 0xFFFF_FFFFL;
    }

    /** Reads the octets of payload that were sent before. */
    public static long retransmittedOctets(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + RETRANSMITTED_OCTETS_OFFSET);
    }

    static void addOutOfOrder(final MutableDirectBuffer buffer, final int offset, final int packets) {
        buffer.putInt(offset + OUT_OF_ORDER_PACKETS_OFFSET, buffer.getInt(offset + OUT_OF_ORDER_PACKETS_OFFSET) + packets);
    }

    public static long outOfOrderPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + OUT_OF_ORDER_PACKETS_OFFSET) & 0xFFFF_FFFFL;
    }

    static void addZeroWindow(final MutableDirectBuffer buffer, final int offset, final int packets) {
        buffer.putInt(offset + ZERO_WINDOW_PACKETS_OFFSET, buffer.getInt(offset + ZERO_WINDOW_PACKETS_OFFSET) + packets);
    }

    public static long zeroWindowPackets(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + ZERO_WINDOW_PACKETS_OFFSET) & 0xFFFF_FFFFL;
    }
}
