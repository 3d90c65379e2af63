package io.flowlag.exporter.reconcile;

import io.flowlag.sketch.reconcile.PacketDetails;
import io.flowlag.sketch.reconcile.PacketDifference;

/** Takes what only one point has. */
@FunctionalInterface
public interface ReconcileTarget {
    /**
     * Called once for each traffic class in which something is listed.
     *
     * @param difference the list, valid during the call.
     * @param sent       knows the lost packets, as far as the sender point answered.
     * @param received   knows the packets of the receiver point.
     */
    void onListed(PacketDifference difference, PacketDetails sent, PacketDetails received);
}
