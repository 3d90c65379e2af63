/**
 * Solves references and sketches of an interval together, on a thread of its own.
 */
package io.flowlag.exporter.delay.interval.joint;
