/**
 * Packet input: capture files, Linux packet rings and libpcap behind one interface, {@link
 * io.flowlag.exporter.capture.PacketSource}. The first stage of the packet path; the next is {@code decode}. The thread that
 * starts the process opens sources and may allocate; then they belong to the thread that polls them. Enums and options are
 * immutable, for any thread.
 */
package io.flowlag.exporter.capture;
