/**
 * The Lossy Difference Sketch and its simpler sibling, where their packets go, and how large they must be. What a sketch takes
 * at construction is its own; sizings and fits are immutable, for any thread.
 */
package io.flowlag.sketch.lds;
