/**
 * The sender's side of RLI (RLI paper, section III-B1): when a reference packet is due, by a policy per traffic class and below a
 * bandwidth ceiling, and its content. No socket and no clock: packets and times are parameters. Enums and policies are immutable,
 * for any thread; a type owns the memory that it allocates at construction.
 */
package io.flowlag.rli.sender;
