package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A destination as written. Filled by {@link ConfigLoader}, read at conclusion.
 *
 * @param overrides its own settings.
 */
record DestinationSpec(Origin origin, DestinationUri uri, Map<ConfigKey<?>, Setting> overrides) {
    DestinationSpec(final Origin origin, final DestinationUri uri) {
        this(origin, uri, new LinkedHashMap<>());
    }
}
