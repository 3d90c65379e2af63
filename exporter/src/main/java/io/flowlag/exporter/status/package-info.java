/**
 * Counters: one list, one writer each, sums that hold. Used by every stage. Statistics are immutable once made, for any thread;
 * making and writing them allocates.
 */
package io.flowlag.exporter.status;
