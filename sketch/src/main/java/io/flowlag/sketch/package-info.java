/**
 * Delay sketches as a library: two measurement points summarise the packets of an interval in cells of (timestamp sum, packet
 * count, digest, bytes), and the difference of the two yields delays and losses of flows without a timestamp in any packet.
 *
 * <p>The packet's way: {@link io.flowlag.sketch.interval.IntervalSketches} finds the sketch of the packet's interval,
 * {@link io.flowlag.sketch.lds.LossyDifferenceSketch} or {@link io.flowlag.sketch.lda.LossyDifferenceAggregator} counts it in,
 * {@link io.flowlag.sketch.image.SketchImage} is what travels to the other point, and
 * {@link io.flowlag.sketch.estimate.FlowEstimator} or {@link io.flowlag.sketch.lda.LdaEstimator} compares. The inputs are
 * primitives: keyed hashes of flow and packet, nanoseconds, octets, a weight. Nothing here prints, logs, locks, or ends a
 * process.
 *
 * <p>Papers: LDS is "Sketching the Delay" (IMC 2011), LDA is "Router Support for Fine-Grained Latency Measurements" (ToN
 * 2012). Layouts, formulas, and test vectors are in {@code docs/sketch.md}.
 */
package io.flowlag.sketch;
