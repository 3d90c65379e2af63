/**
 * The receiver's side of RLI (RLI paper, III-B2, III-C): the interpolation buffer between a left and a right reference packet,
 * delay samples for the flows, and what the references alone say: distributions, the interpolation's error, clock drift. No
 * socket and no clock: packets and times come in as parameters. Enums are immutable, for any thread; what a type takes at
 * construction is its own.
 */
package io.flowlag.rli.receiver;
