/**
 * RLI's estimates and LDS's cells solved together: the delays of all flows of an interval, each with a bound. A problem, its
 * estimator and all that they are made of are for one thread at a time. They own their memory, which is allocated at
 * construction by formulas; solving allocates nothing. Enums are immutable, for any thread.
 */
package io.flowlag.sketch.joint;
