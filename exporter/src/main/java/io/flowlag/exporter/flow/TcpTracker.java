package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.concurrent.TimeUnit;

/**
 * Follows the sequence numbers of TCP flows and writes {@link FlowTcp}. A flow and that of the other direction know each other's
 * slots from the creation of the later one on, so a packet looks nothing up: it needs its own line, and the other direction's if
 * it acknowledges something new.
 * <p>
 * Both must be of one observation point, or of both ways through one interface; packets that a flow has at another point are not
 * followed.
 * <p>
 * A round trip goes from the observation point to the flow's destination and back: from the first packet with new octets to the
 * acknowledgement of them. A flow has one under way at a time, and it is given up when octets are sent again or late (Karn and
 * Partridge, "Improving Round-Trip Time Estimates in Reliable Transport Protocols", 1987). Octets that were seen before are
 * retransmitted. Those that were left out are out of order if they come within half a round trip of both ends, as the handshake
 * had it, or else within 3 ms; later they are retransmissions of packets lost before this point.
 * <p>
 * The cache's thread owns it. Allocates at construction.
 */
final class TcpTracker {
    private static final int PROTOCOL_TCP = 6;
    private static final int FIN = 0x01;
    private static final int SYN = 0x02;
    private static final int RST = 0x04;
    private static final int ACK = 0x10;
    private static final int NO_PEER = -1;
    private static final long USUAL_REORDERING_NS = TimeUnit.MILLISECONDS.toNanos(3);

    private final FlowTable table;
    private final OffHeapBuffer entries;
    private final int tcpOffset;
    private final ReverseFlows reverse;
    private final int[] touchedPeers = new int[FlowCache.TOUCH_LIMIT];
    private int lastToken;

    /** For entries that have {@link FlowAdditions#TCP}. */
    TcpTracker(final FlowTable table, final FlowCacheSettings settings) {
        this.table = table;
        entries = table.entries();
        tcpOffset = FlowEntry.BASE_LENGTH_BYTES + settings.stateLengthBytes();
        reverse = new ReverseFlows(table, settings.key());
    }

    /** Prefetches what the packets of some slots need; below 0 is none. Returns a value to keep. */
    long touch(final int[] slots, final int count) {
        long octets = 0;
        for (int i = 0; i < count; i++) {
            // A slot that never held a flow has any octets.
            touchedPeers[i] = slots[i] < 0 ? 0 : FlowTcp.peerSlot(entries, offset(slots[i]));
        }
        for (int i = 0; i < count; i++) {
            octets += FlowTcp.token(entries, offset(touchedPeers[i]));
        }
        return octets;
    }

    /** A flow begins in a slot whose entry has its key. */
    void begin(final int slot) {
        final int at = offset(slot);
        final int entryOffset = table.offset(slot);
        final boolean isTcp = FlowEntry.protocol(entries, entryOffset) == PROTOCOL_TCP;
        entries.setMemory(at, isTcp ? FlowTcp.LENGTH_BYTES : FlowTcp.HOT_BYTES, (byte)0);
        if (!isTcp) {
            return;
        }
        lastToken += lastToken == -1 ? 2 : 1;
        FlowTcp.token(entries, at, lastToken);
        final int peer = reverse.find(entries, entryOffset);
        if (peer != FlowTable.NO_SLOT && isSamePoint(entryOffset, table.offset(peer))) {
            FlowTcp.peer(entries, at, peer, FlowTcp.token(entries, offset(peer)));
            FlowTcp.peer(entries, offset(peer), slot, lastToken);
        }
    }

    /** A flow of a former process begins: nothing is said of it, because not all of its packets were followed. */
    void beginUnknown(final int slot) {
        begin(slot);
        FlowTcp.flags(entries, offset(slot), FlowTcp.FLAG_UNKNOWN);
    }

    /** The flow of a slot has ended. */
    void end(final int slot) {
        FlowTcp.token(entries, offset(slot), 0);
    }

    /** Follows a packet with {@link PacketDescriptor#FLAG_TCP} of the flow of a slot. */
    void onPacket(final int slot, final DirectBuffer descriptor, final int offset) {
        final int at = offset(slot);
        final int state = FlowTcp.flags(entries, at);
        if ((state & FlowTcp.FLAG_UNKNOWN) != 0 ||
            PacketDescriptor.observationPoint(descriptor, offset) != FlowEntry.observationPoint(entries, table.offset(slot))) {
            return;
        }
        final int bits = PacketDescriptor.tcpControlBits(descriptor, offset);
        final int start = PacketDescriptor.tcpSequence(descriptor, offset);
        final int payloadBytes = PacketDescriptor.tcpPayloadBytes(descriptor, offset);
        final long nowNs = PacketDescriptor.timestampNs(descriptor, offset);
        if ((PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_ZERO_WINDOW) != 0 &&
            (bits & (SYN | FIN | RST)) == 0) {
            FlowTcp.addZeroWindow(entries, at, PacketDescriptor.segmentCount(descriptor, offset));
        }
        // Most packets: octets that follow the last ones.
        if ((state & (FlowTcp.FLAG_SEEN | FlowTcp.FLAG_SYN_SENT)) == FlowTcp.FLAG_SEEN && (bits & (SYN | FIN | RST)) == 0 &&
            (payloadBytes == 0 || (state & FlowTcp.FLAG_NEXT) != 0 && start == FlowTcp.nextSequence(entries, at))) {
            if (payloadBytes > 0) {
                onNext(at, state, start + payloadBytes, nowNs);
            }
        } else if ((bits & RST) != 0) {
            FlowTcp.flags(entries, at, state | FlowTcp.FLAG_SEEN);
            return;
        } else {
            onOther(at, descriptor, offset);
        }
        if ((bits & ACK) != 0) {
            onAcknowledgement(at, PacketDescriptor.tcpAcknowledgement(descriptor, offset), nowNs);
        }
    }

    private void onNext(final int at, final int state, final int end, final long nowNs) {
        FlowTcp.nextSequence(entries, at, end);
        if ((state & FlowTcp.FLAG_SAMPLE) == 0) {
            FlowTcp.beginSample(entries, at, end, nowNs, state);
        }
    }

    private void onOther(final int at, final DirectBuffer descriptor, final int offset) {
        final int state = FlowTcp.flags(entries, at) | FlowTcp.FLAG_SEEN;
        FlowTcp.flags(entries, at, state);
        final int bits = PacketDescriptor.tcpControlBits(descriptor, offset);
        final int payloadBytes = PacketDescriptor.tcpPayloadBytes(descriptor, offset);
        if ((state & FlowTcp.FLAG_SYN_SENT) != 0 && (bits & (SYN | ACK)) == ACK) {
            onHandshake(at, PacketDescriptor.timestampNs(descriptor, offset), payloadBytes == 0 &&
                PacketDescriptor.tcpSequence(descriptor, offset) == FlowTcp.nextSequence(entries, at));
        }
        final int sequenceBytes = payloadBytes + (bits & FIN) + (bits >> 1 & 1);
        if (sequenceBytes > 0) {
            onSegment(at, descriptor, offset, sequenceBytes);
        }
    }

    private void onHandshake(final int at, final long nowNs, final boolean isPlain) {
        final long handshakeNs = nowNs - FlowTcp.handshakeNs(entries, at);
        final boolean isKnown = isPlain && handshakeNs >= 0;
        FlowTcp.handshakeNs(entries, at, handshakeNs);
        FlowTcp.flags(entries, at,
            FlowTcp.flags(entries, at) & ~FlowTcp.FLAG_SYN_SENT | (isKnown ? FlowTcp.FLAG_HANDSHAKE : 0));
    }

    private void onSegment(final int at, final DirectBuffer descriptor, final int offset, final int sequenceBytes) {
        final long nowNs = PacketDescriptor.timestampNs(descriptor, offset);
        final boolean isSyn = (PacketDescriptor.tcpControlBits(descriptor, offset) & SYN) != 0;
        final int start = PacketDescriptor.tcpSequence(descriptor, offset);
        final int end = start + sequenceBytes;
        final int next = FlowTcp.nextSequence(entries, at);
        if (!FlowTcp.has(entries, at, FlowTcp.FLAG_NEXT) || isSyn && end != next) {
            onFirst(at, end, nowNs, PacketDescriptor.tcpControlBits(descriptor, offset));
        } else if (start - next >= 0) {
            if (start != next) {
                onHole(at, next, start, nowNs);
            }
            onNext(at, FlowTcp.flags(entries, at), end, nowNs);
        } else if (sequenceBytes > 1 || isSyn || start + 1 != next || !isAcknowledged(at, next)) {
            onEarlier(at, descriptor, offset, sequenceBytes);
        }
    }

    /** The flow, or a new connection of its ports, begins. */
    private void onFirst(final int at, final int end, final long nowNs, final int bits) {
        final boolean isFirstSyn = (bits & (SYN | ACK)) == SYN && !FlowTcp.has(entries, at, FlowTcp.FLAG_HANDSHAKE);
        final int state = FlowTcp.flags(entries, at) & ~(FlowTcp.FLAG_SYN_SENT | FlowTcp.FLAG_ACKNOWLEDGED) |
            FlowTcp.FLAG_NEXT | (isFirstSyn ? FlowTcp.FLAG_SYN_SENT : 0);
        if (isFirstSyn) {
            FlowTcp.handshakeNs(entries, at, nowNs);
        }
        FlowTcp.nextSequence(entries, at, end);
        FlowTcp.hole(entries, at, end, end, nowNs);
        FlowTcp.beginSample(entries, at, end, nowNs, state);
        if ((bits & SYN) != 0) {
            FlowTcp.flags(entries, at, FlowTcp.flags(entries, at) | FlowTcp.FLAG_SYN_SAMPLE);
        }
    }

    /** A hole that is young enough for late octets grows. */
    private void onHole(final int at, final int start, final int end, final long nowNs) {
        final boolean isYoung = FlowTcp.holeStart(entries, at) != FlowTcp.holeEnd(entries, at) && isYoung(at, nowNs);
        FlowTcp.hole(entries, at, isYoung ? FlowTcp.holeStart(entries, at) : start, end, nowNs);
    }

    /** A packet with octets before the newest one. */
    private void onEarlier(final int at, final DirectBuffer descriptor, final int offset, final int sequenceBytes) {
        final long nowNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int start = PacketDescriptor.tcpSequence(descriptor, offset);
        final int end = start + sequenceBytes;
        final int next = FlowTcp.nextSequence(entries, at);
        final int packets = PacketDescriptor.segmentCount(descriptor, offset);
        if (FlowTcp.sampleEnd(entries, at) - start > 0) {
            FlowTcp.flags(entries, at, FlowTcp.flags(entries, at) & ~(FlowTcp.FLAG_SYN_SENT | FlowTcp.FLAG_SAMPLE));
        }
        final int holeStart = FlowTcp.holeStart(entries, at);
        final int holeEnd = FlowTcp.holeEnd(entries, at);
        if (start - holeStart >= 0 && end - holeEnd <= 0 && isYoung(at, nowNs)) {
            FlowTcp.addOutOfOrder(entries, at, packets);
            if (start == holeStart) {
                FlowTcp.hole(entries, at, end, holeEnd, FlowTcp.holeNs(entries, at));
            }
        } else {
            FlowTcp.addRetransmitted(
                entries, at, packets, Math.min(PacketDescriptor.tcpPayloadBytes(descriptor, offset), next - start));
        }
        if (end - next > 0) {
            FlowTcp.nextSequence(entries, at, end);
        }
    }

    private void onAcknowledgement(final int at, final int acknowledged, final long nowNs) {
        final int state = FlowTcp.flags(entries, at);
        if ((state & FlowTcp.FLAG_ACKNOWLEDGED) == 0) {
            FlowTcp.flags(entries, at, state | FlowTcp.FLAG_ACKNOWLEDGED);
        } else if (acknowledged - FlowTcp.acknowledged(entries, at) <= 0) {
            return;
        }
        FlowTcp.acknowledged(entries, at, acknowledged);
        final int peer = peer(at);
        final int peerState = peer == NO_PEER ? 0 : FlowTcp.flags(entries, peer);
        if ((peerState & FlowTcp.FLAG_SAMPLE) == 0 || acknowledged - FlowTcp.sampleEnd(entries, peer) < 0) {
            return;
        }
        final long roundTripNs = nowNs - FlowTcp.sampleSentNs(entries, peer);
        final boolean isOfSyn = (peerState & FlowTcp.FLAG_SYN_SAMPLE) != 0;
        FlowTcp.flags(entries, peer,
            peerState & ~FlowTcp.FLAG_SAMPLE | (isOfSyn && roundTripNs >= 0 ? FlowTcp.FLAG_SYN_ROUND_TRIP : 0));
        if (isOfSyn) {
            FlowTcp.synRoundTripNs(entries, peer, roundTripNs);
        } else if (roundTripNs >= 0) {
            FlowTcp.addRoundTrip(entries, peer, roundTripNs);
        }
    }

    /** Whether octets that were left out may still be under way. */
    private boolean isYoung(final int at, final long nowNs) {
        final int peer = peer(at);
        final int known = FlowTcp.has(entries, at, FlowTcp.FLAG_HANDSHAKE) ? at :
            peer != NO_PEER && FlowTcp.has(entries, peer, FlowTcp.FLAG_HANDSHAKE) ? peer : NO_PEER;
        final long mostNs = known == NO_PEER ? USUAL_REORDERING_NS : FlowTcp.handshakeNs(entries, known) >> 1;
        return nowNs - FlowTcp.holeNs(entries, at) < mostNs;
    }

    /** Whether the other direction is known to have everything: one octet sent again then asks whether it is alive. */
    private boolean isAcknowledged(final int at, final int next) {
        final int peer = peer(at);
        return peer != NO_PEER && FlowTcp.has(entries, peer, FlowTcp.FLAG_ACKNOWLEDGED) &&
            FlowTcp.acknowledged(entries, peer) == next;
    }

    private boolean isSamePoint(final int entryOffset, final int otherOffset) {
        final int ways = FlowKeyLayout.flags(entries, entryOffset) ^ FlowKeyLayout.flags(entries, otherOffset);
        return FlowEntry.observationPoint(entries, entryOffset) == FlowEntry.observationPoint(entries, otherOffset) ||
            (ways & FlowKeyLayout.FLAG_LEAVING) != 0 &&
            FlowKeyLayout.interfaceId(entries, entryOffset) == FlowKeyLayout.interfaceId(entries, otherOffset);
    }

    private int peer(final int at) {
        final int token = FlowTcp.peerToken(entries, at);
        final int peer = offset(FlowTcp.peerSlot(entries, at));
        return token != 0 && FlowTcp.token(entries, peer) == token ? peer : NO_PEER;
    }

    private int offset(final int slot) {
        return table.offset(slot) + tcpOffset;
    }
}
