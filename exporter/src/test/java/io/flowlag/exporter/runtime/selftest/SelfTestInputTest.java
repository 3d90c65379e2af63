package io.flowlag.exporter.runtime.selftest;

import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.runtime.WrappedSource;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SelfTestInputTest {
    private static final long CLAMPED = 6;
    private static final long KERNEL_STAMPED = 7;

    @Test
    void shouldTellWhatTheInputTellsOfItsTimestamps() {
        final SelfTestInput input = new SelfTestInput(new WrappedSource(new GeneratedTraffic(TrafficProfile.demo())) {
            @Override
            public long timestampClampedCount() {
                return CLAMPED;
            }

            @Override
            public long kernelStampedCount() {
                return KERNEL_STAMPED;
            }
        });
        try (PacketSource sender = input.sender()) {
            assertEquals(CLAMPED, sender.timestampClampedCount());
            assertEquals(KERNEL_STAMPED, sender.kernelStampedCount());
        }
    }
}
