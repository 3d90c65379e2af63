/**
 * What the process has in common with its surroundings: terminal, progress, log, signals, exit codes. Used by commands and
 * process. Unless a type says otherwise it is called by the command's thread. Nothing here is on the packet's way, and all may
 * allocate.
 */
package io.flowlag.exporter.terminal;
