package io.flowlag.exporter.runtime.collect;

/** How {@code collect} writes records: see {@link JsonFormatter}, {@link CsvFormatter} and {@link TableFormatter}. */
public enum CollectFormat {
    JSON, CSV, TABLE
}
