package io.flowlag.tests.lab.sketch;

/** One-way delays that were measured on 5G links. */
enum MeasuredDelays {
    /** Ultra-reliable low-latency, millimetre waves, downlink. */
    URLLC_DOWNLINK("URLLC downlink", "delay-5g-downlink.csv"),
    /** The same, uplink. */
    URLLC_UPLINK("URLLC uplink", "delay-5g-urllc-uplink.csv"),
    /** Mid-band, downlink. */
    MIDBAND_DOWNLINK("mid-band downlink", "delay-5g-midband-downlink.csv"),
    /** Mid-band, uplink. */
    MIDBAND_UPLINK("mid-band uplink", "delay-5g-midband-uplink.csv"),
    /** Millimetre waves, downlink. */
    MMWAVE_DOWNLINK("millimetre-wave downlink", "delay-5g-mmwave-downlink.csv"),
    /** Millimetre waves, uplink. */
    MMWAVE_UPLINK("millimetre-wave uplink", "delay-5g-mmwave-uplink.csv");

    private static final double NS_PER_US = 1e3;

    final String title;
    private final MeasuredQuantiles quantilesUs;

    MeasuredDelays(final String title, final String file) {
        this.title = title;
        quantilesUs = new MeasuredQuantiles(file);
    }

    /** The delay that a share of the packets does not exceed, ns. */
    long delayNs(final double share) {
        return Math.round(NS_PER_US * quantilesUs.linear(share));
    }
}
