/**
 * Benchmarks: {@code bin/benchmark}. {@code jmh} measures stages and the whole path in memory, {@code files} compares the program
 * with other exporters on the same captures, {@code live} captures from an interface. Run on a quiet machine.
 */
package io.flowlag.tests.benchmark;
