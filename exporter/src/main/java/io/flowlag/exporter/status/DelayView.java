package io.flowlag.exporter.status;

import java.util.List;

/** What the delay stage tells of itself while it works. Safe from any thread. */
public interface DelayView {
    /** {@return the last measurement interval that ended, by class: the same list until the next one ends} */
    List<DelaySummary> interval();

    /** {@return what the sketches say of the last interval: the same object until the next one; null without} */
    SketchStatistics sketches();

    /** {@return everything that it tells; allocates} */
    DelayStatistics statistics();
}
