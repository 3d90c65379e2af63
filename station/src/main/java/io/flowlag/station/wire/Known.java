package io.flowlag.station.wire;

import io.flowlag.network.window.WindowDelay;
import io.flowlag.station.schema.SegmentWindow;

import java.util.function.DoubleConsumer;

/** Sets what is known: the rest is NaN or infinite in memory, and absent in messages. */
public final class Known {
    private Known() {
    }

    /** Sets a number. */
    public static void set(final double value, final DoubleConsumer setter) {
        if (Double.isFinite(value)) {
            setter.accept(value);
        }
    }

    /** Sets the delays of a window, from one or more packets. */
    public static void set(final WindowDelay delay, final SegmentWindow.Builder window) {
        set(delay.meanNs(), window::setMeanNs);
        set(delay.deviationNs(), window::setDeviationNs);
        set(delay.boundNs(), window::setBoundNs);
        set(delay.clockBoundNs(), window::setClockBoundNs);
        if (delay.minimumNs() <= delay.maximumNs()) {
            window.setMinimumNs(delay.minimumNs()).setMaximumNs(delay.maximumNs());
        }
    }
}
