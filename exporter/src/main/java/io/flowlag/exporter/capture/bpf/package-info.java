/** The system call bpf(2) without a C library of its own: maps, and programs that the kernel verifies. On Linux alone. */
package io.flowlag.exporter.capture.bpf;
