/**
 * The checkpoint: copies of living flows in a file that survives a crash of the process. The metering stage gives copies
 * through a ring; one thread writes them; the next start takes them up. Nothing else uses Chronicle Map. What is static has no
 * state and serves any thread.
 */
package io.flowlag.exporter.checkpoint;
