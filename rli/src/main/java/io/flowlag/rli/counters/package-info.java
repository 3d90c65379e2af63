/**
 * Counts: the per-flow delay state of RLI (count, sum and sum of squares of delay samples, with minimum and maximum), and the
 * counters of the sender and the receiver.
 */
package io.flowlag.rli.counters;
