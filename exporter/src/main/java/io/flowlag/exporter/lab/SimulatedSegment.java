package io.flowlag.exporter.lab;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Two measurement points with a queue between them, in simulated time: packet sources that feed what reads interfaces and
 * captures, and the truth. Each source runs a simulation of its own, and all simulations of a segment are equal to the octet and
 * the nanosecond, so sources may be polled in any order and by different threads.
 *
 * <p>Both points see the references. At the sender's point a packet has the time at which it entered the queue, at the
 * receiver's that at which its last bit was transmitted. Allocates the plan at construction, and a simulation with each source.
 */
public final class SimulatedSegment {
    /** Interface number of packets at the sender's point. */
    public static final int SENDER = 0;
    /** Interface number of packets at the receiver's point. */
    public static final int RECEIVER = 1;

    private static final int CHUNK_PACKETS = 1024;

    private final SegmentPlan plan;

    /** Plans the traffic. Allocates 8 octets a packet and about 54 a flow. */
    public SimulatedSegment(final SegmentProfile profile) {
        plan = new SegmentPlan(profile);
    }

    /** {@return what the segment is like} */
    public SegmentProfile profile() {
        return plan.profile;
    }

    /** {@return the keys of the flows and how many packets are planned; nothing is counted as emitted in it} */
    public TrafficFlows flows() {
        return plan.flows;
    }

    /** {@return the mean length of regular frames, octets} */
    public double meanPacketBytes() {
        return plan.meanPacketBytes;
    }

    /** {@return a source of the packets at the sender's point, from the first on} */
    public PacketSource sender() {
        return new PointSource(plan, true, false, "simulated sender");
    }

    /** {@return a source of the packets at the receiver's point, from the first on} */
    public PacketSource receiver() {
        return new PointSource(plan, false, true, "simulated receiver");
    }

    /**
     * Both points as one source, in the order of simulated time: {@link #SENDER} and {@link #RECEIVER} are the interface numbers.
     * Returns a source, from the first packet on.
     */
    public PacketSource merged() {
        return new PointSource(plan, true, true, "simulated segment");
    }

    /** {@return a new simulation, at its beginning: packets without octets} */
    public SegmentSimulation simulation() {
        return new SegmentSimulation(plan);
    }

    /** Runs a simulation to its end; the handler receives every packet. */
    public SegmentSimulation run(final SegmentHandler handler) {
        final SegmentSimulation simulation = simulation();
        simulation.run(handler);
        return simulation;
    }

    /** {@return the truth about every flow; runs a simulation} */
    public SegmentTruth truth() {
        final SegmentTruth truth = new SegmentTruth(plan.flows);
        run(truth);
        return truth;
    }

    /**
     * Writes what both points see as captures.
     *
     * @param senderFile   of the sender's point; created or replaced.
     * @param receiverFile of the receiver's point; created or replaced.
     * @param format       of both; microseconds would blunt the truth.
     * @throws IOException if one cannot be written.
     */
    public void writeCaptures(final Path senderFile, final Path receiverFile, final CaptureWriter.Format format)
        throws IOException {
        try (CaptureWriter sender = new CaptureWriter(senderFile, format);
            CaptureWriter receiver = new CaptureWriter(receiverFile, format);
            PacketSource source = merged()) {
            final PacketHandler handler = packet -> (packet.interfaceId() == SENDER ? sender : receiver).onPacket(packet);
            int count = 0;
            while (count != PacketSource.END_OF_SOURCE) {
                count = source.poll(handler, CHUNK_PACKETS);
            }
        }
    }

    /** Turns a simulation's events into frames. */
    private static final class PointSource implements PacketSource, SegmentHandler {
        private final SegmentPlan plan;
        private final SegmentSimulation simulation;
        private final FrameEncoder encoder;
        private final ReferenceFrame referenceFrame;
        private final boolean isSender;
        private final boolean isReceiver;
        private final String name;
        private final int snapLengthBytes;
        private final CapturedPacket captured;

        private PacketHandler handler;
        private long count;
        private long bytes;
        private boolean isEnded;

        PointSource(final SegmentPlan plan, final boolean isSender, final boolean isReceiver, final String name) {
            this.plan = plan;
            this.isSender = isSender;
            this.isReceiver = isReceiver;
            this.name = name + ":" + plan.profile.traffic().name();
            simulation = new SegmentSimulation(plan);
            encoder = new FrameEncoder(plan.flows);
            final ReferenceModel references = plan.profile.references();
            referenceFrame = new ReferenceFrame(references == null ? ReferenceModel.DEFAULT_PORT : references.port());
            captured = new CapturedPacket(encoder.buffer(), LinkType.ETHERNET, SENDER);
            snapLengthBytes = plan.profile.traffic().snapLengthBytes();
        }

        @Override
        public int poll(final PacketHandler packetHandler, final int packetLimit) {
            handler = packetHandler;
            final long before = count;
            while (!isEnded && count - before < packetLimit) {
                isEnded = !simulation.step(this);
            }
            return isEnded && count == before ? END_OF_SOURCE : (int) (count - before);
        }

        @Override
        public void onSent(final SimulatedPacket packet) {
            if (isSender) {
                emit(packet, packet.sentNs(), SENDER);
            }
        }

        @Override
        public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
            if (isReceiver) {
                emit(packet, arrivalNs, RECEIVER);
            }
        }

        @Override
        public void onLost(final SimulatedPacket packet) {
            // A lost packet is not captured.
        }

        private void emit(final SimulatedPacket packet, final long timestampNs, final int interfaceId) {
            final int dscp = plan.profile.dscp(packet.classIndex());
            final int frameBytes = packet.isReference() ? referenceFrame.encode(packet, dscp) : encoder.encode(
                packet.flow(), packet.number(), packet.sequence(), packet.wantedLengthBytes(), dscp);
            count++;
            bytes += frameBytes;
            captured.interfaceId(interfaceId);
            handler.onPacket(captured.wrap(
                packet.isReference() ? referenceFrame.buffer() : encoder.buffer(), 0, Math.min(frameBytes, snapLengthBytes),
                frameBytes, timestampNs));
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public long capturedCount() {
            return count;
        }

        @Override
        public long consumedBytes() {
            return bytes;
        }

        @Override
        public void close() {
            isEnded = true;
        }
    }
}
