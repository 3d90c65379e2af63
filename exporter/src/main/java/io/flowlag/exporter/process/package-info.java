/**
 * The process: the stages put together from a configuration, run to their end by a conductor, with signals, progress and
 * statistics. What the commands call.
 */
package io.flowlag.exporter.process;
