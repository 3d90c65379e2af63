package io.flowlag.exporter.config;

/** Why a running process does not take a new value of a key over. */
public enum RestartReason {
    /** Interfaces, ports, files and threads. */
    OPENED("opened at the start"),
    /** Tables and rings. */
    MEMORY("memory is taken at the start"),
    /** Flow keys and elements. */
    RECORDS("records under way are made with it"),
    /** Estimators, clocks and what both points agreed on. */
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
