/**
 * Sends references on a live network and reads the host's state for that: sockets with transmit timestamps, the state of clock,
 * offload and queue. The calls for each reference allocate nothing and never block.
 */
package io.flowlag.exporter.reference;
