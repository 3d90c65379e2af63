package io.flowlag.exporter.process;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SelfTestInputTest {
    private static final long CLAMPED_COUNT = 3;

    @Test
    void shouldPassOnHowManyTimestampsWereClamped() {
        final PacketSource source = new PacketSource() {
            @Override
            public int poll(final PacketHandler handler, final int packetLimit) {
                return END_OF_SOURCE;
            }

            @Override
            public String name() {
                return "source";
            }

            @Override
            public long capturedCount() {
                return CLAMPED_COUNT;
            }

            @Override
            public long timestampClampedCount() {
                return CLAMPED_COUNT;
            }
        };
        final SelfTestInput input = new SelfTestInput(source);
        assertEquals(CLAMPED_COUNT, input.sender().timestampClampedCount());
        assertEquals(0, input.receiver().timestampClampedCount(), "a packet counts once");
    }
}
