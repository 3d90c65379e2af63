package io.flowlag.exporter.lab;

/**
 * When the packets of a {@link LoadModel} come. Time is cut into steps of 10 µs; the rate is constant within a step, and the
 * next packet comes when the rate has added up to an exponential variate of the mean packet. One thread. Allocates at
 * construction.
 */
final class ArrivalTimes {
    private static final double STEP_NS = 10_000;
    private static final double BITS_PER_OCTET = 8;
    private static final double NS_PER_SECOND = 1e9;

    private final LoadModel load;
    private final LabRandom random;
    private final double capacityBitsPerNs;
    private final double meanPacketBits;
    private final double[] states;
    private final double[] persistences;
    private final double[] innovations;
    private final double variance;

    private double stepEndsNs;
    private double rateBitsPerNs;
    private double arrivalNs;

    ArrivalTimes(final LoadModel load, final long capacityBps, final double meanPacketBytes, final long seed) {
        this.load = load;
        random = new LabRandom(seed);
        capacityBitsPerNs = capacityBps / NS_PER_SECOND;
        meanPacketBits = meanPacketBytes * BITS_PER_OCTET;
        final int count = load.bursts().size();
        states = new double[count];
        persistences = new double[count];
        innovations = new double[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            final LoadModel.Burstiness burstiness = load.bursts().get(i);
            persistences[i] = StrictMath.exp(-STEP_NS / burstiness.correlationNs());
            innovations[i] = burstiness.deviation() * StrictMath.sqrt(1 - persistences[i] * persistences[i]);
            states[i] = burstiness.deviation() * random.nextGaussian();
            sum += burstiness.deviation() * burstiness.deviation();
        }
        variance = sum;
        beginStep();
    }

    /**
     * The next packet. One number of the sequence is left out for each: the pages' figures were drawn so. Returns when it comes,
     * whole ns since the start; not before the one before it.
     */
    long nextNs() {
        random.nextLong();
        double wantedBits = random.nextExponential() * meanPacketBits;
        while (wantedBits > (stepEndsNs - arrivalNs) * rateBitsPerNs) {
            wantedBits -= (stepEndsNs - arrivalNs) * rateBitsPerNs;
            arrivalNs = stepEndsNs;
            beginStep();
        }
        arrivalNs += wantedBits / rateBitsPerNs;
        return (long) arrivalNs;
    }

    private void beginStep() {
        double x = 0;
        for (int i = 0; i < states.length; i++) {
            states[i] = persistences[i] * states[i] + innovations[i] * random.nextGaussian();
            x += states[i];
        }
        rateBitsPerNs = capacityBitsPerNs * load.meanUtilization(stepEndsNs) * StrictMath.exp(x - variance / 2);
        stepEndsNs += STEP_NS;
    }
}
