package io.flowlag.tests.lab.method;

import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;

import java.util.Arrays;

/**
 * The traffic of two points: every packet with its times, the references among them, and the truth of every flow. Packets are in
 * order of arrival; a lost one stands where its loss was known. Flows and packets are indices. One thread fills it, then it is
 * only read. About 46 octets a packet.
 */
public final class PathTrace {
    private static final int NO_POSITION = -1;

    private final long[] flowHash;
    private final int[] received;
    private final int[] sent;
    private final double[] trueSumNs;
    private int[] flow = new int[1024];
    private long[] digest = new long[1024];
    private long[] sentNs = new long[1024];
    private long[] delayNs = new long[1024];
    private int[] bytes = new int[1024];
    private boolean[] lost = new boolean[1024];
    private int packets;
    private int[] referencePosition = new int[256];
    private int[] referenceNumber = new int[256];
    private long[] referenceSentNs = new long[256];
    private long[] referenceArrivalNs = new long[256];
    private int references;
    private int referenceBytes;
    private long capacityBps;

    /**
     * An empty trace.
     *
     * @param flowHash one for each flow; kept, not copied.
     */
    public PathTrace(final long[] flowHash) {
        this.flowHash = flowHash;
        received = new int[flowHash.length];
        sent = new int[flowHash.length];
        trueSumNs = new double[flowHash.length];
    }

    /**
     * What passes a simulated segment; the hashes of flows and the digests of packets are drawn, not computed from octets.
     *
     * @param profile of the segment, with one stream of references or none.
     */
    public static PathTrace of(final SegmentProfile profile) {
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final long[] hashes = new long[segment.flows().flowCount()];
        Arrays.setAll(hashes, flow -> LabRandom.mix(profile.traffic().seed() + LabRandom.mix(flow)));
        final PathTrace trace = new PathTrace(hashes);
        trace.capacityBps = profile.capacityBps();
        segment.run(new SegmentHandler() {
            @Override
            public void onSent(final SimulatedPacket packet) {
                // Its time is set at arrival.
            }

            @Override
            public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
                if (packet.isReference()) {
                    trace.addReference(packet.number(), packet.sentNs(), arrivalNs, packet.lengthBytes());
                } else {
                    add(packet, arrivalNs - packet.sentNs(), false);
                }
            }

            @Override
            public void onLost(final SimulatedPacket packet) {
                if (!packet.isReference()) {
                    add(packet, 0, true);
                }
            }

            private void add(final SimulatedPacket packet, final long delayNs, final boolean isLost) {
                trace.add(packet.flow(), LabRandom.mix(hashes[packet.flow()] + LabRandom.mix(packet.number())),
                    packet.sentNs(), delayNs, packet.lengthBytes(), isLost);
            }
        });
        return trace;
    }

    /**
     * Adds the next packet.
     *
     * @param sendNs      when it was sent.
     * @param tookNs      its delay; not used if it is lost.
     * @param lengthBytes octets of its frame.
     * @param isLost      whether it did not arrive.
     */
    public void add(
        final int flowIndex, final long packetDigest, final long sendNs, final long tookNs, final int lengthBytes,
        final boolean isLost) {
        if (packets == flow.length) {
            grow();
        }
        flow[packets] = flowIndex;
        digest[packets] = packetDigest;
        sentNs[packets] = sendNs;
        delayNs[packets] = tookNs;
        bytes[packets] = lengthBytes;
        lost[packets++] = isLost;
        sent[flowIndex]++;
        if (!isLost) {
            received[flowIndex]++;
            trueSumNs[flowIndex] += tookNs;
        }
    }

    private void grow() {
        final int size = 2 * packets;
        flow = Arrays.copyOf(flow, size);
        digest = Arrays.copyOf(digest, size);
        sentNs = Arrays.copyOf(sentNs, size);
        delayNs = Arrays.copyOf(delayNs, size);
        bytes = Arrays.copyOf(bytes, size);
        lost = Arrays.copyOf(lost, size);
    }

    /**
     * Adds a reference, behind the packets that were added before it.
     *
     * @param number      in its stream, from 0.
     * @param sendNs      when it was sent.
     * @param arrivalNs   when it arrived.
     * @param lengthBytes octets of its frame.
     */
    public void addReference(final int number, final long sendNs, final long arrivalNs, final int lengthBytes) {
        if (references == referencePosition.length) {
            final int size = 2 * references;
            referencePosition = Arrays.copyOf(referencePosition, size);
            referenceNumber = Arrays.copyOf(referenceNumber, size);
            referenceSentNs = Arrays.copyOf(referenceSentNs, size);
            referenceArrivalNs = Arrays.copyOf(referenceArrivalNs, size);
        }
        referencePosition[references] = packets;
        referenceNumber[references] = number;
        referenceSentNs[references] = sendNs;
        referenceArrivalNs[references++] = arrivalNs;
        referenceBytes = lengthBytes;
    }

    /** {@return how many flows there are} */
    public int flows() {
        return flowHash.length;
    }

    /** {@return how many packets were sent} */
    public int packets() {
        return packets;
    }

    /** {@return how many references arrived} */
    public int references() {
        return references;
    }

    /** {@return octets of a reference's frame; 0 without references} */
    public int referenceBytes() {
        return referenceBytes;
    }

    /** {@return rate of the transmitter, bits/s; 0 if there is none} */
    public long capacityBps() {
        return capacityBps;
    }

    /** A flow's hash. Returns 64 bits. */
    public long flowHash(final int flowIndex) {
        return flowHash[flowIndex];
    }

    /** How much of a flow was sent. */
    public int sent(final int flowIndex) {
        return sent[flowIndex];
    }

    /** How much of a flow arrived. */
    public int received(final int flowIndex) {
        return received[flowIndex];
    }

    /** The truth of a flow. Returns the mean delay of its packets that arrived, ns; NaN if none did. */
    public double trueMeanNs(final int flowIndex) {
        return received[flowIndex] == 0 ? Double.NaN : trueSumNs[flowIndex] / received[flowIndex];
    }

    /** The truth of a flow. Returns the sum of delays of its packets that arrived, ns. */
    public double trueSumNs(final int flowIndex) {
        return trueSumNs[flowIndex];
    }

    /** {@return the mean delay of all packets that arrived, ns} */
    public double trueMeanNs() {
        return Arrays.stream(trueSumNs).sum() / Arrays.stream(received).asLongStream().sum();
    }

    /** {@return how many packets arrived} */
    public long receivedPackets() {
        return Arrays.stream(received).asLongStream().sum();
    }

    /** Index of its flow. */
    public int flowOf(final int packet) {
        return flow[packet];
    }

    /** Its digest. */
    public long digestOf(final int packet) {
        return digest[packet];
    }

    /** When it was sent, ns. */
    public long sentNsOf(final int packet) {
        return sentNs[packet];
    }

    /** Its delay, ns; without meaning if it is lost. */
    public long delayNsOf(final int packet) {
        return delayNs[packet];
    }

    /** When it arrived, ns; without meaning if it is lost. */
    public long arrivalNsOf(final int packet) {
        return sentNs[packet] + delayNs[packet];
    }

    /** Octets of its frame. */
    public int bytesOf(final int packet) {
        return bytes[packet];
    }

    /** Whether it did not arrive. */
    public boolean isLost(final int packet) {
        return lost[packet];
    }

    /** How many packets were added before a reference. */
    int referencePosition(final int reference) {
        return reference < references ? referencePosition[reference] : NO_POSITION;
    }

    int referenceNumber(final int reference) {
        return referenceNumber[reference];
    }

    long referenceSentNs(final int reference) {
        return referenceSentNs[reference];
    }

    long referenceArrivalNs(final int reference) {
        return referenceArrivalNs[reference];
    }

    /**
     * The relative errors of estimates.
     *
     * @param meansNs an estimate for each flow; NaN where there is none.
     * @return the error of each such flow that arrived; NaN where there is no estimate or the true mean is 0.
     */
    public double[] relativeErrors(final double[] meansNs, final int leastPackets) {
        final double[] errors = new double[flows()];
        int count = 0;
        for (int i = 0; i < errors.length; i++) {
            if (received[i] >= Math.max(1, leastPackets)) {
                final double truth = trueMeanNs(i);
                errors[count++] = truth == 0 ? Double.NaN : Math.abs(meansNs[i] - truth) / Math.abs(truth);
            }
        }
        return Arrays.copyOf(errors, count);
    }
}
