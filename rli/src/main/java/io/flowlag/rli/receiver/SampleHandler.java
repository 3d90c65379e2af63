package io.flowlag.rli.receiver;

/**
 * Receives delay samples. Called by the receiver's thread; must not throw. The receiver owns the samples; they are valid only
 * during the call.
 */
@FunctionalInterface
public interface SampleHandler {
    /**
     * The estimated delays of packets of one stream.
     *
     * @return how many of them were dropped, because their slot has another generation now: the flow has ended.
     */
    int onSamples(DelaySamples samples);
}
