/**
 * What a receiver makes of two measurement points' sketches: estimates of flows, each with what stands behind it. Estimators
 * and estimates are for one thread at a time and own what they take at construction; enums are immutable, for any thread.
 */
package io.flowlag.sketch.estimate;
