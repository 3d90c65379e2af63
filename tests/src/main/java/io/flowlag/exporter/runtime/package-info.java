/**
 * The receiver point of a capture file, for {@code bin/benchmark}. It is in this package because it uses package-private types.
 */
package io.flowlag.exporter.runtime;
