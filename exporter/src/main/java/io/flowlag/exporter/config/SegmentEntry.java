package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.exporter.config.ExporterConfig.Threading;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** An entry of the list of segments: its place in the file, and settings of which the given ones count. */
record SegmentEntry(Origin origin, Map<ConfigKey<?>, Setting> settings) {
    private static final int MOST_SHARED_PROCESSORS = 2;

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

    /** Leaves the comparison of clocks, which is for the whole process, to the segments that listen, if there are any. */
    static void compareClocksAtReceivers(final List<Map<ConfigKey<?>, Setting>> views) {
        if (views.stream().anyMatch(SegmentEntry::isListening)) {
            views.stream().filter((view) -> !isListening(view)).forEach((view) ->
                Stream.of(ConfigTable.CLOCK_CORRECT, ConfigTable.CLOCK_REFLECTOR)
                    .forEach((key) -> view.put(key, Setting.defaultOf(key))));
        }
    }

    /** Decides on threading auto. A point that may send references keeps a thread that nothing else delays. */
    static void chooseThreads(final List<Map<ConfigKey<?>, Setting>> views) {
        final boolean isShared = Runtime.getRuntime().availableProcessors() <= MOST_SHARED_PROCESSORS &&
            views.stream().noneMatch((view) -> ConfigTable.ROLE.cast(view.get(ConfigTable.ROLE).value()).isSender());
        final Threading threading = isShared ? Threading.SHARED : Threading.PIPELINED;
        views.stream().filter((view) -> view.get(ConfigTable.THREADING).value() == null)
            .forEach((view) -> view.put(ConfigTable.THREADING, new Setting(threading, threading.name().toLowerCase(Locale.ROOT),
                Origin.DEFAULT, "auto: " + (isShared ? "two processors or one" : "a thread for each stage"))));
    }

    private static boolean isListening(final Map<ConfigKey<?>, Setting> view) {
        return view.get(ConfigTable.EXCHANGE_LISTEN).value() != null;
    }
}
