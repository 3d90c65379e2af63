package io.flowlag.ipfix.collect;

/**
 * What is known of the sequence numbers of an Observation Domain in a Transport Session. Immutable.
 *
 * @param expected          the next message's, modulo 2^32.
 * @param exportTimeSeconds the latest Export Time, seconds since the epoch, modulo 2^32.
 * @param outstanding       records missing in gaps that late messages may still fill.
 */
public record SequenceState(int expected, int exportTimeSeconds, long outstanding) {
}
