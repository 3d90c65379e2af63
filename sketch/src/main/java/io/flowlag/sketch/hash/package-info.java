/** Keyed hashing that gives the same value on every machine: what two measurement points know a packet or a flow by. */
package io.flowlag.sketch.hash;
