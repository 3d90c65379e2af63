package io.flowlag.exporter.delay.exact;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

/**
 * Counts, at each point, the packets that look changed on the way: fragments, tunnels, packets joined by an offload. Comparing
 * the counts of both points hints at why digests do not match. Used by the matcher's thread. Never allocates.
 */
final class PacketFeatures {
    private static final int ETHERNET_PAYLOAD_BYTES = 1500;
    private static final int IP_IN_IP = 4;
    private static final int IPV6_IN_IP = 41;
    private static final int GRE = 47;
    private static final int ESP = 50;
    private static final int AH = 51;
    private static final int L2TP = 115;
    private static final int UDP = 17;
    private static final int VXLAN_PORT = 4789;
    private static final int GENEVE_PORT = 6081;
    private static final int WIREGUARD_PORT = 51820;
    private static final int GTP_USER_PORT = 2152;
    private static final int ESP_IN_UDP_PORT = 4500;

    private final MatchCounters counters;

    PacketFeatures(final MatchCounters counters) {
        this.counters = counters;
    }

    void onSent(final DirectBuffer descriptor, final int offset) {
        count(descriptor, offset, MatchCounter.SENT_FRAGMENTS, MatchCounter.SENT_TUNNELLED, MatchCounter.SENT_LARGE);
    }

    void onReceived(final DirectBuffer descriptor, final int offset) {
        count(descriptor, offset, MatchCounter.RECEIVED_FRAGMENTS, MatchCounter.RECEIVED_TUNNELLED, MatchCounter.RECEIVED_LARGE);
    }

    private void count(
        final DirectBuffer descriptor, final int offset, final MatchCounter fragments, final MatchCounter tunnelled,
        final MatchCounter large) {
        if (isFragment(descriptor, offset)) {
            counters.increment(fragments);
        }
        if (isTunnelled(descriptor, offset)) {
            counters.increment(tunnelled);
        }
        if (isLarge(descriptor, offset)) {
            counters.increment(large);
        }
    }

    private static boolean isFragment(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_FRAGMENT) != 0;
    }

    private static boolean isLarge(final DirectBuffer descriptor, final int offset) {
        return PacketDescriptor.segmentCount(descriptor, offset) > 1 ||
            Integer.compareUnsigned(PacketDescriptor.ipLengthBytes(descriptor, offset), ETHERNET_PAYLOAD_BYTES) > 0;
    }

    private static boolean isTunnelled(final DirectBuffer descriptor, final int offset) {
        return switch (PacketDescriptor.protocol(descriptor, offset)) {
            case IP_IN_IP, IPV6_IN_IP, GRE, ESP, AH, L2TP -> true;
            case UDP -> isTunnelPort(PacketDescriptor.destinationPort(descriptor, offset));
            default -> false;
        };
    }

    private static boolean isTunnelPort(final int port) {
        return port == VXLAN_PORT || port == GENEVE_PORT || port == WIREGUARD_PORT || port == GTP_USER_PORT ||
            port == ESP_IN_UDP_PORT;
    }
}
