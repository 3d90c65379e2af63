package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.collections.LongHashSet;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Collection;

/**
 * Recognises the process's own export traffic, which must not enter the flows: packets between an address of this host and one
 * of the destinations' address and port, in both directions. Immutable; safe from any thread. Allocates at construction.
 */
public final class OwnTraffic {
    /** Nothing is own traffic: files, or no destinations. */
    public static final OwnTraffic NONE = new OwnTraffic(new InetSocketAddress[0], new InetAddress[0], 0);

    private static final int TCP = 6;

    private final int[] ports;
    private final long[] destinationHigh;
    private final long[] destinationLow;
    private final LongHashSet localAddresses = new LongHashSet();
    private final int servedPort;

    private OwnTraffic(
        final InetSocketAddress[] destinations, final InetAddress[] localAddresses, final int servedPort) {
        this.servedPort = servedPort;
        ports = new int[destinations.length];
        destinationHigh = new long[destinations.length];
        destinationLow = new long[destinations.length];
        for (int i = 0; i < destinations.length; i++) {
            ports[i] = destinations[i].getPort();
            destinationHigh[i] = high(destinations[i].getAddress());
            destinationLow[i] = low(destinations[i].getAddress());
        }
        for (final InetAddress address : localAddresses) {
            this.localAddresses.add(mix(high(address), low(address)));
        }
    }

    /**
     * For a set of destinations, and optionally a port that this process serves.
     *
     * @param destinations   resolved addresses and ports that the process sends to.
     * @param localAddresses of this host.
     * @param servedPort     of TCP, at any address of this host; 0 for none.
     * @return a filter of own packets.
     */
    public static OwnTraffic of(
        final Collection<InetSocketAddress> destinations, final Collection<InetAddress> localAddresses, final int servedPort) {
        return new OwnTraffic(
            destinations.toArray(new InetSocketAddress[0]), localAddresses.toArray(new InetAddress[0]), servedPort);
    }

    /** Whether a packet goes to, or comes from, one of the destinations. */
    public boolean matches(final DirectBuffer descriptor, final int offset) {
        if (servedPort != 0 && isServed(descriptor, offset)) {
            return true;
        }
        for (int i = 0; i < ports.length; i++) {
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
        return PacketDescriptor.protocol(descriptor, offset) == TCP && (
            PacketDescriptor.destinationPort(descriptor, offset) == servedPort && isLocal(
                PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset)) ||
            PacketDescriptor.sourcePort(descriptor, offset) == servedPort && isLocal(
                PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset)));
    }

    private boolean isLocal(final long high, final long low) {
        return localAddresses.contains(mix(high, low));
    }

    private static long high(final InetAddress address) {
        return address instanceof Inet4Address ? 0 : ByteBuffer.wrap(address.getAddress()).getLong();
    }

    private static long low(final InetAddress address) {
        return address instanceof Inet4Address ?
            ByteBuffer.wrap(address.getAddress()).getInt() & 0xFFFF_FFFFL : ByteBuffer.wrap(address.getAddress()).getLong(8);
    }

    private static long mix(final long high, final long low) {
        return (high * 0x9E37_79B9_7F4A_7C15L) ^ low;
    }
}
