package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.receiver.ReceiverCounter;
import io.flowlag.rli.receiver.ReceiverSettings;
import io.flowlag.rli.receiver.RliReceiver;
import io.flowlag.rli.receiver.SendTimes;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PassiveStageTest {
    private static final int ALL_PPM = 1_000_000;
    private static final long MS_NS = 1_000_000;
    private static final long DIGEST = 0x0102_0304_0506_0708L;

    private final UnsafeBuffer packet = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private final RliReceiver receiver =
        new RliReceiver(ReceiverSettings.defaults().withSendTimes(SendTimes.STAMP), (samples) -> 0);

    private PassiveStage stage(final long shippingNs) {
        return new PassiveStage(receiver, 1, ALL_PPM, 100 * MS_NS, shippingNs, 0, new FlowSamples(
            new FlowCache(FlowCacheSettings.of(1), (buffer, offset, lengthBytes) -> {
            }, new Counters()), null, new SipHash(0, 0), false), new ClockDifference(DelayWiring.NONE, 1, 1));
    }

    private void receive(final PassiveStage stage, final long digest, final long arrivalNs) {
        PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST);
        PacketDescriptor.digest(packet, 0, digest);
        PacketDescriptor.timestampNs(packet, 0, arrivalNs);
        stage.onReceived(packet, 0, 0, 0);
    }

    /** A receiver that lags behind leaves send times in the queue until its packets have come as far. */
    @Test
    void shouldTakeNoMoreSendTimesThanHalfOfItsRoomUntilTimeHasPassed() {
        final PassiveStage stage = stage(MS_NS);
        long sent = 0;
        while (stage.hasRoom(0)) {
            stage.onSendTime(0, sent, sent * MS_NS, sent * MS_NS);
            sent++;
        }
        assertEquals(64 * 1024, sent);
        stage.onTime(102 * MS_NS);
        assertTrue(stage.hasRoom(0));
        assertEquals(1, count(stage, "passive_unarrived"));
        assertEquals(0, count(stage, "passive_forgotten"));
    }

    private static long count(final PassiveStage stage, final String label) {
        final Map<String, Long> counters = new HashMap<>();
        stage.counters(counters::put);
        return counters.get(label);
    }

    /** A sender of the previous version ships whole digests. */
    @Test
    void shouldKnowShippedPacketsByTheLastBitsOfTheirDigests() {
        final PassiveStage stage = stage(1000 * MS_NS);
        receive(stage, DIGEST, 20 * MS_NS);
        stage.onSendTime(0, DIGEST & ReceiverLink.SHIPPED_DIGEST_MASK, 10 * MS_NS, 10 * MS_NS);
        receive(stage, DIGEST + 1, 21 * MS_NS);
        stage.onSendTime(0, DIGEST + 1, 11 * MS_NS, 11 * MS_NS);
        assertEquals(2, count(stage, "passive_matched"));
        receive(stage, DIGEST + 2, 22 * MS_NS);
        receive(stage, DIGEST + 2 + ReceiverLink.SHIPPED_DIGEST_MASK + 1, 23 * MS_NS);
        stage.onSendTime(0, DIGEST + 2, 12 * MS_NS, 12 * MS_NS);
        assertEquals(2, count(stage, "passive_matched"));
        assertEquals(3, count(stage, "passive_refused"), "nobody knows which of the two it was");
    }

    @Test
    void shouldKnowPacketsOfOneProcessByWholeDigests() {
        final PassiveStage stage = stage(0);
        receive(stage, DIGEST, 20 * MS_NS);
        receive(stage, DIGEST + ReceiverLink.SHIPPED_DIGEST_MASK + 1, 21 * MS_NS);
        stage.onSendTime(0, DIGEST, 10 * MS_NS, 10 * MS_NS);
        assertEquals(1, count(stage, "passive_matched"));
        assertEquals(0, count(stage, "passive_refused"));
    }

    /** A packet that was overtaken has the longer delay, which counts; one known out of the order of arrival is left out. */
    @Test
    void shouldUsePacketsThatWereOvertaken() {
        final PassiveStage stage = stage(0);
        stage.onSendTime(0, DIGEST, 10 * MS_NS, 10 * MS_NS);
        stage.onSendTime(0, DIGEST + 1, 14 * MS_NS, 14 * MS_NS);
        receive(stage, DIGEST + 1, 15 * MS_NS);
        receive(stage, DIGEST, 16 * MS_NS);
        assertEquals(0, count(stage, "passive_reordered"));
        assertEquals(2, receiver.counter(ReceiverCounter.REFERENCES_SETTLED));
        receive(stage, DIGEST + 3, 18 * MS_NS);
        receive(stage, DIGEST + 2, 19 * MS_NS);
        stage.onSendTime(0, DIGEST + 2, 16 * MS_NS, 16 * MS_NS);
        assertEquals(2, receiver.counter(ReceiverCounter.REFERENCES_SETTLED), "an earlier arrival may still get its send time");
        stage.onSendTime(0, DIGEST + 3, 17 * MS_NS, 17 * MS_NS);
        assertEquals(0, count(stage, "passive_reordered"));
        assertEquals(4, receiver.counter(ReceiverCounter.REFERENCES_SETTLED));
        receive(stage, DIGEST + 4, 20 * MS_NS);
        receive(stage, DIGEST + 5, 21 * MS_NS);
        stage.onSendTime(0, DIGEST + 6, 30 * MS_NS, 30 * MS_NS);
        stage.onSendTime(0, DIGEST + 5, 31 * MS_NS, 31 * MS_NS);
        stage.onSendTime(0, DIGEST + 4, 32 * MS_NS, 32 * MS_NS);
        assertEquals(1, count(stage, "passive_reordered"));
        assertEquals(5, receiver.counter(ReceiverCounter.REFERENCES_SETTLED));
    }

    /** A packet whose send time the sender omits for its ceiling waits until it expires. */
    @Test
    void shouldForgetPacketsWhoseSendTimesAreLeftOut() {
        final PassiveStage stage = stage(1000 * MS_NS);
        for (int i = 0; i < 10; i++) {
            receive(stage, DIGEST + i, 20 * MS_NS + i);
        }
        stage.onSendTime(0, DIGEST + 5, 10 * MS_NS, 10 * MS_NS);
        stage.onTime(5000 * MS_NS);
        assertEquals(1, count(stage, "passive_matched"));
        assertEquals(9, count(stage, "passive_unsent"));
        assertEquals(0, count(stage, "passive_forgotten") + count(stage, "passive_refused"));
    }
}
