/**
 * The configuration: one table of keys, checked whole before anything starts. Used by every stage. Read by the command's
 * thread, at start and on reload; what comes of it, {@link io.flowlag.exporter.config.ExporterConfig} with its records, is
 * immutable and for any thread. Nothing here is on the packet's way, and all may allocate.
 */
package io.flowlag.exporter.config;
