/**
 * Exact matching: every packet of a segment known at both points by its digest, what became of each, and per 5-tuple the counts
 * and delays that follow. Where both points are in one process this is the truth that estimates are judged by. What a matcher
 * is made of belongs to the thread that owns the matcher.
 */
package io.flowlag.exporter.delay.exact;
