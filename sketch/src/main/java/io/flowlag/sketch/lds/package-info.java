/**
 * The Lossy Difference Sketch, the mapping of packets to cells, and sizing. A sketch owns the memory that it allocates at
 * construction; sizings and fits are immutable, for any thread.
 */
package io.flowlag.sketch.lds;
