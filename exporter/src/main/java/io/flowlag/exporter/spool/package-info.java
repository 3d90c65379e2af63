/**
 * Flow records of one destination that wait on disk while their collector is away: bounded, checksummed, read again in order.
 */
package io.flowlag.exporter.spool;
