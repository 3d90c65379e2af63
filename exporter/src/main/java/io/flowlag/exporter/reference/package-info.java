/**
 * References onto a live network, and what must be known of the host for that: sockets with transmit timestamps, the state of
 * clock, offload and queue. What is called for a reference allocates nothing and never blocks.
 */
package io.flowlag.exporter.reference;
