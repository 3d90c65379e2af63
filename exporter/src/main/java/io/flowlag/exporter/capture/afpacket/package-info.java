/**
 * Live packets of Linux's packet sockets, read where the kernel wrote them: its packet ring (packet(7), TPACKET_V3), or memory
 * that an eBPF program fills. On 64-bit x86 and ARM.
 */
package io.flowlag.exporter.capture.afpacket;
