/**
 * Live packets by AF_XDP: an XDP program hands every packet that arrives at an interface to the process, and the host does not
 * see it. For mirror ports, on 64-bit x86 and ARM.
 */
package io.flowlag.exporter.capture.xdp;
