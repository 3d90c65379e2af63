package io.flowlag.sketch.reconcile;

/** Takes the packets that differ between two points, named by flow. */
@FunctionalInterface
public interface FlowLossHandler {
    /**
     * Called for each listed identifier whose flow is known.
     *
     * @param classIndex of the packets at the sender; at the receiver, if the sender has none.
     * @param packets    more at the sender than at the receiver: lost; negative: more at the receiver.
     * @param common     copies that both points have but that cannot be paired: they have no delay.
     */
    void onLoss(long identifier, long flowHash, int classIndex, long packets, long common);
}
