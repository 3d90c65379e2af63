/** Sketches of the packets of an interval: who weighs what. After {@code flow}, before {@code metering}. */
package io.flowlag.exporter.sketching;
