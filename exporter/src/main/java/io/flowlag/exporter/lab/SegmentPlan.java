package io.flowlag.exporter.lab;

/**
 * What all points of a simulated segment share: keys of flows, the order of packets, and how long packets are on average.
 * Immutable once made. Allocates 8 octets a packet and about 54 a flow.
 */
final class SegmentPlan {
    private static final long LENGTH_SALT = 0x6C65_6E67_7468_0001L;
    private static final long CLASS_SALT = 0x636C_6173_7300_0002L;

    final SegmentProfile profile;
    final TrafficFlows flows;
    final PacketSchedule schedule;
    final double meanPacketBytes;
    private final long classSeed;

    SegmentPlan(final SegmentProfile profile) {
        this.profile = profile;
        final LabRandom planning = new LabRandom(profile.traffic().seed());
        flows = new TrafficFlows(profile.traffic(), planning);
        schedule = new PacketSchedule(profile.traffic(), flows, planning);
        classSeed = seed(CLASS_SALT);
        meanPacketBytes = (double) totalBytes() / schedule.packetCount();
    }

    private long totalBytes() {
        final FrameEncoder encoder = new FrameEncoder(flows);
        final LabRandom random = lengthRandom();
        final int[] numbers = new int[flows.flowCount()];
        long bytes = 0;
        for (int packet = 0; packet < schedule.packetCount(); packet++) {
            final int flow = schedule.flowOf(packet);
            bytes += encoder.lengthBytes(flow, numbers[flow]++, profile.traffic().drawFrameBytes(random));
        }
        return bytes;
    }

    /** {@return a new start of the sequence that lengths of frames are drawn from} */
    LabRandom lengthRandom() {
        return new LabRandom(seed(LENGTH_SALT));
    }

    /** {@return a seed for one of the parts of the simulation} */
    long seed(final long salt) {
        return LabRandom.mix(profile.traffic().seed() ^ salt);
    }

    /** {@return 0 or 1} */
    int classOf(final int flow) {
        return (LabRandom.mix(classSeed + flow) >>> 11) * 0x1.0p-53 < profile.firstShare() ? 0 : 1;
    }
}
