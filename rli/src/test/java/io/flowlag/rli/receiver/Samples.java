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
    public int onSamples(final DelaySamples samples) {
        int endedCount = 0;
        for (int i = 0; i < samples.count(); i++) {
            all.add(new Sample(samples.slot(i), samples.generation(i), samples.classIndex(i), samples.intervalNumber(i),
                samples.lengthBytes(i), samples.arrivalNs(i), samples.delayNs(i)));
            spanNumbers.add(samples.spanNumber());
            endedCount += liveGeneration == Integer.MIN_VALUE || liveGeneration == samples.generation(i) ? 0 : 1;
        }
        return endedCount;
    }

    /** The delay of the last packet of a slot. */
    long lastDelayNs(final int slot) {
        return all.stream().filter(sample -> sample.slot == slot).reduce((one, other) -> other).orElseThrow().delayNs;
    }

    List<Long> delaysNs() {
        return all.stream().map(Sample::delayNs).toList();
    }
}
