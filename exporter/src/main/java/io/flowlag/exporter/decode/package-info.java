/**
 * From captured octets to a fixed-size {@link io.flowlag.exporter.decode.PacketDescriptor}: link layers, IP, transport headers,
 * tunnels, fragments, packet digest and segment flow hash. Untrusted octets are verified here, once.
 */
package io.flowlag.exporter.decode;
