/**
 * Estimates of flows from two measurement points' sketches, each with its evidence. Estimators and estimates are for one thread
 * at a time and own the memory that they allocate at construction; enums are immutable, for any thread.
 */
package io.flowlag.sketch.estimate;
