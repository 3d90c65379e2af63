/**
 * Filters: tcpdump expressions compiled by libpcap to the classic Berkeley Packet Filter. The kernel runs them for live
 * interfaces, {@link io.flowlag.exporter.capture.filter.BpfFilter} for everything else. Programs are immutable, for any thread;
 * static members are stateless. Compiling allocates, running allocates nothing.
 */
package io.flowlag.exporter.capture.filter;
