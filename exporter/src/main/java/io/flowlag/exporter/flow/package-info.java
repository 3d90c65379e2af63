/**
 * The flow cache: an off-heap table of cache-line-sized entries, a timer wheel in packet or clock time, and the end of flows.
 * It knows nothing of delay: stages that measure it keep their state in the octets that an entry reserves for them. A cache and
 * all that it is made of belong to one thread; layouts are static and have no state.
 */
package io.flowlag.exporter.flow;
