/** Benchmarks (JMH): run by hand on a quiet machine, see each class for its command. */
package io.flowlag.tests.benchmark;
