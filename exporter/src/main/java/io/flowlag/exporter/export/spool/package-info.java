/**
 * Flow records of one destination that wait on disk while their collector is away: bounded, checksummed, read again in order.
 * The exporting thread uses all of it, unless a type says otherwise; segments and their buffers belong to their spool. What is
 * static has no state.
 */
package io.flowlag.exporter.export.spool;
