package io.flowlag.exporter.config;

import java.util.LinkedHashMap;
import java.util.Map;

/** A destination as written: its address and its own settings. Filled by {@link ConfigLoader}, read at conclusion. */
final class DestinationSpec {
    private final Origin origin;
    private final DestinationUri uri;
    private final Map<ConfigKey<?>, Setting> overrides = new LinkedHashMap<>();

    DestinationSpec(final Origin origin, final DestinationUri uri) {
        this.origin = origin;
        this.uri = uri;
    }

    Origin origin() {
        return origin;
    }

    DestinationUri uri() {
        return uri;
    }

    /** Adds an own setting; returns the earlier setting of the same key, or null. */
    Setting override(final ConfigKey<?> key, final Setting setting) {
        return overrides.putIfAbsent(key, setting);
    }

    Map<ConfigKey<?>, Setting> overrides() {
        return overrides;
    }
}
