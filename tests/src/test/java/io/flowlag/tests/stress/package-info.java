/**
 * Visibility between two threads, tried millions of times by jcstress: the ring between stages, and the swap of an interval's
 * sketches. {@link io.flowlag.tests.stress.StressTest} runs the others.
 */
package io.flowlag.tests.stress;
