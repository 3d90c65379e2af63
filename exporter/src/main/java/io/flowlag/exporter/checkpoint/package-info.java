/**
 * The checkpoint: copies of living flows in a file that survives a crash of the process. The metering stage passes copies
 * through a ring; one thread writes them; the next start restores them. Only this package uses Chronicle Map. Static members
 * are stateless and serve any thread.
 */
package io.flowlag.exporter.checkpoint;
