package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.ClockSource;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.reference.ClockState;

/** What the section {@code clock} of the configuration says of the two points' clocks. Has no state. */
public final class SegmentClock {
    private SegmentClock() {
    }

    /** Reads the state that the section names, once. Returns the state; its owner refreshes it. */
    public static ClockState state(final ExporterConfig.Clock clock) {
        return switch (clock.source()) {
            case ADJTIMEX -> ClockState.adjtimex();
            case FILE -> ClockState.file(clock.file(), System::currentTimeMillis);
            case FIXED -> ClockState.fixed(clock.errorNs());
        };
    }

    /**
     * The state for captures, whose clocks this host knows nothing of unless somebody says so. Returns the state, or null where
     * the section was left as it is.
     */
    public static ClockState stateOfCaptures(final ExporterConfig config) {
        final boolean isSaid =
            !config.isDefault(ConfigTable.CLOCK_SOURCE) || config.clock().source() == ClockSource.FIXED;
        return isSaid ? state(config.clock()) : null;
    }

    /**
     * A state as records tell of it.
     *
     * @param state or null for unknown.
     * @return the error, as of the state's last refresh.
     */
    public static ClockError error(final ClockState state) {
        if (state == null) {
            return ClockError.fixed(ClockState.UNKNOWN_NS);
        }
        return new ClockError() {
            @Override
            public long errorNs() {
                return state.reading().boundNs();
            }

            @Override
            public boolean isSynchronized() {
                return state.reading().isSynchronized();
            }
        };
    }
}
