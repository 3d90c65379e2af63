package io.flowlag.exporter.delay;

/**
 * A measurement interval that has ended, with its delays.
 *
 * @param firstNs the first packet of all.
 * @param isLast  whether no other follows.
 * @param delays  by stream.
 */
record EndedPeriod(
    long firstNs, long startNs, long endNs, boolean isLast, TrafficClasses classes, StreamDelays[] delays) {
}
