/** Receives IPFIX and hands whole messages on, undecoded. */
package io.flowlag.station.inlet;
