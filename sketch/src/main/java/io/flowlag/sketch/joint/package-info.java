/**
 * Joint solution of RLI's estimates and LDS's cells: the delays of all flows of an interval, each with a bound. All types are for
 * one thread at a time. They own their memory, which is allocated at construction by formulas; solving allocates nothing. Enums
 * are immutable, for any thread.
 */
package io.flowlag.sketch.joint;
