/**
 * Set reconciliation of two points' packets: synopses that list the packets which only one point has, and give mean and
 * standard deviation of the delay of all others. Specification: {@code docs/reconciliation.md}. Papers: "Every Timestamp
 * Counts" (RDA), "Fine-grained latency and loss measurements in the presence of reordering" (FineComb), "What's the
 * Difference?" (SIGCOMM 2011). What a type takes at construction is its own; it is for one thread at a time, and handlers are
 * called by that thread. Enums are immutable, for any thread.
 */
package io.flowlag.sketch.reconcile;
