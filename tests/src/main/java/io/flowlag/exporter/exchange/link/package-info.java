/** A sender's intervals in a file, for {@code bin/benchmark}: here, since it uses what the exchange shows to nobody else. */
package io.flowlag.exporter.exchange.link;
