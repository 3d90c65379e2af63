package io.flowlag.exporter.lab;

/**
 * The queue in front of a simulated transmitter. Limits and thresholds are in packets; the packet in transmission counts.
 *
 * @param discipline       order and kind of loss.
 * @param limitPackets     of the queue, of each class or path where there are two; 1 or more.
 * @param minimumThreshold RED: average length from which packets are dropped at random.
 * @param maximumThreshold RED: average length from which every packet is dropped.
 * @param weight           RED: of the newest length in the average.
 * @param maximumDropShare RED: of packets as the average comes to the maximum threshold.
 */
public record QueueModel(
    Discipline discipline, int limitPackets, int minimumThreshold, int maximumThreshold, double weight,
    double maximumDropShare) {
    /** Order and kind of loss. */
    public enum Discipline {
        /** First come, first served; what does not fit is lost. */
        DROP_TAIL,
        /** First come, first served; random early detection (Floyd and Jacobson 1993), not gentle. */
        RED,
        /** Two classes; the first is always served before the second, a packet in transmission is not interrupted. */
        STRICT_PRIORITY,
        /** Two links side by side, each with a FIFO and the whole capacity; the class says which one a packet takes. */
        PARALLEL_PATHS
    }

    /** Checks the ranges and relations. */
    public QueueModel {
        SegmentProfile.check(limitPackets >= 1, "limitPackets=" + limitPackets + ": must be at least 1");
        if (discipline == Discipline.RED) {
            SegmentProfile.check(
                minimumThreshold >= 0 && minimumThreshold < maximumThreshold,
                "minimumThreshold=" + minimumThreshold + ": must be 0 or more and below maximumThreshold=" + maximumThreshold);
            SegmentProfile.check(weight > 0 && weight < 1, "weight=" + weight + ": must be above 0 and below 1");
            SegmentProfile.check(
                maximumDropShare > 0 && maximumDropShare <= 1,
                "maximumDropShare=" + maximumDropShare + ": must be above 0, up to 1");
        }
    }

    public static QueueModel dropTail(final int limitPackets) {
        return new QueueModel(Discipline.DROP_TAIL, limitPackets, 0, 0, 0, 0);
    }

    /** Two classes, the first before the second. */
    public static QueueModel strictPriority(final int limitPackets) {
        return new QueueModel(Discipline.STRICT_PRIORITY, limitPackets, 0, 0, 0, 0);
    }

    /** Two links side by side, as equal-cost routes have them. */
    public static QueueModel parallelPaths(final int limitPackets) {
        return new QueueModel(Discipline.PARALLEL_PATHS, limitPackets, 0, 0, 0, 0);
    }

    /** {@return how many transmitters there are} */
    int pathCount() {
        return discipline == Discipline.PARALLEL_PATHS ? 2 : 1;
    }

    /** {@return how many packets the queue holds at most, all classes and paths together} */
    int packetsAtMost() {
        return discipline == Discipline.STRICT_PRIORITY || discipline == Discipline.PARALLEL_PATHS ?
            2 * limitPackets : limitPackets;
    }
}
