/**
 * The data that a point keeps of an interval: settings, sums of flows, records of flows, held packets and counters. Comparison
 * and joint estimation read it.
 */
package io.flowlag.exporter.delay.interval.records;
