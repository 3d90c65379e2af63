package io.flowlag.exporter.lab;

/**
 * When the packets of a {@link LoadModel} come. Time is cut into steps of 10 µs; the rate is constant within a step, and the
 * next train comes when the rate has added up to an exponential variate of the mean train. One thread. Allocates at
 * construction.
 */
final class ArrivalTimes {
    private static final double STEP_NS = 10_000;
    private static final double BITS_PER_OCTET = 8;
    private static final double NS_PER_SECOND = 1e9;

    private final LoadModel load;
    private final LabRandom random;
    private final double capacityBitsPerNs;
    private final double newTrainShare;
    private final double meanTrainBits;
    private final double inputNsPerByte;
    private final double[] states;
    private final double[] persistences;
    private final double[] innovations;
    private final double variance;

    private double stepEndsNs;
    private double rateBitsPerNs;
    private double virtualNs;
    private double inputFreeNs;

    ArrivalTimes(final LoadModel load, final long capacityBps, final double meanPacketBytes, final long seed) {
        this.load = load;
        random = new LabRandom(seed);
        capacityBitsPerNs = capacityBps / NS_PER_SECOND;
        newTrainShare = 1 / load.trainPackets();
        meanTrainBits = meanPacketBytes * BITS_PER_OCTET * load.trainPackets();
        inputNsPerByte = load.inputBps() == 0 ? 0 : BITS_PER_OCTET * NS_PER_SECOND / load.inputBps();
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
     * The next packet.
     *
     * @param lengthBytes of the packet.
     * @return when it comes, whole ns since the start; not before the one before it.
     */
    long nextNs(final int lengthBytes) {
        if (random.nextDouble() < newTrainShare) {
            virtualNs = nextTrainNs();
        }
        final double startNs = Math.max(virtualNs, inputFreeNs);
        inputFreeNs = startNs + lengthBytes * inputNsPerByte;
        return (long) startNs;
    }

    private double nextTrainNs() {
        double wantedBits = random.nextExponential() * meanTrainBits;
        while (wantedBits > (stepEndsNs - virtualNs) * rateBitsPerNs) {
            wantedBits -= (stepEndsNs - virtualNs) * rateBitsPerNs;
            virtualNs = stepEndsNs;
            beginStep();
        }
        return virtualNs + wantedBits / rateBitsPerNs;
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
