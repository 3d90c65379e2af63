/**
 * The process's environment: terminal, progress, log, signals, exit codes. Used by commands and process. Called by the command's
 * thread unless a type says otherwise. Not on the packet path; everything may allocate.
 */
package io.flowlag.exporter.terminal;
