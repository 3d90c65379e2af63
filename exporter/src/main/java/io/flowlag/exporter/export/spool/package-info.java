/**
 * Flow records of one destination on disk while their collector is unreachable: bounded, checksummed, read in order. The
 * exporting thread uses all of it, unless a type says otherwise. Segments and their buffers belong to their spool. Static members
 * are stateless.
 */
package io.flowlag.exporter.export.spool;
