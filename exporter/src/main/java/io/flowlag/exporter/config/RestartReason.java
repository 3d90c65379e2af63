package io.flowlag.exporter.config;

/**
 * Why a reload does not apply a key: of interfaces, ports, files and threads; of tables and rings; of flow keys and elements; of
 * estimators, clocks and settings common to both points.
 */
public enum RestartReason {
    OPENED("opened at the start"),
    MEMORY("memory is taken at the start"),
    RECORDS("records under way are made with it"),
    MEASUREMENT("measurement under way depends on it");

    private final String text;

    RestartReason(final String text) {
        this.text = text;
    }

    /** {@return the reason in a few words} */
    public String text() {
        return text;
    }
}
