/** How messages of {@code docs/station} travel between operators, processes and topics. */
package io.flowlag.station.wire;
