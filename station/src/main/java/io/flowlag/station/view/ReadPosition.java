package io.flowlag.station.view;

/**
 * Where to go on in what a view reads; kept with what was read before.
 *
 * @param partition of a topic.
 * @param next      offset of the first record that is not read yet.
 */
public record ReadPosition(String partition, long next) {
}
