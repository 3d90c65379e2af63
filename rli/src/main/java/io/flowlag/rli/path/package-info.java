/**
 * Paths of equal cost: which source ports of references share a path, and which path a flow takes. Nothing here knows packets;
 * it takes ports, slots, times in ns and delays in ns.
 */
package io.flowlag.rli.path;
