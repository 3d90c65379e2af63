/** The Lossy Difference Sketch and its simpler sibling, where their packets go, and how large they must be. */
package io.flowlag.sketch.lds;
