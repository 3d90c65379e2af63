/** Delay per flow: what the packets of two points say about each other. */
package io.flowlag.exporter.delay;
