/**
 * Exact matching: recognises every packet of a segment at both points by its digest, and derives its result and the counts and
 * delays of each 5-tuple. Where both points are in one process this is the ground truth for estimates. All parts of a matcher
 * belong to the thread that owns it.
 */
package io.flowlag.exporter.delay.exact;
