package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.ClockSource;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.reference.ClockState;

/** The clock states of the configuration's section {@code clock}. Stateless. */
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
     * The clock state for captures, whose clocks are unknown to this host unless configured. Returns the state, or null if the
     * section has its defaults.
     */
    public static ClockState stateOfCaptures(final ExporterConfig config) {
        return config.clock().source() == ClockSource.ADJTIMEX ? null : state(config.clock());
    }

    /** The error of a state for records, as of its last refresh; unknown without a state. */
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
