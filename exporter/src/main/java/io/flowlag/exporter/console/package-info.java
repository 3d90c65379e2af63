/**
 * What the process has in common with its surroundings: terminal, progress, log, signals, exit codes. Used by commands and
 * process.
 */
package io.flowlag.exporter.console;
