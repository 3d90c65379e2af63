/**
 * The collector of {@code flowlag collect}: receives IPFIX on sockets or from files and prints the records. The entry is
 * {@link io.flowlag.exporter.runtime.collect.Collector}; one formatter writes each format. Runs on the command's thread unless a
 * type says otherwise. It is not on the packet path and may allocate.
 */
package io.flowlag.exporter.runtime.collect;
