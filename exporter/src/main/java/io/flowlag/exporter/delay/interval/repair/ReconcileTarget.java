package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.SynopsisImage;

/** Receives the packets that only one point has. */
@FunctionalInterface
public interface ReconcileTarget {
    /**
     * Called once, if something is listed.
     *
     * @param difference the list; valid during the call.
     * @param sent       details of the lost packets, as far as the sender point answered.
     * @param received   details of the receiver point's packets.
     */
    void onListed(PacketDifference difference, PacketDetails sent, PacketDetails received);

    /** Whether the key of a flow with lost packets need not be requested. Called when the list is complete. */
    default boolean isNamed(final long flowHash) {
        return true;
    }

    /**
     * Receives the keys of unnamed flows, as far as the sender point has them. Called at most once, when the list is complete.
     *
     * @param keys of family FLOW_KEYS, verified; valid during the call.
     */
    default void onFlowKeys(final SynopsisImage keys) {
        // a target that names every flow requests no keys
    }
}
