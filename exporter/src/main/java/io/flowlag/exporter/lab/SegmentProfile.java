package io.flowlag.exporter.lab;

import io.flowlag.rli.sender.EveryNPolicy;

import java.util.concurrent.TimeUnit;

/**
 * A segment in simulated time: traffic, load, queue and transmitter, references and faults. Immutable; equal profiles give equal
 * octets and times on every machine.
 *
 * @param traffic     flows, packets and sizes; its rate is not used.
 * @param capacityBps of the transmitter, bits/s of captured frames, more than 0.
 * @param queue       in front of the transmitter.
 * @param firstShare  of flows that are in class 0, the others are in class 1; 0 to 1.
 * @param firstDscp   of class 0, 0 to 63.
 * @param secondDscp  of class 1, 0 to 63.
 * @param references  that the sender injects; null for none.
 */
public record SegmentProfile(
    TrafficProfile traffic, LoadModel load, long capacityBps, QueueModel queue, double firstShare, int firstDscp,
    int secondDscp, ReferenceModel references, PathFaults faults) {
    /** Expedited forwarding (RFC 3246). */
    public static final int EXPEDITED_FORWARDING = 46;
    /** The default class (RFC 2474). */
    public static final int BEST_EFFORT = 0;

    private static final int DSCP_AT_MOST = 63;

    /** Checks the ranges. */
    public SegmentProfile {
        check(capacityBps > 0, "capacityBps=" + capacityBps + ": must be more than 0");
        check(firstShare >= 0 && firstShare <= 1, "firstShare=" + firstShare + ": must be 0 to 1");
        check(firstDscp >= 0 && firstDscp <= DSCP_AT_MOST, "firstDscp=" + firstDscp + ": must be 0 to 63");
        check(secondDscp >= 0 && secondDscp <= DSCP_AT_MOST, "secondDscp=" + secondDscp + ": must be 0 to 63");
    }

    /** One class, no references, no faults. */
    public static SegmentProfile of(
        final TrafficProfile traffic, final LoadModel load, final long capacityBps, final QueueModel queue) {
        return new SegmentProfile(
            traffic, load, capacityBps, queue, 0, EXPEDITED_FORWARDING, BEST_EFFORT, null, PathFaults.NONE);
    }

    /**
     * What {@code flowlag demo} shows: 200 flows, 20 000 packets, 20 Mbit/s for about 6 s, a load that swings between 30 and
     * 100 %, so that delays go from a tenth of a millisecond to about a hundred, and a reference for 20 packets.
     */
    public static SegmentProfile demo() {
        final LoadModel load = LoadModel.constant(0.65).swinging(0.3, 1.0, TimeUnit.MILLISECONDS.toNanos(2_900))
            .bursting(new LoadModel.Burstiness(0.15, TimeUnit.MILLISECONDS.toNanos(50)));
        return of(TrafficProfile.demo(), load, 20_000_000L, QueueModel.dropTail(100))
            .with(ReferenceModel.of(new EveryNPolicy(20)));
    }

    /** The same with other references; null for none. */
    public SegmentProfile with(final ReferenceModel others) {
        return with(load, queue, firstShare, others, faults);
    }

    /** The same with other faults. */
    public SegmentProfile with(final PathFaults others) {
        return with(load, queue, firstShare, references, others);
    }

    /** The same with another queue in front of the transmitter. */
    public SegmentProfile with(final QueueModel other) {
        return with(load, other, firstShare, references, faults);
    }

    /** The same with another load. */
    public SegmentProfile with(final LoadModel other) {
        return with(other, queue, firstShare, references, faults);
    }

    /** The same with another share of flows in class 0, 0 to 1. */
    public SegmentProfile withFirstShare(final double share) {
        return with(load, queue, share, references, faults);
    }

    private SegmentProfile with(
        final LoadModel otherLoad, final QueueModel otherQueue, final double share, final ReferenceModel otherReferences,
        final PathFaults otherFaults) {
        return new SegmentProfile(
            traffic, otherLoad, capacityBps, otherQueue, share, firstDscp, secondDscp, otherReferences, otherFaults);
    }

    int dscp(final int classIndex) {
        return classIndex == 0 ? firstDscp : secondDscp;
    }

    static void check(final boolean isGood, final String message) {
        if (!isGood) {
            throw new IllegalArgumentException(message);
        }
    }
}
