package io.flowlag.exporter.listing;

/** Parts of a row whose columns a table has only where rows have them. */
public enum RowPart {
    TRAFFIC, DELAY, INTERPOLATED, SKETCH, TCP, SAMPLE, SPELL
}
