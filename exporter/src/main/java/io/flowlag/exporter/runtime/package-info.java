/**
 * The process: the stages put together from a configuration, run to their end by a conductor, with signals, progress and
 * statistics. What the commands call. The command's thread runs a process and is its conductor; what the conductor is made of
 * belongs to that thread, unless a type says otherwise, and may allocate. What is static has no state.
 */
package io.flowlag.exporter.runtime;
