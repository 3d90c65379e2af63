package io.flowlag.exporter.status;

/**
 * What one source gave. Immutable.
 *
 * @param name         a path or an interface.
 * @param captured     packets taken from it, filtered ones included.
 * @param filtered     packets that a filter in the process kept back.
 * @param lostInKernel packets that the kernel lost.
 * @param damage       why it ended early, or null.
 */
public record SourceStatistics(String name, long captured, long filtered, long lostInKernel, String damage) {
}
