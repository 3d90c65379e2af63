package io.flowlag.rli.sender;

/**
 * How far apart reference packets are. A policy is immutable and has no state: {@link InjectionScheduler} counts packets and
 * time, estimates the link's utilization, and asks the policy after each reference for the distance to the next; whichever of
 * the two distances is reached first ends the wait.
 */
public interface InjectionPolicy {
    /** No limit. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * Regular packets up to the next reference.
     *
     * @param utilization of the link, 0 for idle and 1 for full; not a number while nothing is known.
     * @return packets, 1 or more; {@link #UNLIMITED} when packets do not matter.
     */
    long packetGap(double utilization);

    /** {@return time up to the next reference, ns, more than 0; {@link #UNLIMITED} when time does not matter} */
    long timeGapNs();

    /** {@return true if the policy depends on the utilization, and so on the configured capacity} */
    boolean isAdaptive();
}
