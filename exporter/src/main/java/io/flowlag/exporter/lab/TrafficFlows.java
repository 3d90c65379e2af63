package io.flowlag.exporter.lab;

import org.agrona.MutableDirectBuffer;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The flows of generated traffic and the truth about each: what of it was emitted so far. Every flow is one unidirectional
 * 5-tuple, distinct from all others, and none is the reverse of another (clients and servers have disjoint addresses), so that
 * a meter of either kind must find exactly these flows. Used by the thread that polls the traffic; read by others afterwards.
 * Allocates about 54 octets a flow at construction, then never, except for the methods that return text.
 */
public final class TrafficFlows {
    static final int ICMP = 1;
    static final int TCP = 6;
    static final int UDP = 17;
    /** Protocol number of ICMPv6. */
    static final int ICMPV6 = 58;

    private static final int[] TCP_PORTS = {443, 443, 443, 443, 443, 443, 80, 80, 22, 25, 993, 8443};
    // No DNS: some meters treat each query as a flow of its own.
    private static final int[] UDP_PORTS = {443, 443, 443, 443, 3478, 3478, 123, 5201};
    private static final int FIRST_EPHEMERAL_PORT = 32_768;
    private static final int EPHEMERAL_PORTS = 28_232;
    private static final int FIRST_HIGH_PORT = 10_000;
    private static final int HIGH_PORTS = 10_000;
    private static final int DRAWS_AT_MOST = 100_000;
    private static final int FLOWS_PER_CLIENT = 8;
    private static final int FLOWS_PER_SERVER = 40;
    private static final int CLIENTS_AT_MOST = 0xFF_FFF0;
    private static final int SERVERS_AT_MOST = 0xF_FFF0;
    private static final int CLIENT_NETWORK_V4 = 0x0A00_0000;
    private static final int SERVER_NETWORK_V4 = 0xAC10_0000;
    private static final int DOCUMENTATION_PREFIX_V6 = 0x2001_0DB8;
    private static final int CLIENT_NETWORK_V6 = 0xC000;
    private static final int SERVER_NETWORK_V6 = 0x5000;
    private static final long SERVER_SALT = 0x5EED_0000_0000L;
    private static final int FIRST_VLAN_ID = 100;
    private static final int VLAN_IDS = 10;

    private final int[] plannedPackets;
    private final int[] client;
    private final int[] server;
    private final short[] sourcePort;
    private final short[] destinationPort;
    private final byte[] protocol;
    private final boolean[] ipv6;
    private final short[] vlanId;
    private final int[] emittedPackets;
    private final int[] sequence;
    private final long[] octets;
    private final long[] firstNs;
    private final long[] lastNs;

    TrafficFlows(final TrafficProfile profile, final LabRandom random) {
        plannedPackets = FlowSizes.draw(profile, random);
        final int flowCount = plannedPackets.length;
        client = new int[flowCount];
        server = new int[flowCount];
        sourcePort = new short[flowCount];
        destinationPort = new short[flowCount];
        protocol = new byte[flowCount];
        ipv6 = new boolean[flowCount];
        vlanId = new short[flowCount];
        emittedPackets = new int[flowCount];
        sequence = new int[flowCount];
        octets = new long[flowCount];
        firstNs = new long[flowCount];
        lastNs = new long[flowCount];
        drawKeys(profile, random);
    }

    private void drawKeys(final TrafficProfile profile, final LabRandom random) {
        final LongHashSet taken = new LongHashSet(2 * client.length + 8);
        for (int flow = 0; flow < client.length; flow++) {
            ipv6[flow] = random.nextDouble() < profile.ipv6Share();
            protocol[flow] = (byte) drawProtocol(profile, random, ipv6[flow]);
            vlanId[flow] = (short) (random.nextDouble() < profile.vlanShare() ? FIRST_VLAN_ID + random.nextInt(VLAN_IDS) : 0);
            sequence[flow] = (int) random.nextLong();
            drawDistinctKey(flow, random, taken);
        }
    }

    private static int drawProtocol(final TrafficProfile profile, final LabRandom random, final boolean overIpv6) {
        final double draw = random.nextDouble();
        if (draw < profile.udpShare()) {
            return UDP;
        }
        if (draw < profile.udpShare() + profile.icmpShare()) {
            return overIpv6 ? ICMPV6 : ICMP;
        }
        return TCP;
    }

    private void drawDistinctKey(final int flow, final LabRandom random, final LongHashSet taken) {
        for (int draws = 0; draws < DRAWS_AT_MOST; draws++) {
            drawKey(flow, random);
            if (taken.add(keyFingerprint(flow))) {
                return;
            }
        }
        throw new IllegalArgumentException(
            "flowCount=" + client.length + ": too few address pairs for so many flows of protocol " + protocol[flow]);
    }

    private void drawKey(final int flow, final LabRandom random) {
        final int clients = Math.min(client.length / FLOWS_PER_CLIENT + 1, CLIENTS_AT_MOST);
        final int servers = Math.min(client.length / FLOWS_PER_SERVER + 1, SERVERS_AT_MOST);
        final double popularity = random.nextDouble();
        client[flow] = 1 + random.nextInt(clients);
        server[flow] = 1 + (int) (servers * popularity * popularity * popularity);
        if (hasPorts(flow)) {
            sourcePort[flow] = (short) (FIRST_EPHEMERAL_PORT + random.nextInt(EPHEMERAL_PORTS));
            destinationPort[flow] = (short) drawServerPort(random, protocol[flow] == TCP ? TCP_PORTS : UDP_PORTS);
        }
    }

    private static int drawServerPort(final LabRandom random, final int[] wellKnown) {
        if (random.nextInt(4) == 0) {
            return FIRST_HIGH_PORT + random.nextInt(HIGH_PORTS);
        }
        return wellKnown[random.nextInt(wellKnown.length)];
    }

    /** Equal keys have equal fingerprints; the rare other way round costs only another draw. */
    private long keyFingerprint(final int flow) {
        final long addresses = (long) client[flow] << 32 | server[flow];
        final long rest = (long) sourcePort(flow) << 32 | (long) destinationPort(flow) << 16 | protocol[flow] << 1 |
            (ipv6[flow] ? 1 : 0);
        return LabRandom.mix(LabRandom.mix(addresses) ^ rest);
    }

    /** {@return how many flows there are; a flow is known by an index below this} */
    public int flowCount() {
        return client.length;
    }

    /** Whether a flow is over IPv6. Returns false for IPv4. */
    public boolean isIpv6(final int flow) {
        return ipv6[flow];
    }

    /** A flow's IP protocol. */
    public int protocol(final int flow) {
        return protocol[flow];
    }

    /** A flow's source port. Returns 0 for protocols without ports. */
    public int sourcePort(final int flow) {
        return sourcePort[flow] & 0xFFFF;
    }

    /** A flow's destination port. Returns 0 for protocols without ports. */
    public int destinationPort(final int flow) {
        return destinationPort[flow] & 0xFFFF;
    }

    /** The VLAN of a flow's frames. Returns its id, 0 if the frames are untagged. */
    public int vlanId(final int flow) {
        return vlanId[flow];
    }

    /** Packets of a flow in the whole traffic. Returns 1 or more. */
    public int plannedPackets(final int flow) {
        return plannedPackets[flow];
    }

    /** Packets of a flow emitted so far. Returns at most {@link #plannedPackets}. */
    public int packets(final int flow) {
        return emittedPackets[flow];
    }

    /** IP octets of a flow emitted so far: headers and payload, without the link layer. Returns octets. */
    public long octets(final int flow) {
        return octets[flow];
    }

    /** When a flow's first packet was emitted. Returns UNIX time, ns; meaningless before the first packet. */
    public long firstNs(final int flow) {
        return firstNs[flow];
    }

    /** When a flow's last packet so far was emitted. Returns UNIX time, ns; meaningless before the first packet. */
    public long lastNs(final int flow) {
        return lastNs[flow];
    }

    /** A flow's source address as text. Allocates. Returns dotted or colon notation. */
    public String sourceAddress(final int flow) {
        return text(flow, true);
    }

    /** A flow's destination address as text. Allocates. Returns dotted or colon notation. */
    public String destinationAddress(final int flow) {
        return text(flow, false);
    }

    boolean hasPorts(final int flow) {
        return protocol[flow] == TCP || protocol[flow] == UDP;
    }

    /** The TCP sequence number of the next segment; of the first as long as nothing was emitted. */
    int sequence(final int flow) {
        return sequence[flow];
    }

    void advanceSequence(final int flow, final int octetCount) {
        sequence[flow] += octetCount;
    }

    void onEmitted(final int flow, final int ipLengthBytes, final long timestampNs) {
        if (emittedPackets[flow]++ == 0) {
            firstNs[flow] = timestampNs;
        }
        octets[flow] += ipLengthBytes;
        lastNs[flow] = timestampNs;
    }

    void putSourceAddress(final int flow, final MutableDirectBuffer buffer, final int offset) {
        if (ipv6[flow]) {
            putIpv6(buffer, offset, CLIENT_NETWORK_V6, client[flow], LabRandom.mix(client[flow]));
        } else {
            buffer.putInt(offset, CLIENT_NETWORK_V4 | client[flow], BIG_ENDIAN);
        }
    }

    void putDestinationAddress(final int flow, final MutableDirectBuffer buffer, final int offset) {
        if (ipv6[flow]) {
            putIpv6(buffer, offset, SERVER_NETWORK_V6, server[flow], LabRandom.mix(SERVER_SALT + server[flow]));
        } else {
            buffer.putInt(offset, SERVER_NETWORK_V4 | server[flow], BIG_ENDIAN);
        }
    }

    private static void putIpv6(
        final MutableDirectBuffer buffer, final int offset, final int network, final int host, final long interfaceIdentifier) {
        buffer.putInt(offset, DOCUMENTATION_PREFIX_V6, BIG_ENDIAN);
        buffer.putShort(offset + 4, (short) network, BIG_ENDIAN);
        buffer.putShort(offset + 6, (short) host, BIG_ENDIAN);
        buffer.putLong(offset + 8, interfaceIdentifier, BIG_ENDIAN);
    }

    private String text(final int flow, final boolean source) {
        final byte[] address = new byte[ipv6[flow] ? 16 : 4];
        final MutableDirectBuffer buffer = new UnsafeBuffer(address);
        if (source) {
            putSourceAddress(flow, buffer, 0);
        } else {
            putDestinationAddress(flow, buffer, 0);
        }
        try {
            return InetAddress.getByAddress(address).getHostAddress();
        } catch (final UnknownHostException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
