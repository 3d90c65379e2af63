/**
 * Live packets from the Linux kernel's packet ring (packet(7), TPACKET_V3), read where the kernel wrote them. On 64-bit x86 and
 * ARM.
 */
package io.flowlag.exporter.capture.afpacket;
