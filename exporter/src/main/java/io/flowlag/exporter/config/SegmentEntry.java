package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;

import java.util.HashMap;
import java.util.Map;

/** An entry of the list of segments: its place in the file, and settings of which the given ones count. */
record SegmentEntry(Origin origin, Map<ConfigKey<?>, Setting> settings) {
    /** {@return settings of the whole process, with those of the entry in their place} */
    Map<ConfigKey<?>, Setting> over(final Map<ConfigKey<?>, Setting> common) {
        final Map<ConfigKey<?>, Setting> view = new HashMap<>(common);
        settings.forEach((key, setting) -> {
            if (!setting.origin().isDefault()) {
                view.put(key, setting);
            }
        });
        return view;
    }
}
