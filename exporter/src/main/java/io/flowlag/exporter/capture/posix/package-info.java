/** The few calls of the C library that live sources make, and the interfaces of the host. Never used per packet. */
package io.flowlag.exporter.capture.posix;
