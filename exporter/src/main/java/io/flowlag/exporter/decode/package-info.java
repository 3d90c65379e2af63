/**
 * From captured octets to a fixed-size {@link io.flowlag.exporter.decode.PacketDescriptor}: link layers, IP, transport headers,
 * tunnels, fragments, packet digest and segment flow hash. Untrusted octets are verified here, once. A decoder and all its
 * parts belong to one thread and allocate at construction. Layers and layouts are static, stateless, and serve any thread.
 * Decoding allocates nothing.
 */
package io.flowlag.exporter.decode;
