/**
 * The receiver's side of RLI (RLI paper, III-B2, III-C): the interpolation buffer between a left and a right reference packet,
 * delay samples for the flows, and statistics of the references: distributions, interpolation error, clock drift. No socket and
 * no clock: packets and times are parameters. Enums are immutable, for any thread; a type owns the memory that it allocates at
 * construction.
 */
package io.flowlag.rli.receiver;
