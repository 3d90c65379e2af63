/**
 * Packets in: capture files, Linux packet rings and libpcap behind one interface,
 * {@link io.flowlag.exporter.capture.PacketSource}. The first stage of the packet's way; the next is {@code decode}. Sources
 * are opened by the thread that starts the process, which may allocate, and belong to the one that polls them from then on.
 * Enums and options are immutable, for any thread.
 */
package io.flowlag.exporter.capture;
