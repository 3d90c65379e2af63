/**
 * The flow cache: an off-heap table of cache-line-sized entries, a timer wheel in packet or clock time, and the end of flows.
 * It does not handle delay: stages that measure it keep their state in the octets that an entry reserves for them. A cache and
 * all its parts belong to one thread; layouts are static and stateless.
 */
package io.flowlag.exporter.flow;
