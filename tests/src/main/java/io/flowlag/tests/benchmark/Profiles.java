package io.flowlag.tests.benchmark;

import io.flowlag.exporter.lab.TrafficProfile;

/** Profiles of traffic for measurements. Stateless. */
public final class Profiles {
    private Profiles() {
    }

    /** {@return 5 000 000 UDP packets of minimum length over IPv4 in 200 000 flows: the worst case per octet} */
    public static TrafficProfile min64() {
        return TrafficProfile.builder("min64").packetCount(5_000_000).flowCount(200_000).seed(64)
            .udpShare(1.0).smallFrameShare(1.0).mediumFrameShare(0.0).build();
    }

    /** {@return 5 000 000 packets in 400 000 flows, frames 7:4:1 of 60, 590 and 1514 octets, a fifth IPv6, cut to 96 octets} */
    public static TrafficProfile mix() {
        return TrafficProfile.builder("mix").packetCount(5_000_000).flowCount(400_000).seed(4680).snapLengthBytes(96)
            .udpShare(0.15).ipv6Share(0.20).smallFrameShare(7.0 / 12).mediumFrameShare(4.0 / 12).build();
    }

    /** {@return 3 000 000 whole packets over IPv4 in 100 000 flows, nearly half of them full-sized} */
    public static TrafficProfile big() {
        return TrafficProfile.builder("big").packetCount(3_000_000).flowCount(100_000).seed(1514)
            .udpShare(0.15).smallFrameShare(0.42).mediumFrameShare(0.15).build();
    }

    /**
     * A built-in profile.
     *
     * @param name {@code min64}, {@code mix}, {@code big} or {@code demo}.
     * @throws IllegalArgumentException if there is none of that name.
     */
    public static TrafficProfile named(final String name) {
        return switch (name) {
            case "min64" -> min64();
            case "mix" -> mix();
            case "big" -> big();
            case "demo" -> TrafficProfile.demo();
            default -> throw new IllegalArgumentException("profile=" + name + ": known are min64, mix, big, demo");
        };
    }
}
