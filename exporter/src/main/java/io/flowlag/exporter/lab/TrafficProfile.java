package io.flowlag.exporter.lab;

/**
 * What traffic looks like: how many packets in how many flows at what rate, how flow sizes and frame lengths are distributed,
 * and the shares of protocols. Immutable; every number can be replaced through {@link #toBuilder()}, and {@link Builder}
 * explains each. Two equal profiles generate the same octets on every machine.
 * <p>
 * Flow sizes follow the shape of published traces (many one-packet flows, a Pareto tail whose exponent is slightly above 1;
 * see the fits to the traces of the RLI and LDS papers): a share of flows with one packet, a share with two to five, and the
 * rest bounded Pareto, with its lower end fitted so that the packets come out exactly.
 */
public final class TrafficProfile {
    private static final long DEFAULT_START_NS = 1_700_000_000_000_000_000L;
    private static final int WHOLE_FRAME_BYTES = 65_535;
    private static final int MEDIUM_FRAME_BYTES = 590;
    private static final int LARGE_FRAME_BYTES = 1514;

    private final Builder values;

    private TrafficProfile(final Builder values) {
        this.values = values;
    }

    /** {@return 20 000 packets in 200 flows over 10 s, with TCP, UDP, ICMP, IPv6 and VLAN tags among them} */
    public static TrafficProfile demo() {
        return builder("demo").packetCount(20_000).flowCount(200).seed(2026).packetsPerSecond(2_000)
            .largestFlowPackets(2_000).udpShare(0.25).icmpShare(0.08).ipv6Share(0.30).vlanShare(0.10)
            .smallFrameShare(7.0 / 12).mediumFrameShare(4.0 / 12).build();
    }

    /** Starts a new profile. */
    public static Builder builder(final String name) {
        return new Builder(name);
    }

    /** {@return a builder that starts with this profile's numbers} */
    public Builder toBuilder() {
        return new Builder(values);
    }

    public String name() {
        return values.name;
    }

    public int packetCount() {
        return values.packetCount;
    }

    public int flowCount() {
        return values.flowCount;
    }

    public long seed() {
        return values.seed;
    }

    public int packetsPerSecond() {
        return values.packetsPerSecond;
    }

    public long startNs() {
        return values.startNs;
    }

    public int snapLengthBytes() {
        return values.snapLengthBytes;
    }

    public double singlePacketFlowShare() {
        return values.singlePacketFlowShare;
    }

    public double fewPacketFlowShare() {
        return values.fewPacketFlowShare;
    }

    public double paretoShape() {
        return values.paretoShape;
    }

    public int largestFlowPackets() {
        return values.largestFlowPackets > 0 ? values.largestFlowPackets : Math.max(10, values.packetCount / 100);
    }

    public double ipv6Share() {
        return values.ipv6Share;
    }

    public double udpShare() {
        return values.udpShare;
    }

    public double icmpShare() {
        return values.icmpShare;
    }

    public double vlanShare() {
        return values.vlanShare;
    }

    public long durationNs() {
        return values.packetCount * 1_000_000_000L / values.packetsPerSecond;
    }

    /** {@return the wanted length of the next frame} */
    int drawFrameBytes(final LabRandom random) {
        final double draw = random.nextDouble();
        if (draw < values.smallFrameShare) {
            return FrameEncoder.MINIMUM_FRAME_BYTES;
        }
        return draw < values.smallFrameShare + values.mediumFrameShare ? MEDIUM_FRAME_BYTES : LARGE_FRAME_BYTES;
    }

    @Override
    public String toString() {
        return "profile " + values.name + ": packetCount=" + values.packetCount + " flowCount=" + values.flowCount +
            " packetsPerSecond=" + values.packetsPerSecond + " seed=" + values.seed;
    }

    /** Collects a profile's numbers. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private int packetCount = 20_000;
        private int flowCount = 200;
        private long seed = 1;
        private int packetsPerSecond = 1_000_000;
        private long startNs = DEFAULT_START_NS;
        private int snapLengthBytes = WHOLE_FRAME_BYTES;
        private double singlePacketFlowShare = 0.3;
        private double fewPacketFlowShare = 0.3;
        private double paretoShape = 1.1;
        private int largestFlowPackets;
        private double ipv6Share;
        private double udpShare = 0.15;
        private double icmpShare;
        private double vlanShare;
        private double smallFrameShare = 1.0;
        private double mediumFrameShare;

        private Builder(final String name) {
            this.name = name;
        }

        private Builder(final Builder other) {
            name = other.name;
            packetCount = other.packetCount;
            flowCount = other.flowCount;
            seed = other.seed;
            packetsPerSecond = other.packetsPerSecond;
            startNs = other.startNs;
            snapLengthBytes = other.snapLengthBytes;
            singlePacketFlowShare = other.singlePacketFlowShare;
            fewPacketFlowShare = other.fewPacketFlowShare;
            paretoShape = other.paretoShape;
            largestFlowPackets = other.largestFlowPackets;
            ipv6Share = other.ipv6Share;
            udpShare = other.udpShare;
            icmpShare = other.icmpShare;
            vlanShare = other.vlanShare;
            smallFrameShare = other.smallFrameShare;
            mediumFrameShare = other.mediumFrameShare;
        }

        /** Packets in all, at least {@code flowCount}. */
        public Builder packetCount(final int packetCount) {
            this.packetCount = packetCount;
            return this;
        }

        /** Flows in all, each a distinct 5-tuple; 1 or more. */
        public Builder flowCount(final int flowCount) {
            this.flowCount = flowCount;
            return this;
        }

        /** What distinguishes this traffic from others of the same profile; any number. */
        public Builder seed(final long seed) {
            this.seed = seed;
            return this;
        }

        /** The rate, constant on average: 1 to 1 000 000 000. */
        public Builder packetsPerSecond(final int packetsPerSecond) {
            this.packetsPerSecond = packetsPerSecond;
            return this;
        }

        /** UNIX time of the first packet's slot, ns, 0 or more. */
        public Builder startNs(final long startNs) {
            this.startNs = startNs;
            return this;
        }

        /** How many octets of a frame are captured at most; 1 or more. */
        public Builder snapLengthBytes(final int snapLengthBytes) {
            this.snapLengthBytes = snapLengthBytes;
            return this;
        }

        /** Share of flows with one packet, 0 to 1. */
        public Builder singlePacketFlowShare(final double singlePacketFlowShare) {
            this.singlePacketFlowShare = singlePacketFlowShare;
            return this;
        }

        /** Share of flows with two to five packets, 0 to 1. */
        public Builder fewPacketFlowShare(final double fewPacketFlowShare) {
            this.fewPacketFlowShare = fewPacketFlowShare;
            return this;
        }

        /** Exponent of the Pareto part of the flow sizes, above 0. */
        public Builder paretoShape(final double paretoShape) {
            this.paretoShape = paretoShape;
            return this;
        }

        /** Upper end of the Pareto part of the flow sizes, packets; 0 for a hundredth of all packets. */
        public Builder largestFlowPackets(final int largestFlowPackets) {
            this.largestFlowPackets = largestFlowPackets;
            return this;
        }

        /** Share of flows over IPv6, 0 to 1; the others are over IPv4. */
        public Builder ipv6Share(final double ipv6Share) {
            this.ipv6Share = ipv6Share;
            return this;
        }

        /** Share of UDP flows, 0 to 1, together with ICMP's; what both leave is TCP. */
        public Builder udpShare(final double udpShare) {
            this.udpShare = udpShare;
            return this;
        }

        /** Share of ICMP (over IPv6: ICMPv6) flows, 0 to 1, together with UDP's. */
        public Builder icmpShare(final double icmpShare) {
            this.icmpShare = icmpShare;
            return this;
        }

        /** Share of flows whose frames carry an 802.1Q tag, 0 to 1. */
        public Builder vlanShare(final double vlanShare) {
            this.vlanShare = vlanShare;
            return this;
        }

        /** Share of minimum-sized frames, 0 to 1. */
        public Builder smallFrameShare(final double smallFrameShare) {
            this.smallFrameShare = smallFrameShare;
            return this;
        }

        /** Share of frames of 590 octets, 0 to 1, together with the small ones; what is left has 1514. */
        public Builder mediumFrameShare(final double mediumFrameShare) {
            this.mediumFrameShare = mediumFrameShare;
            return this;
        }

        /** Checks every number and every relation; an {@link IllegalArgumentException} names the number that is wrong. */
        public TrafficProfile build() {
            require(flowCount >= 1, "flowCount", flowCount, "at least 1");
            require(packetCount >= flowCount, "packetCount", packetCount, "at least flowCount=" + flowCount);
            require(packetsPerSecond >= 1 && packetsPerSecond <= 1_000_000_000, "packetsPerSecond", packetsPerSecond,
                "1 to 1000000000");
            require(startNs >= 0, "startNs", startNs, "0 or more");
            require(snapLengthBytes >= 1, "snapLengthBytes", snapLengthBytes, "at least 1");
            require(paretoShape > 0, "paretoShape", paretoShape, "above 0");
            require(largestFlowPackets >= 0, "largestFlowPackets", largestFlowPackets, "0 or more");
            requireShares("singlePacketFlowShare", singlePacketFlowShare, "fewPacketFlowShare", fewPacketFlowShare);
            requireShares("udpShare", udpShare, "icmpShare", icmpShare);
            requireShares("smallFrameShare", smallFrameShare, "mediumFrameShare", mediumFrameShare);
            requireShares("ipv6Share", ipv6Share, "none", 0);
            requireShares("vlanShare", vlanShare, "none", 0);
            return new TrafficProfile(new Builder(this));
        }

        private static void requireShares(final String name, final double share, final String other, final double otherShare) {
            require(share >= 0 && share <= 1, name, share, "0 to 1");
            require(otherShare >= 0 && share + otherShare <= 1 + 1e-9, other, otherShare, "0 to 1 together with " + name);
        }

        private static void require(final boolean holds, final String name, final Number value, final String range) {
            if (!holds) {
                throw new IllegalArgumentException(name + "=" + value + ": must be " + range);
            }
        }
    }
}
