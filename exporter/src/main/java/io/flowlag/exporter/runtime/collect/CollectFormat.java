package io.flowlag.exporter.runtime.collect;

/** How {@code collect} writes records. */
public enum CollectFormat {
    /** See {@link JsonFormatter}. */
    JSON,
    /** See {@link CsvFormatter}. */
    CSV,
    /** See {@link TableFormatter}. */
    TABLE
}
