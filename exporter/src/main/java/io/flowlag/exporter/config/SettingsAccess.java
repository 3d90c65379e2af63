package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Typed access to the settings of all keys, for the classes that check them and build sections from them. One thread. */
abstract class SettingsAccess {
    static final List<ConfigKey<Path>> EXCHANGE_CREDENTIALS = List.of(
        ConfigTable.EXCHANGE_TLS_CERTIFICATE, ConfigTable.EXCHANGE_TLS_KEY, ConfigTable.EXCHANGE_TLS_TRUST);

    private final Map<ConfigKey<?>, Setting> settings;
    private final Problems problems;

    SettingsAccess(final Map<ConfigKey<?>, Setting> settings, final Problems problems) {
        this.settings = settings;
        this.problems = problems;
    }

    final Problems problems() {
        return problems;
    }

    final Setting setting(final ConfigKey<?> key) {
        return settings.get(key);
    }

    /** The setting of a destination: its own, or the common one. */
    final Setting setting(final DestinationSpec spec, final ConfigKey<?> key) {
        return spec.overrides().getOrDefault(key, settings.get(key));
    }

    final <T> T value(final ConfigKey<T> key) {
        return key.cast(settings.get(key).value());
    }

    final boolean isDefault(final ConfigKey<?> key) {
        return settings.get(key).origin().isDefault();
    }

    /** Whether a key of the exchange's TLS is given; the credentials are needed then. */
    final boolean hasExchangeTls() {
        return EXCHANGE_CREDENTIALS.stream().anyMatch((key) -> value(key) != null) ||
            !value(ConfigTable.EXCHANGE_TLS_PEERS).isEmpty();
    }

    final void replace(final ConfigKey<?> key, final Setting setting) {
        settings.put(key, setting);
    }

    /** Replaces a default. */
    final <T> void giveWay(final ConfigKey<T> key, final T value, final String text, final String note) {
        settings.put(key, new Setting(value, text, Origin.DEFAULT, note));
    }

    /** Adds a fault of a key's value; the message names the remedy. */
    final void problem(final ConfigKey<?> key, final String message) {
        final Setting setting = settings.get(key);
        problems.add(setting.origin(), key.path(), setting.text(), message);
    }
}
