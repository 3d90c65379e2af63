/** Counters: one list, one writer each, sums that hold. Used by every stage. */
package io.flowlag.exporter.status;
