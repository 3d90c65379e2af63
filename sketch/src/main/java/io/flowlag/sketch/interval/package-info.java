/** Measurement intervals, and the generations of sketches that one thread fills while another reads. */
package io.flowlag.sketch.interval;
