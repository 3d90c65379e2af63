package io.flowlag.exporter.listing;

/** Formats of flows and records: aligned columns, an object a line, comma-separated values. */
public enum RowFormat {
    TABLE, JSON, CSV
}
