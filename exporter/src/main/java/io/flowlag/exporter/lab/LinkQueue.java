package io.flowlag.exporter.lab;

import org.agrona.BitUtil;

/**
 * A {@link QueueModel} at work in simulated time, in front of a transmitter of one rate. The caller keeps the order of time:
 * every departure before an arrival is polled before that arrival is offered. One thread. Allocates at construction: 8 octets for
 * each packet that fits.
 */
final class LinkQueue {
    /** No packet. */
    static final int NONE = -1;

    private static final int CLASSES = 2;
    private static final int LENGTH_BITS = 24;
    private static final long LENGTH_MASK = (1L << LENGTH_BITS) - 1;
    private static final double NS_PER_OCTET_SECOND = 8e9;

    private final QueueModel model;
    private final LabRandom random;
    private final double nsPerByte;
    private final double typicalTransmissionNs;
    private final double logOfRemainder;
    private final long[][] rings = new long[CLASSES][];
    private final int ringMask;
    private final int[] heads = new int[CLASSES];
    private final int[] tails = new int[CLASSES];

    private int inTransmission = NONE;
    private int inTransmissionClass;
    private double departureNs = Double.POSITIVE_INFINITY;
    private double averageLength;
    private double idleSinceNs;
    private int sinceDrop = NONE;

    LinkQueue(final QueueModel model, final long capacityBps, final double typicalBytes, final long seed) {
        this.model = model;
        random = new LabRandom(seed);
        nsPerByte = NS_PER_OCTET_SECOND / capacityBps;
        typicalTransmissionNs = typicalBytes * nsPerByte;
        logOfRemainder = StrictMath.log(1 - model.weight());
        final int size = BitUtil.findNextPositivePowerOfTwo(model.limitPackets());
        ringMask = size - 1;
        for (int i = 0; i < (isPriority() ? CLASSES : 1); i++) {
            rings[i] = new long[size];
        }
    }

    /**
     * A packet comes.
     *
     * @param packet     what {@link #poll} gives back.
     * @param classIndex 0 is served first; without effect but with strict priority.
     * @param nowNs      since the start.
     * @return false if it is lost.
     */
    boolean offer(final int packet, final int classIndex, final int lengthBytes, final double nowNs) {
        final int queue = isPriority() ? classIndex : 0;
        final boolean isRefusedEarly = model.discipline() == QueueModel.Discipline.RED && isRefusedEarly(nowNs);
        if (isRefusedEarly || lengthPackets(queue) >= model.limitPackets()) {
            return false;
        }
        if (inTransmission == NONE) {
            transmit(packet, queue, lengthBytes, nowNs);
        } else {
            rings[queue][tails[queue]++ & ringMask] = (long) packet << LENGTH_BITS | lengthBytes;
        }
        return true;
    }

    /** {@return when the packet in transmission will have left; infinite if there is none} */
    double departureNs() {
        return departureNs;
    }

    /** {@return the packet that leaves at {@link #departureNs}; the next in order is in transmission from then on} */
    int poll() {
        final int packet = inTransmission;
        final double nowNs = departureNs;
        inTransmission = NONE;
        departureNs = Double.POSITIVE_INFINITY;
        idleSinceNs = nowNs;
        for (int queue = 0; queue < CLASSES && inTransmission == NONE; queue++) {
            if (heads[queue] != tails[queue]) {
                final long entry = rings[queue][heads[queue]++ & ringMask];
                transmit((int) (entry >>> LENGTH_BITS), queue, (int) (entry & LENGTH_MASK), nowNs);
            }
        }
        return packet;
    }

    private void transmit(final int packet, final int queue, final int lengthBytes, final double nowNs) {
        inTransmission = packet;
        inTransmissionClass = queue;
        departureNs = nowNs + lengthBytes * nsPerByte;
    }

    private boolean isPriority() {
        return model.discipline() == QueueModel.Discipline.STRICT_PRIORITY;
    }

    private int lengthPackets(final int queue) {
        return tails[queue] - heads[queue] + (inTransmission != NONE && inTransmissionClass == queue ? 1 : 0);
    }

    /** Random early detection; an idle time counts as so many typical packets that met an empty queue. */
    private boolean isRefusedEarly(final double nowNs) {
        final int length = lengthPackets(0);
        if (length > 0) {
            averageLength += model.weight() * (length - averageLength);
        } else {
            final double idlePackets = Math.max(0, nowNs - idleSinceNs) / typicalTransmissionNs;
            averageLength *= StrictMath.exp(idlePackets * logOfRemainder);
            idleSinceNs = nowNs;
        }
        if (averageLength < model.minimumThreshold()) {
            sinceDrop = NONE;
            return false;
        }
        if (averageLength >= model.maximumThreshold()) {
            sinceDrop = 0;
            return true;
        }
        sinceDrop++;
        final double share = model.maximumDropShare() * (averageLength - model.minimumThreshold()) /
            (model.maximumThreshold() - model.minimumThreshold());
        final double spread = sinceDrop * share < 1 ? share / (1 - sinceDrop * share) : 1;
        if (random.nextDouble() < spread) {
            sinceDrop = 0;
            return true;
        }
        return false;
    }
}
