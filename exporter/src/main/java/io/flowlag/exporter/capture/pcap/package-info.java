/** Live packets by libpcap, through pcap4j: for systems without the Linux packet ring. Allocates per packet. */
package io.flowlag.exporter.capture.pcap;
