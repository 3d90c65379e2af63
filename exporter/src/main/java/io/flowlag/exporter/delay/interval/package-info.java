/**
 * Sketches of a segment's packets at one or both measurement points, and the results that flow records get from them. A packet is
 * assigned to the interval in which it was sent, with the weight of its flow. Both points' intervals are compared when all
 * packets must have arrived; records wait for that. After {@code flow}, before the metering agent.
 */
package io.flowlag.exporter.delay.interval;
