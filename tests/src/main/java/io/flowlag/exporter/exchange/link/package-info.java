/** A sender's intervals in a file, for {@code bin/benchmark}. It is in this package because it uses package-private types. */
package io.flowlag.exporter.exchange.link;
