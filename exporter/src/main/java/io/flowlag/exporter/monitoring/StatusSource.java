package io.flowlag.exporter.monitoring;

import java.util.List;

/** Where those who show a process get its state from. Safe from any thread. */
public interface StatusSource {
    /** {@return the newest state; null before the first} */
    StatusSnapshot snapshot();

    /** {@return what the status page draws, the oldest first} */
    List<HistoryRow> history();
}
