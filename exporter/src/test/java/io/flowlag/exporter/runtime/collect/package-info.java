/** Tests of {@code collect}: the formats, the ways it ends, and other programs' messages. */
package io.flowlag.exporter.runtime.collect;
