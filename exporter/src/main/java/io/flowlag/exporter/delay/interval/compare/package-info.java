/**
 * Compares an interval of the receiver point with the sender's and writes the results into the records of its flows.
 */
package io.flowlag.exporter.delay.interval.compare;
