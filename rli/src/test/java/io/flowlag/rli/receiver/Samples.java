package io.flowlag.rli.receiver;

import java.util.ArrayList;
import java.util.List;

/** Keeps the samples of a receiver. */
final class Samples implements SampleHandler {
    record Sample(int slot, int generation, int classIndex, long intervalNumber, int lengthBytes, long arrivalNs, long delayNs) {
    }

    final List<Sample> all = new ArrayList<>();
    final List<Long> spanNumbers = new ArrayList<>();
    int liveGeneration = Integer.MIN_VALUE;

    @Override
    public boolean onSample(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs, final long spanNumber, final float errorScaleNs, final long delayNs) {
        all.add(new Sample(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs, delayNs));
        spanNumbers.add(spanNumber);
        return liveGeneration == Integer.MIN_VALUE || liveGeneration == generation;
    }

    List<Long> delaysNs() {
        return all.stream().map(Sample::delayNs).toList();
    }
}
