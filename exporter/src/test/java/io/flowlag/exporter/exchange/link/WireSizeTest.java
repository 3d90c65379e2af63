package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangePrice;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.ModeChoice;
import io.flowlag.exporter.exchange.wire.ModeChoiceTest;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import static io.flowlag.exporter.exchange.link.ExchangeFixture.SECOND_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The compact encoding earns its place; docs/exchange.md has the figures of larger sketches. */
class WireSizeTest {
    private static final int FLOWS = 20_000;
    private static final int PACKETS = 100_000;

    static LossyDifferenceSketch filled(final SketchGeometry geometry, final int flows, final int packets) {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, ExchangeFixture.SEED);
        sketch.begin(1, SECOND_NS);
        final SplittableRandom random = new SplittableRandom(1);
        final double[] upTo = new double[flows];
        double sum = 0;
        for (int flow = 0; flow < flows; flow++) {
            sum += Math.min(Math.pow(random.nextDouble(), -1 / 0.8), 1e5);
            upTo[flow] = sum;
        }
        final long[] hashes = random.longs(flows).toArray();
        for (int packet = 0; packet < packets; packet++) {
            final int found = Arrays.binarySearch(upTo, random.nextDouble() * sum);
            final int flow = Math.min(flows - 1, found < 0 ? -found - 1 : found);
            sketch.update(hashes[flow], random.nextLong(), random.nextLong(SECOND_NS), 40 + random.nextInt(1460), 1);
        }
        return sketch;
    }

    private static ExchangeCounters encode(final LossyDifferenceSketch sketch) {
        final ExchangeCounters counters = new ExchangeCounters();
        final HeldSettings held = new HeldSettings(1, ExchangeFixture.settings(1, 0));
        final EncodedInterval interval = new IntervalEncoder(SystemNanoClock.INSTANCE, counters)
            .begin(1, held, PointDrops.NONE).sketch(sketch.image()).end();
        assertTrue(interval.lengthBytes() > counters.get(ExchangeCounter.CELL_OCTETS));
        assertEquals(sketch.image().length(), counters.get(ExchangeCounter.IMAGE_OCTETS));
        return counters;
    }

    @Test
    void shouldCostAtMostThePriceThatIsStated() {
        final SketchGeometry geometry = SketchGeometry.lds(4, 1000, 1);
        final HeldSettings held = new HeldSettings(1, ExchangeFixture.settings(1, 0));
        final IntervalEncoder encoder = new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters());
        final int flowCount = 2000;
        final UnsafeBuffer flows = new UnsafeBuffer(new byte[flowCount * FlowSum.LENGTH_BYTES]);
        final EncodedInterval cells =
            encoder.begin(1, held, PointDrops.NONE).sketch(filled(geometry, 1000, 10_000).image()).end();
        assertTrue(sealedBytes(cells) < ExchangePrice.cellsBytes(List.of(new SketchPart(ExchangeSettings.ANY, geometry))));
        final EncodedInterval sums = encoder.begin(1, held, PointDrops.NONE).list(MessageType.FLOW_SUMS, flows, flowCount).end();
        assertEquals(ExchangePrice.flowsBytes(flowCount), sealedBytes(sums));
    }

    @Test
    void shouldSayHowManyFlowsFitABandwidth() {
        for (long bandwidthBps = 10_000; bandwidthBps < 1_000_000_000L; bandwidthBps *= 3) {
            final int flows = ExchangePrice.flowsThatFit(SECOND_NS, bandwidthBps);
            assertTrue(8 * ExchangePrice.flowsBytes(flows) <= bandwidthBps, flows + " flows at " + bandwidthBps);
            assertTrue(8 * ExchangePrice.flowsBytes(flows + 3) > bandwidthBps, flows + 3 + " flows at " + bandwidthBps);
            final ModeChoice choice = ModeChoiceTest.auto(flows);
            assertTrue(choice.isFlows(flows, true));
            assertFalse(choice.isFlows(flows + 1, true));
        }
        assertEquals(1, ExchangePrice.flowsThatFit(SECOND_NS, 0));
        assertEquals(Integer.MAX_VALUE, ExchangePrice.flowsThatFit(SECOND_NS, Long.MAX_VALUE));
        assertEquals(0, ExchangePrice.witnessBytes(0));
        assertEquals(ExchangePrice.flowsBytes(1_000) - ExchangePrice.flowsBytes(0), ExchangePrice.witnessBytes(1_000));
    }

    /** What the interval takes when each message has its trailer. */
    private static long sealedBytes(final EncodedInterval interval) {
        long bytes = 0;
        int messageBytes;
        for (int offset = 0; offset < interval.lengthBytes(); offset += messageBytes) {
            messageBytes = ExchangeHeader.lengthBytes(interval.messages(), offset);
            bytes += messageBytes + ExchangeHeader.TRAILER_BYTES;
        }
        return bytes;
    }

    @Test
    void shouldSaveAThirdOnABusySketchAndMoreOnAnEmptyOne() {
        final ExchangeCounters busy = encode(filled(SketchGeometry.lds(4, 10_000, 1), FLOWS, PACKETS));
        final long imageBytes = busy.get(ExchangeCounter.IMAGE_OCTETS);
        assertTrue(busy.get(ExchangeCounter.CELL_OCTETS) < 0.67 * imageBytes, busy.get(ExchangeCounter.CELL_OCTETS) + " octets");
        final ExchangeCounters idle = encode(filled(SketchGeometry.lds(4, 10_000, 1), 10, 100));
        assertTrue(idle.get(ExchangeCounter.CELL_OCTETS) < 0.01 * imageBytes, idle.get(ExchangeCounter.CELL_OCTETS) + " octets");
    }
}
