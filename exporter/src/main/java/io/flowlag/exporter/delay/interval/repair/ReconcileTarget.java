package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.SynopsisImage;

/** Takes what only one point has. */
@FunctionalInterface
public interface ReconcileTarget {
    /**
     * Called once, if something is listed.
     *
     * @param difference the list, valid during the call.
     * @param sent       knows the lost packets, as far as the sender point answered.
     * @param received   knows the packets of the receiver point.
     */
    void onListed(PacketDifference difference, PacketDetails sent, PacketDetails received);

    /**
     * Whether lost packets of a flow have a name at the receiver point, or need none. Asked when all is listed.
     *
     * @param flowHash of a flow with lost packets.
     * @return true if the sender point need not be asked for the flow's key.
     */
    default boolean isNamed(final long flowHash) {
        return true;
    }

    /**
     * The keys of flows that were not named, as far as the sender point has them. Called at most once, when all is listed.
     *
     * @param keys of family FLOW_KEYS, verified; valid during the call.
     */
    default void onFlowKeys(final SynopsisImage keys) {
        // whoever names every flow asks for none
    }
}
