/**
 * Filters: tcpdump expressions compiled by libpcap to the classic Berkeley Packet Filter, which the kernel runs for live
 * interfaces and {@link io.flowlag.exporter.capture.filter.BpfFilter} for everything else.
 */
package io.flowlag.exporter.capture.filter;
