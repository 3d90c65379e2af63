/**
 * Keyed hashing that gives the same value on every machine: what two measurement points know a packet or a flow by. What is
 * static has no state and serves any thread.
 */
package io.flowlag.common.hash;
