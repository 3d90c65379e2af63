/**
 * Packets in: capture files, Linux packet rings and libpcap behind one interface,
 * {@link io.flowlag.exporter.capture.PacketSource}. The first stage of the packet's way; the next is {@code decode}.
 */
package io.flowlag.exporter.capture;
