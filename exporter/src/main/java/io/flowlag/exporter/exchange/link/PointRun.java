package io.flowlag.exporter.exchange.link;

/**
 * Who an end is, as its HELLO says.
 *
 * @param pointId  observation point; senders of one receiver differ in it.
 * @param instance random number of this run of the process, the same for all of its ends.
 */
public record PointRun(long pointId, long instance) {
}
