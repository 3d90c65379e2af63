/**
 * Filters: tcpdump expressions compiled by libpcap to the classic Berkeley Packet Filter, which the kernel runs for live
 * interfaces and {@link io.flowlag.exporter.capture.filter.BpfFilter} for everything else. Programs are immutable, for any
 * thread; what is static has no state. Compiling allocates, running allocates nothing.
 */
package io.flowlag.exporter.capture.filter;
