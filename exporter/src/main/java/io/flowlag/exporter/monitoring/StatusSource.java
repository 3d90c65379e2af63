package io.flowlag.exporter.monitoring;

/** Source of a process's snapshots for its views. Safe from any thread. */
public interface StatusSource {
    /** {@return the newest snapshot; null before the first} */
    StatusSnapshot snapshot();

    /** {@return what is kept for the status page, as JSON; of a flow with a name if that is not null} */
    String history(String flow);
}
