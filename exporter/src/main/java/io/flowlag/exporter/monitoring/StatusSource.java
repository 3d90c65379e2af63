package io.flowlag.exporter.monitoring;

import java.util.List;

/** Source of a process's snapshots for its views. Safe from any thread. */
public interface StatusSource {
    /** {@return the newest snapshot; null before the first} */
    StatusSnapshot snapshot();

    /** {@return the rows of the status page, the oldest first} */
    List<HistoryRow> history();
}
