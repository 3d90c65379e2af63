/**
 * Counters: one list, one writer each, and their sums. Used by every stage. Statistics are immutable, for any thread; creating
 * and writing them allocates.
 */
package io.flowlag.exporter.status;
