/**
 * Sketches of a segment's packets at one or both measurement points, and what the flow records get of them: packets are booked
 * into the interval in which they were sent, with the weight of their flow; an interval of both points is compared when all its
 * packets must have arrived, and records wait for that. After {@code flow}, before the metering agent.
 */
package io.flowlag.exporter.delay.interval;
