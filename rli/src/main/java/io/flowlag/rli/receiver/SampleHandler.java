package io.flowlag.rli.receiver;

/**
 * Receives delay samples. Called by the receiver's thread; must not throw. The receiver owns the samples; they are valid only
 * during the call.
 */
@FunctionalInterface
public interface SampleHandler {
    /**
     * One packet's estimated delay.
     *
     * @param generation   of the slot when the packet came.
     * @param spanNumber   of the span of two gaps between references that the packet lies in: samples of one span have an error
     *                     in common. Each stream numbers its own.
     * @param errorScaleNs scale of the sample's error, ns; 0 while unknown.
     * @param delayNs      estimated, signed.
     * @return false if the slot has another generation now: the flow has ended, and the sample was dropped.
     */
    boolean onSample(
        int slot, int generation, int classIndex, long intervalNumber, int lengthBytes, long arrivalNs, long spanNumber,
        float errorScaleNs, long delayNs);

    /**
     * The estimated delays of several packets, equivalent to one {@link #onSample} for each.
     *
     * @param samples of the packets, valid during the call.
     * @return number of dropped samples.
     */
    default int onSamples(final DelaySamples samples) {
        int endedCount = 0;
        for (int i = 0; i < samples.count(); i++) {
            endedCount += onSample(
                samples.slot(i), samples.generation(i), samples.classIndex(i), samples.intervalNumber(i),
                samples.lengthBytes(i), samples.arrivalNs(i), samples.spanNumber(), samples.errorScaleNs(i), samples.delayNs(i)) ?
                0 : 1;
        }
        return endedCount;
    }
}
