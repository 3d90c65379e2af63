package io.flowlag.rli.receiver;

import java.util.Random;

/**
 * A FIFO queue in simulated time, with Poisson arrivals in bursts of load: each packet leaves after those before it and after its
 * own transmission.
 */
final class FifoModel {
    static final double MEAN_LENGTH_BYTES = (1500 + 2 * (64 + 249.5)) / 3;

    final double nsPerByte;
    final Random random;
    private final double utilization;
    private double freeNs;
    private double nowNs;

    FifoModel(final long capacityBps, final double utilization, final long seed) {
        nsPerByte = 8e9 / capacityBps;
        this.utilization = utilization;
        random = new Random(seed);
    }

    /** Time of the next regular packet, whatever its size; the load swings slowly by a third. */
    long nextArrivalNs() {
        final double load = utilization * (1 + 0.33 * Math.sin(nowNs / 3e6));
        nowNs += -Math.log(1 - random.nextDouble()) * MEAN_LENGTH_BYTES * nsPerByte / load;
        return Math.round(nowNs);
    }

    int nextLengthBytes() {
        return random.nextInt(3) == 0 ? 1500 : 64 + random.nextInt(500);
    }

    long departureNs(final long arrivalNs, final int lengthBytes) {
        freeNs = Math.max(freeNs, arrivalNs) + lengthBytes * nsPerByte;
        return Math.round(freeNs);
    }
}
