/**
 * From captured octets to a fixed-size {@link io.flowlag.exporter.decode.PacketDescriptor}: link layers, IP, transport headers,
 * tunnels, fragments, packet digest and segment flow hash. Untrusted octets are verified here, once. A decoder and all that it
 * is made of belong to one thread and take their memory at construction; layers and layouts are static, have no state, and
 * serve any thread. Decoding allocates nothing.
 */
package io.flowlag.exporter.decode;
