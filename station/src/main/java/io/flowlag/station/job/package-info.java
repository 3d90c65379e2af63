/**
 * The program on Apache Flink: operators that are thin around the library {@code network}. Times of streams are when messages
 * were received, so that no exporter's clock holds the windows up; windows are those of the records.
 */
package io.flowlag.station.job;
