package io.flowlag.sketch.reconcile;

/** Takes the packets that differ between two points, named by flow. */
@FunctionalInterface
public interface FlowLossHandler {
    /**
     * Called for each listed identifier whose flow is known.
     *
     * @param flowHash of the packets.
     * @param packets  more at the sender than at the receiver: lost; negative: more at the receiver.
     */
    void onLoss(long flowHash, long packets);
}
