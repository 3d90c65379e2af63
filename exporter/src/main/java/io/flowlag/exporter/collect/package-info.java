/**
 * What {@code flowlag collect} does: the Collecting Process of the {@code ipfix} module on its sockets or files, and its
 * records as text. {@link io.flowlag.exporter.collect.Collector} is the whole of it; the formats are defined by
 * {@link io.flowlag.exporter.collect.JsonFormatter}, {@link io.flowlag.exporter.collect.CsvFormatter} and
 * {@link io.flowlag.exporter.collect.TableFormatter}. Unless a type says otherwise it is used by the thread of the command,
 * which receives and prints; nothing here is on the packet's way, and all may allocate.
 */
package io.flowlag.exporter.collect;
