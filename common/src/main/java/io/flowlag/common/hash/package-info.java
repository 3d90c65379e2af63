/**
 * Keyed hashing with equal results on every machine; two measurement points identify packets and flows by it. Static methods have
 * no state and serve any thread.
 */
package io.flowlag.common.hash;
