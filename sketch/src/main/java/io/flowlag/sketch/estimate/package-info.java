/** What a receiver makes of two measurement points' sketches: estimates of flows, each with what stands behind it. */
package io.flowlag.sketch.estimate;
