package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonFilter;

/** A part of the statistics with values that are not always known. */
@JsonFilter("known")
interface PartlyKnown {
    /** Whether a value is known, by its label in JSON; null is unknown in any case. */
    boolean knows(String label);
}
