/**
 * Set reconciliation of two points' packets: synopses that list the packets that only one point has, and give mean and standard
 * deviation of the delay of all others. Specification: {@code docs/reconciliation.md}. Papers: "Every Timestamp Counts" (RDA),
 * "Fine-grained latency and loss measurements in the presence of reordering" (FineComb), "What's the Difference?" (SIGCOMM 2011).
 * A type owns the memory that it allocates at construction and is for one thread at a time; that thread also calls handlers.
 * Enums are immutable, for any thread.
 */
package io.flowlag.sketch.reconcile;
