package io.flowlag.exporter.status;

/** Part of the memory of {@code run}: the octets that it may take, and those that it has now, null where nothing tells. */
public record MemoryUse(String name, long boundBytes, Long usedBytes) {
}
