package io.flowlag.exporter.config;

/** Why a reload does not apply a key. */
public enum RestartReason {
    /** Interfaces, ports, files and threads. */
    OPENED("opened at the start"),
    /** Tables and rings. */
    MEMORY("memory is taken at the start"),
    /** Flow keys and elements. */
    RECORDS("records under way are made with it"),
    /** Estimators, clocks and settings common to both points. */
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
