package io.flowlag.exporter.lab;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

/**
 * Traffic made on the fly, in simulated time: Ethernet frames with the statistics of a {@link TrafficProfile}, the same octets
 * and timestamps for the same profile on every machine. {@link #flows()} is the truth about what was emitted. The thread that
 * polls owns it; the buffer handed over is overwritten by the next packet.
 * <p>
 * Allocates at construction (8 octets a packet and about 54 a flow), then never.
 */
public final class GeneratedTraffic implements PacketSource {
    private static final long EMISSION_SALT = 0x6C61_6265_6C6C_6564L;

    private final String name;
    private final long startNs;
    private final int packetsPerSecond;
    private final int jitterNs;
    private final int snapLengthBytes;
    private final TrafficProfile profile;
    private final TrafficFlows flows;
    private final PacketSchedule schedule;
    private final FrameEncoder encoder;
    private final CapturedPacket packet;
    private final LabRandom random;

    private int nextPacket;
    private long emittedBytes;

    /** Plans the whole traffic. */
    public GeneratedTraffic(final TrafficProfile profile) {
        name = "generated:" + profile.name();
        startNs = profile.startNs();
        packetsPerSecond = profile.packetsPerSecond();
        jitterNs = (int) Math.max(1, Nanoseconds.PER_SECOND / packetsPerSecond - 1);
        snapLengthBytes = profile.snapLengthBytes();
        this.profile = profile;
        final LabRandom planning = new LabRandom(profile.seed());
        flows = new TrafficFlows(profile, planning);
        schedule = new PacketSchedule(profile, flows, planning);
        encoder = new FrameEncoder(flows);
        packet = new CapturedPacket(encoder.buffer(), LinkType.ETHERNET, 0);
        random = new LabRandom(LabRandom.mix(profile.seed() ^ EMISSION_SALT));
    }

    /** {@return the flows, with the truth about what was emitted so far} */
    public TrafficFlows flows() {
        return flows;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        if (nextPacket == schedule.packetCount()) {
            return END_OF_SOURCE;
        }
        final int count = Math.min(packetLimit, schedule.packetCount() - nextPacket);
        for (int i = 0; i < count; i++) {
            emit(handler);
        }
        return count;
    }

    private void emit(final PacketHandler handler) {
        final int flow = schedule.flowOf(nextPacket);
        final long timestampNs = startNs + nextPacket * Nanoseconds.PER_SECOND / packetsPerSecond + random.nextInt(jitterNs);
        final int frameBytes = encoder.encode(flow, profile.drawFrameBytes(random));
        flows.onEmitted(flow, encoder.ipLengthBytes(), timestampNs);
        nextPacket++;
        emittedBytes += frameBytes;
        handler.onPacket(packet.set(0, Math.min(frameBytes, snapLengthBytes), frameBytes, timestampNs));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long capturedCount() {
        return nextPacket;
    }

    @Override
    public long consumedBytes() {
        return emittedBytes;
    }

    @Override
    public void close() {
        nextPacket = schedule.packetCount();
    }
}
