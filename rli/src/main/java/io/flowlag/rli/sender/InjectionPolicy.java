package io.flowlag.rli.sender;

/**
 * The distance between reference packets. A policy is immutable and stateless. {@link InjectionScheduler} counts packets and
 * time, estimates the link's utilization, and after each reference asks the policy for the distances to the next; the one reached
 * first applies.
 */
public interface InjectionPolicy {
    /** No limit. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * Regular packets up to the next reference.
     *
     * @param utilization of the link, 0 for idle and 1 for full; NaN while unknown.
     * @return packets, 1 or more; {@link #UNLIMITED} if packets do not matter.
     */
    long packetGap(double utilization);

    /** {@return time up to the next reference, ns, more than 0; {@link #UNLIMITED} when time does not matter} */
    long timeGapNs();

    /** {@return true if the policy depends on the utilization, and so on the configured capacity} */
    default boolean isAdaptive() {
        return false;
    }
}
