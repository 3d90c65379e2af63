package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Recognises the process's own export traffic, which must not enter the flows: packets between an address of this host and one
 * of the destinations' address, protocol and port, in both directions. Addresses are compared in full, so that no other host can
 * choose one that counts as local. Immutable; safe from any thread. Allocates at construction.
 */
public final class OwnTraffic {
    /** Nothing is own traffic: files, or no destinations. */
    public static final OwnTraffic NONE = of(List.of(), List.of(), List.of(), 0);

    private static final int TCP = 6;
    private static final int UDP = 17;

    private final int tcpCount;
    private final int[] ports;
    private final long[] destinationHigh;
    private final long[] destinationLow;
    private final long[] localHigh;
    private final long[] localLow;
    private final int[] servedPorts;

    private OwnTraffic(
        final InetSocketAddress[] destinations, final int tcpCount, final InetAddress[] localAddresses, final int[] servedPorts) {
        this.tcpCount = tcpCount;
        this.servedPorts = servedPorts;
        ports = new int[destinations.length];
        destinationHigh = new long[destinations.length];
        destinationLow = new long[destinations.length];
        for (int i = 0; i < destinations.length; i++) {
            ports[i] = destinations[i].getPort();
            destinationHigh[i] = high(destinations[i].getAddress());
            destinationLow[i] = low(destinations[i].getAddress());
        }
        localHigh = Arrays.stream(localAddresses).mapToLong(OwnTraffic::high).toArray();
        localLow = Arrays.stream(localAddresses).mapToLong(OwnTraffic::low).toArray();
    }

    /**
     * For a set of destinations, and ports that this process serves.
     *
     * @param tcp            resolved addresses and ports that the process sends to over TCP.
     * @param udp            those that it sends to over UDP.
     * @param localAddresses of this host.
     * @param servedPorts    of TCP, at any address of this host; 0 is none.
     * @return a filter of own packets.
     */
    public static OwnTraffic of(
        final Collection<InetSocketAddress> tcp, final Collection<InetSocketAddress> udp,
        final Collection<InetAddress> localAddresses, final int... servedPorts) {
        return new OwnTraffic(Stream.concat(tcp.stream(), udp.stream()).toArray(InetSocketAddress[]::new), tcp.size(),
            localAddresses.toArray(new InetAddress[0]), Arrays.stream(servedPorts).filter((port) -> port != 0).toArray());
    }

    /** Whether a packet goes to, or comes from, one of the destinations. */
    public boolean matches(final DirectBuffer descriptor, final int offset) {
        if (ports.length == 0 && servedPorts.length == 0) {
            return false;
        }
        final int protocol = PacketDescriptor.protocol(descriptor, offset);
        if (protocol == TCP && isServed(descriptor, offset)) {
            return true;
        }
        final int end = protocol == TCP ? tcpCount : protocol == UDP ? ports.length : 0;
        for (int i = protocol == UDP ? tcpCount : 0; i < end; i++) {
            if (PacketDescriptor.destinationPort(descriptor, offset) == ports[i] &&
                PacketDescriptor.destinationLow(descriptor, offset) == destinationLow[i] &&
                PacketDescriptor.destinationHigh(descriptor, offset) == destinationHigh[i] &&
                isLocal(PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset))) {
                return true;
            }
            if (PacketDescriptor.sourcePort(descriptor, offset) == ports[i] &&
                PacketDescriptor.sourceLow(descriptor, offset) == destinationLow[i] &&
                PacketDescriptor.sourceHigh(descriptor, offset) == destinationHigh[i] &&
                isLocal(
                    PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset))) {
                return true;
            }
        }
        return false;
    }

    private boolean isServed(final DirectBuffer descriptor, final int offset) {
        for (final int port : servedPorts) {
            if (PacketDescriptor.destinationPort(descriptor, offset) == port && isLocal(
                PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset)) ||
                PacketDescriptor.sourcePort(descriptor, offset) == port && isLocal(
                PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset))) {
                return true;
            }
        }
        return false;
    }

    private boolean isLocal(final long high, final long low) {
        for (int i = 0; i < localLow.length; i++) {
            if (localLow[i] == low && localHigh[i] == high) {
                return true;
            }
        }
        return false;
    }

    private static long high(final InetAddress address) {
        return address instanceof Inet4Address ? 0 : ByteBuffer.wrap(address.getAddress()).getLong();
    }

    private static long low(final InetAddress address) {
        return address instanceof Inet4Address ?
            ByteBuffer.wrap(address.getAddress()).getInt() & 0xFFFF_FFFFL : ByteBuffer.wrap(address.getAddress()).getLong(8);
    }
}
