/**
 * Exact matching: every packet of a segment known at both points by its digest, what became of each, and per 5-tuple the
 * counts and delays that follow. Where both points are in one process this is the truth that estimates are judged by.
 */
package io.flowlag.exporter.match;
