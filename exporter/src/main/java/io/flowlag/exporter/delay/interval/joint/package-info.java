/** Solves references and sketches of an interval together, on its own thread. */
package io.flowlag.exporter.delay.interval.joint;
