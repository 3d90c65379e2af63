package io.flowlag.rli.receiver;

/** Takes delay samples. Called by the receiver's thread; must not throw. */
@FunctionalInterface
public interface SampleHandler {
    /**
     * One packet's estimated delay.
     *
     * @param slot           of the packet's flow.
     * @param generation     of the slot when the packet came.
     * @param classIndex     of the packet.
     * @param intervalNumber of the packet.
     * @param lengthBytes    of the packet.
     * @param arrivalNs      of the packet.
     * @param delayNs        estimated, signed.
     * @return false if the slot has another generation now: the flow has ended, and the sample has gone nowhere.
     */
    boolean onSample(
        int slot, int generation, int classIndex, long intervalNumber, int lengthBytes, long arrivalNs, long delayNs);
}
