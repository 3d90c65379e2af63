/** The receiver point of a capture file, for {@code bin/benchmark}: here, since it uses what the process shows to nobody else. */
package io.flowlag.exporter.runtime;
