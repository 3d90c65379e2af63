/**
 * The sender's side of RLI (RLI paper, section III-B1): when a reference packet is due, by a policy per traffic class and below
 * a bandwidth ceiling, and what goes into it. No socket and no clock: packets and times come in as parameters. Enums and
 * policies are immutable, for any thread; what a type takes at construction is its own.
 */
package io.flowlag.rli.sender;
