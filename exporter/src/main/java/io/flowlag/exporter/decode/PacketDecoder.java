package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.BitUtil;
import org.agrona.MutableDirectBuffer;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Decodes the octets of a captured packet into a {@link PacketDescriptor}, by {@link LinkLayer}, {@link Ip}, {@link
 * TransportLayer} and, if inner packets are requested, {@link Tunnel}. The result is {@link #DECODED}, or the ordinal of the
 * {@link CounterId} of the refusal; the caller increments that counter. The decoder itself counts fragments, cut transport
 * headers, short digests and broken tunnels.
 * <p>
 * Any octets are safe: the decoder reads only captured octets, throws nothing, and its work is bounded. One thread owns a
 * decoder. Allocates at construction only.
 */
public final class PacketDecoder {
    /** The result for a packet that was decoded; the ordinal of {@link CounterId#DECODED}. */
    public static final int DECODED = Result.DECODED;
    /** The deepest nesting of tunnels that is decoded. */
    public static final int MAX_TUNNELS = 8;

    private static final int UDP_HEADER_LENGTH_BYTES = 8;

    private final Cursor cursor = new Cursor();
    private final Counters counters;
    private final FragmentTable fragmentTable;
    private final TimedDigest timedDigest;
    private final boolean isKeyFixed;
    private final TimedDigest[] segmentDigests;
    private final boolean innerTunnels;
    private final boolean jumboLengths;
    private final boolean hasTcp;
    private final boolean hasMac;
    private final int observationPoint;

    private final PlainPacket plain;
    private final boolean isPlainFast;
    private boolean isPlain;
    private IpPacket packet = new IpPacket();
    private IpPacket spare = new IpPacket();
    private final PacketDigest packetDigest;

    /** The memory of a decoder that gives fragments their ports, by formula. Returns octets off the heap. */
    public static long fragmentMemoryBytes(final int fragmentTableEntries) {
        return FragmentTable.memoryBytes(fragmentTableEntries);
    }

    /** A decoder; it concludes its settings. The counters are those of the thread that will call it. */
    public PacketDecoder(final Context context, final Counters counters) {
        context.conclude();
        this.counters = counters;
        this.fragmentTable = new FragmentTable(
            context.fragmentPorts ? context.fragmentTableEntries : 0, context.fragmentTimeoutNs, !context.hasDigests());
        this.packetDigest = context.digest == null ? null :
            new PacketDigest(context.digest, context.digestPayloadBytes, context.digestMostBytes);
        this.timedDigest = context.timedDigest(context.digestSwitch);
        this.segmentDigests = context.segmentKeys.stream().map(context::timedDigest).toArray(TimedDigest[]::new);
        this.isKeyFixed = context.isKeyFixed;
        this.innerTunnels = context.innerTunnels;
        this.jumboLengths = context.jumboLengths;
        this.observationPoint = context.observationPoint;
        this.hasTcp = context.tcp;
        this.hasMac = context.mac;
        plain = new PlainPacket(innerTunnels, context.flowHashLeft, observationPoint, hasTcp, hasMac);
        isPlainFast = context.plain;
    }

    /**
     * Decodes one packet.
     *
     * @param descriptorOffset where in it. On a refusal nothing is written.
     * @return {@link #DECODED}, or the ordinal of the counter of the refusal.
     */
    public int decode(final CapturedPacket captured, final MutableDirectBuffer descriptor, final int descriptorOffset) {
        final PacketDigest digest = digestAt(captured.timestampNs());
        isPlain = captured.linkType() == LinkType.ETHERNET && isPlainFast &&
            plain.decode(captured, digest, descriptor, descriptorOffset);
        return isPlain ? DECODED : decodeLayers(captured, digest, descriptor, descriptorOffset);
    }

    private int decodeLayers(
        final CapturedPacket captured, final PacketDigest digest, final MutableDirectBuffer descriptor,
        final int descriptorOffset) {
        cursor.wrap(captured);
        final int linkResult = LinkLayer.decode(cursor, captured.linkType());
        if (linkResult != DECODED) {
            return linkResult;
        }
        final int ipResult = Ip.decode(cursor, packet);
        if (ipResult != DECODED) {
            return ipResult;
        }
        final int vlanId = cursor.vlanId;
        TransportLayer.decode(cursor, packet);
        int flags = vlanId == Cursor.NO_VLAN ? 0 : PacketDescriptor.FLAG_VLAN;
        if (innerTunnels && enterTunnels()) {
            flags |= PacketDescriptor.FLAG_INNER;
        }
        if (packet.isTransportCut) {
            counters.increment(CounterId.TRANSPORT_TRUNCATED);
        }
        flags |= fragment(captured.timestampNs());
        flags |= digest(digest, descriptor, descriptorOffset);
        if (hasTcp && packet.protocol == IpProtocol.TCP && !packet.isFragment) {
            flags |= TransportLayer.describeTcp(
                cursor.buffer, packet.payloadOffset, packet.capturedPayloadBytes(cursor.end), packet.payloadLengthBytes,
                descriptor, descriptorOffset);
        }
        if (hasMac && captured.linkType() == LinkType.ETHERNET) {
            flags |= PacketDescriptor.FLAG_MAC;
            PacketDescriptor.mac(descriptor, descriptorOffset, captured.buffer(), captured.offset());
        }

        PacketDescriptor.timestampNs(descriptor, descriptorOffset, captured.timestampNs());
        PacketDescriptor.vlanId(descriptor, descriptorOffset, vlanId == Cursor.NO_VLAN ? 0 : vlanId);
        PacketDescriptor.flags(descriptor, descriptorOffset, flags);
        PacketDescriptor.interfaceId(descriptor, descriptorOffset, captured.interfaceId());
        PacketDescriptor.wireLengthBytes(descriptor, descriptorOffset, captured.wireLengthBytes());
        PacketDescriptor.segmentCount(descriptor, descriptorOffset, 1);
        PacketDescriptor.observationPoint(descriptor, descriptorOffset, observationPoint);
        PacketDescriptor.kind(descriptor, descriptorOffset, PacketDescriptor.KIND_REGULAR);
        describe(descriptor, descriptorOffset);
        return DECODED;
    }

    /**
     * The payload of the last decoded UDP datagram, in the buffer given then; valid after {@link #DECODED}, with a {@link
     * #udpPayloadLengthBytes() length} above 0. Returns the offset of its first octet.
     */
    public int udpPayloadOffset() {
        return isPlain ? plain.udpPayloadOffset() : packet.payloadOffset + UDP_HEADER_LENGTH_BYTES;
    }

    /**
     * The captured payload length of the last decoded UDP datagram; valid after {@link #DECODED}. Returns octets; 0 or less if
     * the packet is not a whole datagram.
     */
    public int udpPayloadLengthBytes() {
        if (isPlain) {
            return plain.udpPayloadLengthBytes();
        }
        if (packet.protocol != IpProtocol.UDP || packet.isFragment || packet.isTransportCut) {
            return 0;
        }
        return packet.capturedPayloadBytes(cursor.end) - UDP_HEADER_LENGTH_BYTES;
    }

    /** The payload length of the last decoded UDP datagram, captured or not; valid where its offset is. Returns octets. */
    public int udpPayloadWholeBytes() {
        return isPlain ? plain.udpPayloadWholeBytes() : packet.payloadLengthBytes - UDP_HEADER_LENGTH_BYTES;
    }

    /**
     * How many octets from the IP header on were captured of the last decoded packet; valid after {@link #DECODED}.
     *
     * @param capturedLengthBytes of the packet, as given then.
     * @param ipLengthBytes       as its descriptor has it.
     * @return octets; {@link Integer#MAX_VALUE} where nothing was cut.
     */
    public int cutBytes(final int capturedLengthBytes, final int ipLengthBytes) {
        final int capturedBytes = isPlain ? capturedLengthBytes - Ethernet.HEADER_LENGTH_BYTES :
            packet.lengthBytes - packet.payloadLengthBytes + packet.capturedPayloadBytes(cursor.end);
        return capturedBytes < ipLengthBytes ? capturedBytes : Integer.MAX_VALUE;
    }

    /**
     * Adds digest and segment flow hash to the packet just decoded, by the keys of its segments, see {@link Context#segmentKeys}.
     * A packet with two keys gets two digests, see {@link PacketDescriptor#FLAG_SENDER_DIGEST}.
     *
     * @param captured as it was decoded.
     * @param sender   index of the segment that it enters, below 0 for none.
     * @param receiver index of the segment in which it arrives, below 0 for none.
     */
    public void digest(
        final CapturedPacket captured, final int sender, final int receiver, final MutableDirectBuffer descriptor,
        final int offset) {
        final long timestampNs = captured.timestampNs();
        final PacketDigest entering = sender < 0 ? null : segmentDigests[sender].at(timestampNs);
        final PacketDigest arriving = receiver < 0 ? null : segmentDigests[receiver].at(timestampNs);
        final PacketDigest first = arriving != null ? arriving : entering;
        if (first == null) {
            return;
        }
        final int coveredBytes = coveredBytes(captured, first);
        int flags = PacketDescriptor.flags(descriptor, offset);
        if (coveredBytes < 0) {
            counters.increment(CounterId.DIGEST_SHORT);
            PacketDescriptor.flags(descriptor, offset, flags | PacketDescriptor.FLAG_DIGEST_SHORT);
            return;
        }
        flags |= PacketDescriptor.FLAG_DIGEST;
        PacketDescriptor.digest(descriptor, offset, digestBy(first, captured, coveredBytes));
        if (arriving != null && entering != null) {
            flags |= PacketDescriptor.FLAG_SENDER_DIGEST;
            PacketDescriptor.segmentFlowHash(descriptor, offset, digestBy(entering, captured, coveredBytes));
        } else if (arriving == null || (flags & PacketDescriptor.FLAG_FRAGMENT) != 0) {
            PacketDescriptor.segmentFlowHash(descriptor, offset, first.segmentFlowHash(descriptor, offset));
        }
        final boolean isLeft = arriving != null && (flags & PacketDescriptor.FLAG_FRAGMENT) == 0;
        PacketDescriptor.flags(descriptor, offset, isLeft ? flags | PacketDescriptor.FLAG_FLOW_HASH_LEFT : flags);
    }

    /** Octets behind the IP header that a digest covers; decodes a plain packet again that is too short for the fast path. */
    private int coveredBytes(final CapturedPacket captured, final PacketDigest digest) {
        final int plainBytes = isPlain ? PlainPacket.coveredBytes(captured, digest) : 0;
        if (isPlain && plainBytes >= 0) {
            return plainBytes;
        }
        if (isPlain) {
            isPlain = false;
            cursor.wrap(captured);
            LinkLayer.decode(cursor, captured.linkType());
            Ip.decode(cursor, packet);
            TransportLayer.decode(cursor, packet);
        }
        return digest.coveredBytes(cursor.buffer, cursor.end, packet);
    }

    private long digestBy(final PacketDigest digest, final CapturedPacket captured, final int coveredBytes) {
        return isPlain ? digest.plainDigestAlone(captured.buffer(), captured.offset() + PlainPacket.IP_OFFSET,
            PlainPacket.protocol(captured), coveredBytes) : digest.digest(cursor.buffer, packet, coveredBytes);
    }

    /** Moves to the innermost whole packet; true if there is one inside the outer. */
    private boolean enterTunnels() {
        for (int depth = 0; depth <= MAX_TUNNELS; depth++) {
            int answer = Tunnel.enter(cursor, packet);
            if (answer == Tunnel.ENTERED &&
                (depth == MAX_TUNNELS || Ip.decode(cursor, spare) != DECODED)) {
                answer = Tunnel.BROKEN;
            }
            if (answer == Tunnel.BROKEN) {
                counters.increment(CounterId.TUNNEL_BROKEN);
            }
            if (answer != Tunnel.ENTERED) {
                return depth > 0;
            }
            final IpPacket inner = spare;
            spare = packet;
            packet = inner;
            TransportLayer.decode(cursor, packet);
        }
        return true;
    }

    private int fragment(final long timestampNs) {
        if (!packet.isFragment) {
            return 0;
        }
        if (fragmentTable.hasEntries()) {
            recallOrRemember(timestampNs);
        }
        return packet.isLaterFragment() ?
            PacketDescriptor.FLAG_FRAGMENT | PacketDescriptor.FLAG_LATER_FRAGMENT : PacketDescriptor.FLAG_FRAGMENT;
    }

    private void recallOrRemember(final long timestampNs) {
        if (packet.isLaterFragment()) {
            if (fragmentTable.concerns(packet)) {
                final boolean isKnown = fragmentTable.recall(packet, timestampNs);
                counters.increment(isKnown ? CounterId.FRAGMENT_PORTS_FOUND : CounterId.FRAGMENT_PORTS_UNKNOWN);
            }
        } else if (TransportLayer.hasPortsOrType(packet.protocol) &&
            (!packet.isTransportCut || (packet.sourcePort | packet.destinationPort) != 0)) {
            fragmentTable.remember(packet, timestampNs);
        }
    }

    /** The digest with the key for a packet's time; null for none. */
    private PacketDigest digestAt(final long timestampNs) {
        return isKeyFixed ? packetDigest : timedDigest.at(timestampNs);
    }

    private int digest(final PacketDigest digest, final MutableDirectBuffer descriptor, final int descriptorOffset) {
        PacketDescriptor.digest(descriptor, descriptorOffset, 0);
        PacketDescriptor.segmentFlowHash(descriptor, descriptorOffset, 0);
        if (digest == null) {
            return 0;
        }
        final int coveredBytes = digest.coveredBytes(cursor.buffer, cursor.end, packet);
        if (coveredBytes < 0) {
            counters.increment(CounterId.DIGEST_SHORT);
            return PacketDescriptor.FLAG_DIGEST_SHORT;
        }
        PacketDescriptor.digest(
            descriptor, descriptorOffset, digest.digest(cursor.buffer, packet, coveredBytes));
        PacketDescriptor.segmentFlowHash(descriptor, descriptorOffset, digest.segmentFlowHash(packet));
        return PacketDescriptor.FLAG_DIGEST;
    }

    private void describe(final MutableDirectBuffer descriptor, final int offset) {
        PacketDescriptor.sourceHigh(descriptor, offset, packet.sourceHigh);
        PacketDescriptor.sourceLow(descriptor, offset, packet.sourceLow);
        PacketDescriptor.destinationHigh(descriptor, offset, packet.destinationHigh);
        PacketDescriptor.destinationLow(descriptor, offset, packet.destinationLow);
        PacketDescriptor.sourcePort(descriptor, offset, packet.sourcePort);
        PacketDescriptor.destinationPort(descriptor, offset, packet.destinationPort);
        PacketDescriptor.protocol(descriptor, offset, packet.protocol);
        PacketDescriptor.ipVersion(descriptor, offset, packet.version);
        PacketDescriptor.ipClassOfService(descriptor, offset, packet.classOfService);
        PacketDescriptor.ttl(descriptor, offset, packet.ttl);
        PacketDescriptor.tcpControlBits(descriptor, offset, packet.tcpControlBits);
        PacketDescriptor.icmpTypeCode(descriptor, offset, packet.icmpTypeCode);
        PacketDescriptor.ipLengthBytes(
            descriptor, offset, jumboLengths ? packet.wholeLengthBytes : packet.lengthBytes);
    }

    /**
     * The settings of a decoder: set, then {@link #conclude()}d once; the decoder copies it. Defaults: outer headers, ports for
     * later fragments, no digest.
     */
    public static final class Context {
        /** Packets whose fragments are remembered at once, unless set. */
        public static final int DEFAULT_FRAGMENT_TABLE_ENTRIES = 4096;
        /** How long they are remembered, unless set. */
        public static final long DEFAULT_FRAGMENT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

        private static final int MIN_FRAGMENT_TABLE_ENTRIES = 4;
        private static final int MAX_FRAGMENT_TABLE_ENTRIES = 1 << 20;
        private static final int MAX_OBSERVATION_POINT = 255;

        private boolean fragmentPorts = true;
        private int fragmentTableEntries = DEFAULT_FRAGMENT_TABLE_ENTRIES;
        private long fragmentTimeoutNs = DEFAULT_FRAGMENT_TIMEOUT_NS;
        private boolean innerTunnels;
        private boolean jumboLengths;
        private SipHash digest;
        private DigestSwitch digestSwitch = new DigestSwitch();
        private boolean isKeyFixed = true;
        private List<DigestSwitch> segmentKeys = List.of();
        private int digestPayloadBytes = PacketDigest.MAX_PAYLOAD_BYTES;
        private int digestMostBytes = Integer.MAX_VALUE;
        private boolean flowHashLeft;
        private int observationPoint;
        private boolean plain = true;
        private boolean tcp;
        private boolean mac;

        /** Whether later fragments get the ports of the first; otherwise theirs are 0. */
        public Context fragmentPorts(final boolean isOn) {
            fragmentPorts = isOn;
            return this;
        }

        /** Packets whose fragments are remembered at once: 4 to 2^20, rounded up to a power of two. */
        public Context fragmentTableEntries(final int entryCount) {
            fragmentTableEntries = entryCount;
            return this;
        }

        /** How long a first fragment is remembered, in packet time; more than 0. */
        public Context fragmentTimeoutNs(final long timeoutNs) {
            fragmentTimeoutNs = timeoutNs;
            return this;
        }

        /** Whether the innermost packet of a tunnel counts, instead of the outer. */
        public Context innerTunnels(final boolean isOn) {
            innerTunnels = isOn;
            return this;
        }

        /**
         * Whether the octets of an IPv6 jumbogram are those on the wire instead of the 40 of its header. Its payload length
         * field is 0, as in the joined packets of a host's own segmentation offload.
         */
        public Context jumboLengths(final boolean isOn) {
            jumboLengths = isOn;
            return this;
        }

        /** The key of digests and segment flow hashes, which both measurement points share; null for no digests. */
        public Context digest(final SipHash hash) {
            digest = hash;
            return this;
        }

        /** The key of digests where it changes while packets pass. */
        public Context digestSwitch(final DigestSwitch keys) {
            digestSwitch = keys;
            isKeyFixed = false;
            return this;
        }

        /**
         * The keys of digests by segment, one without changes for none; a packet gets digests by {@link PacketDecoder#digest}
         * after it was decoded.
         */
        public Context segmentKeys(final List<DigestSwitch> keys) {
            segmentKeys = keys;
            return this;
        }

        private TimedDigest timedDigest(final DigestSwitch keys) {
            return new TimedDigest(keys, digestPayloadBytes, digestMostBytes);
        }

        /**
         * With digests a packet's fields come from itself alone: both points decode it alike, whichever other fragments they
         * have seen.
         */
        private boolean hasDigests() {
            return digest != null || !isKeyFixed || !segmentKeys.isEmpty();
        }

        /**
         * Whether to skip the segment flow hash of most packets, see {@link PacketDescriptor#FLAG_FLOW_HASH_LEFT}. A caller that
         * caches the hash with the flow seldom needs it.
         */
        public Context flowHashLeft(final boolean isLeft) {
            flowHashLeft = isLeft;
            return this;
        }

        /** The most octets of a packet, from its IP header on, that a digest may cover; the same at both points. */
        public Context digestMostBytes(final int mostBytes) {
            digestMostBytes = mostBytes;
            return this;
        }

        /** How many payload octets a digest covers, 0 to 32; the same at both points. */
        public Context digestPayloadBytes(final int payloadBytes) {
            digestPayloadBytes = payloadBytes;
            return this;
        }

        /** Whether descriptors have sequence numbers of TCP. */
        public Context tcp(final boolean isOn) {
            tcp = isOn;
            return this;
        }

        /** Whether descriptors have the MAC addresses of Ethernet. */
        public Context mac(final boolean isOn) {
            mac = isOn;
            return this;
        }

        /** The index of the packet source, written into each descriptor; 0 to 255. */
        public Context observationPoint(final int index) {
            observationPoint = index;
            return this;
        }

        /** Whether plain packets take the fast path; a test compares both paths. */
        Context plain(final boolean isOn) {
            plain = isOn;
            return this;
        }

        /** Checks every value; throws an {@link IllegalArgumentException} if one is out of range. */
        public Context conclude() {
            requireRange(
                "fragmentTableEntries", fragmentTableEntries, MIN_FRAGMENT_TABLE_ENTRIES, MAX_FRAGMENT_TABLE_ENTRIES);
            requireRange("fragmentTimeoutNs", fragmentTimeoutNs, 1, Long.MAX_VALUE);
            requireRange("digestPayloadBytes", digestPayloadBytes, 0, PacketDigest.MAX_PAYLOAD_BYTES);
            requireRange("observationPoint", observationPoint, 0, MAX_OBSERVATION_POINT);
            fragmentTableEntries = BitUtil.findNextPositivePowerOfTwo(fragmentTableEntries);
            return this;
        }

        private static void requireRange(final String name, final long value, final long min, final long max) {
            if (value < min || value > max) {
                throw new IllegalArgumentException(name + "=" + value + " is not in " + min + ".." + max);
            }
        }
    }
}
